/**
 * Does the work. It is stopped by the signal when nobody waits for it any more, and counts as under way until
 * everything that it holds up has settled too: who asks meanwhile, and before that moment, gets its result.
 */
export type Work<T> = (signal: AbortSignal, hold: (work: Promise<unknown>, until: number) => void) => Promise<T>

/** Work that is done once for everybody who asks for it meanwhile. */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>()

  /**
   * Joins the work of that name, or starts it; also where that which is under way does not count any more. The signal
   * ends the waiting of this one caller only.
   */
  join(name: string, work: Work<T>, counts: () => boolean, signal?: AbortSignal | null): Promise<T> {
    const flight = this.#flights.get(name)
    return (flight?.isOpen ? flight : this.#start(name, work, counts)).board(signal)
  }

  #start(name: string, work: Work<T>, counts: () => boolean): Flight<T> {
    const remove = () => {
      if (this.#flights.get(name) === flight) this.#flights.delete(name)
    }
    const flight = new Flight(work, counts, remove)
    this.#flights.set(name, flight)
    void flight.over.then(remove)
    return flight
  }
}

class Flight<T> {
  readonly #result: Promise<T>
  readonly #abandoned = new AbortController()
  readonly #counts: () => boolean
  readonly #remove: () => void
  #aboard = 0
  /** Until when its result is good enough for who comes now. */
  #until = Infinity
  /** Resolves when nothing of it is under way any more. */
  readonly over: Promise<unknown>

  constructor(work: Work<T>, counts: () => boolean, remove: () => void) {
    let held: Promise<unknown> | undefined
    this.#counts = counts
    this.#remove = remove
    this.#result = work(this.#abandoned.signal, (other, until) => {
      held = other
      this.#until = until
    })
    this.over = this.#result.then(
      () => held,
      () => undefined,
    )
  }

  get isOpen(): boolean {
    return this.#counts() && Date.now() < this.#until
  }

  board(signal?: AbortSignal | null): Promise<T> {
    this.#aboard++
    if (!signal) return this.#result
    const leave = () => {
      if (--this.#aboard > 0) return
      this.#remove()
      this.#abandoned.abort(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    void this.over.then(() => signal.removeEventListener('abort', leave))
    return abortable(this.#result, signal)
  }
}

/** The promise, or a rejection with the signal's reason if that comes first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const settled = () => signal.removeEventListener('abort', abort)
    promise.then(resolve, reject).finally(settled)
  })
}
