import type { Listen, SweepSlice, Tidied } from '../protocol.js'
import type { Clock, Clocks } from './clock.js'
import type { Pace } from './pace.js'

/** How long a collection is left in peace after its deletion has failed, at first and at most. */
const RETRY = 1000
const RETRY_AT_MOST = 60_000

/** The page may come this many milliseconds later than it was told. */
const LATE = 1000

export interface SweeperTools {
  clock: Clock
  clocks: Clocks
  pace: Pace
  slice: (collection: string, limit: number, ahead?: boolean) => Promise<SweepSlice>
  listen: Listen
}

/** Deletes what has expired, a slice at a time, and knows when there will be more to do. */
export class Sweeper {
  readonly #tools: SweeperTools
  /** When each collection has to be looked at, the one that waits longest first. Nothing is known at first. */
  readonly #due: Map<string, number>
  readonly #collections: string[]
  readonly #failures = new Map<string, number>()
  /** The moment at which the page will come again by itself. */
  #expected = -Infinity

  constructor(collections: string[], tools: SweeperTools) {
    this.#tools = tools
    this.#collections = collections
    this.#due = new Map(collections.map((name) => [name, -Infinity]))
  }

  /** Something in a collection expires at this moment; true when nothing so early was known. */
  note(collection: string, at: number): boolean {
    const known = this.#due.get(collection)
    if (known === undefined) return false
    const isNews = at < known
    if (isNews) this.#due.set(collection, at)
    const now = this.#tools.clock.now()
    if (isNews && at < this.#expected) this.#call(at, now)
    // A page that should have come long ago has a timer that slept while the machine did.
    else if (this.#expected < now - LATE) this.#call(now, now)
    return isNews
  }

  get isDue(): boolean {
    return this.#next() !== undefined
  }

  /** Deletes for at most so long. */
  async tidy(budget: number): Promise<Tidied> {
    const { clock, clocks, pace } = this.#tools
    const end = clocks.steady() + budget
    let deleted = 0
    while (clocks.steady() < end) {
      await pace.turn()
      const name = this.#next()
      // On a clock that has just leapt nothing is done that cannot be undone.
      if (name === undefined || clock.probation > 0) break
      deleted += await this.#sweep(name)
    }
    return this.report(deleted)
  }

  /** Deletes all that has expired; how many that were. */
  async sweep(): Promise<number> {
    const { clocks, pace, slice } = this.#tools
    let total = 0
    for (const name of this.#collections) {
      for (let isDone = false; !isDone;) {
        await pace.turn()
        const started = clocks.steady()
        const { deleted, more } = await slice(name, pace.size)
        pace.took(deleted, clocks.steady() - started)
        total += deleted
        isDone = !more
      }
    }
    return total
  }

  /** What to tell the page, and when it should come again at the latest. */
  report(deleted: number, atLeast = 0): Tidied {
    const { clock } = this.#tools
    const soonest = Math.min(...this.#due.values())
    if (soonest === Infinity) {
      this.#expected = Infinity
      return { deleted, wait: null }
    }
    const wait = Math.max(atLeast, clock.probation, soonest - clock.now(), 0)
    this.#expected = clock.now() + wait
    return { deleted, wait }
  }

  async #sweep(name: string): Promise<number> {
    const { clock, clocks, pace, slice } = this.#tools
    const started = clocks.steady()
    // To the end of the line, so that every collection has its turn.
    this.#due.delete(name)
    this.#due.set(name, -Infinity)
    try {
      const { deleted, more, next } = await slice(name, pace.size, true)
      this.#failures.delete(name)
      this.#due.set(name, more ? -Infinity : (next ?? Infinity))
      pace.took(deleted, clocks.steady() - started)
      return deleted
    } catch {
      const failures = (this.#failures.get(name) ?? 0) + 1
      this.#failures.set(name, failures)
      this.#due.set(name, clock.now() + Math.min(RETRY_AT_MOST, RETRY * 2 ** (failures - 1)))
      return 0
    }
  }

  #call(at: number, now: number): void {
    this.#expected = at
    this.#tools.listen({ due: Math.max(0, at - now) })
  }

  #next(): string | undefined {
    const now = this.#tools.clock.now()
    for (const [name, at] of this.#due) if (at <= now) return name
    return undefined
  }
}
