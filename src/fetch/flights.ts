/**
 * Does the work. It is stopped by the signal when nobody waits for it any more, and counts as under
 * way until everything that it holds up has settled too.
 */
export type Work<T> = (signal: AbortSignal, hold: (work: Promise<unknown>) => void) => Promise<T>

/** Work that is done once for everybody who asks for it meanwhile. */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>()

  /** Joins the work of that name, or starts it. The signal ends the waiting of this one caller only. */
  join(name: string, work: Work<T>, signal?: AbortSignal | null): Promise<T> {
    return (this.#flights.get(name) ?? this.#start(name, work)).board(signal)
  }

  /** Whoever asks from now on starts the work anew. Those who wait get what they wait for. */
  forget(isMeant: (name: string) => boolean = () => true): void {
    for (const name of this.#flights.keys()) if (isMeant(name)) this.#flights.delete(name)
  }

  #start(name: string, work: Work<T>): Flight<T> {
    const remove = () => {
      if (this.#flights.get(name) === flight) this.#flights.delete(name)
    }
    const flight = new Flight(work, remove)
    this.#flights.set(name, flight)
    void flight.over.then(remove)
    return flight
  }
}

class Flight<T> {
  readonly #result: Promise<T>
  readonly #abandoned = new AbortController()
  readonly #remove: () => void
  #aboard = 0
  /** Resolves when nothing of it is under way any more. */
  readonly over: Promise<void>

  constructor(work: Work<T>, remove: () => void) {
    const held: Promise<unknown>[] = []
    this.#remove = remove
    this.#result = work(this.#abandoned.signal, (other) => held.push(other))
    this.over = this.#result.then(
      () => Promise.allSettled(held).then(() => undefined),
      () => undefined,
    )
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
