import type { Horizon, Listen, Operation, SweepSlice, Tidied } from '../protocol.js'
import type { Clock, Clocks } from './clock.js'
import type { Pace } from './pace.js'

/** How long a collection is left in peace after its deletion has failed, at first and at most. */
const RETRY = 1000
const RETRY_AT_MOST = 60_000

/** What somebody may yet want to hear of is left in peace for so many milliseconds after the opening. */
const GRACE = 5000

/** The page may come this many milliseconds later than it was told. */
const LATE = 1000

export interface SweeperTools {
  clock: Clock
  clocks: Clocks
  pace: Pace
  perform: (operation: Operation) => Promise<unknown>
  listen: Listen
}

/** Deletes what has expired, a slice at a time, and knows when there will be more to do. */
export class Sweeper {
  readonly #tools: SweeperTools
  readonly #collections: string[]
  /** When each collection has to be looked at, the one that waits longest first. Nothing is known at first. */
  readonly #due: Map<string, number>
  /** Where the last slice of a collection began. */
  readonly #reached = new Map<string, Horizon>()
  /** The collections of which everything has been looked at, from the very beginning up to there. */
  readonly #whole = new Set<string>()
  /** The collection whose turn it is, with the earliest expiry that was noted since: the slice may not have seen it. */
  #turning = { name: '', due: Infinity }
  readonly #failures = new Map<string, number>()
  /** Until when collections are left in peace. */
  readonly #spared = new Map<string, number>()
  /** The moment at which the page will come again by itself; until it has come once, it may be one that never does. */
  #expected = -Infinity

  constructor(collections: string[], tools: SweeperTools) {
    this.#tools = tools
    this.#collections = collections
    this.#due = new Map(collections.map((name) => [name, -Infinity]))
  }

  /** Leaves a collection in peace for a while. */
  spare(collection: string): void {
    if (!this.#due.has(collection)) return
    const until = this.#tools.clock.now() + GRACE
    this.#spared.set(collection, until)
    this.#due.set(collection, until)
  }

  /** Takes note that something in a collection expires at this moment. */
  note(collection: string, expiry: number): void {
    const known = this.#due.get(collection)
    if (known === undefined) return
    const at = Math.max(expiry, this.#spared.get(collection) ?? -Infinity)
    const isNews = at < known
    if (isNews) this.#due.set(collection, at)
    if (collection === this.#turning.name) this.#turning.due = Math.min(this.#turning.due, at)
    const now = this.#tools.clock.now()
    // Whatever is written now expires after all that has been deleted, unless a clock or a setting was changed.
    if (at <= now) this.#reached.delete(collection)
    if (isNews && at < this.#expected) this.#call(at)
  }

  /** Takes note that something in a collection has expired, of which this tab need not have heard. */
  meet(collection: string): void {
    const now = this.#tools.clock.now()
    if (this.#due.get(collection)! > now && !this.#failures.has(collection)) this.note(collection, now)
  }

  /** A page that should have come long ago has a timer that slept while the machine did. */
  remind(): void {
    const now = this.#tools.clock.now()
    if (this.#expected > -Infinity && this.#expected < now - LATE) this.#call(now)
  }

  /** Nothing is known any more. */
  forget(): void {
    for (const name of this.#collections) this.#due.set(name, -Infinity)
    this.#reached.clear()
  }

  get isDue(): boolean {
    return this.#next() !== undefined
  }

  /** Deletes for at most so long, taking the collections in turn. */
  async tidy(budget: number): Promise<Tidied> {
    const { clock, clocks } = this.#tools
    const end = clocks.steady() + budget
    let deleted = 0
    while (clocks.steady() < end) {
      const name = this.#next()
      // On a clock that has just leapt nothing is done that cannot be undone.
      if (name === undefined || clock.probation > 0) break
      deleted += await this.#turn(name)
    }
    return this.report(deleted)
  }

  /** Deletes all that has expired; how many that were. */
  async sweep(): Promise<number> {
    let deleted = 0
    for (const name of this.#collections) {
      let from: Horizon | undefined
      for (let more = true; more;) {
        const slice = await this.#slice(name, from, true)
        deleted += slice.deleted
        from = slice.reached
        more = slice.more
      }
    }
    return deleted
  }

  /** What to tell the page: when it should come again, after so many milliseconds at the earliest. */
  report(deleted: number, atLeast = 0): Tidied {
    const { clock } = this.#tools
    const soonest = Math.min(...this.#due.values())
    if (soonest === Infinity) {
      this.#expected = Infinity
      return { deleted, wait: null }
    }
    const wait = Math.max(atLeast, clock.probation, this.#until(soonest))
    this.#expected = Math.max(soonest, clock.now() + Math.max(atLeast, clock.probation))
    return { deleted, wait }
  }

  async #turn(name: string): Promise<number> {
    // To the end of the line, so that every collection has its turn.
    this.#due.delete(name)
    this.#due.set(name, -Infinity)
    const turn = { name, due: Infinity }
    this.#turning = turn
    try {
      const from = this.#start(name)
      if (!from) this.#whole.add(name)
      const { deleted, more, reached, next } = await this.#slice(name, from, this.#whole.has(name))
      if (!more) this.#whole.delete(name)
      this.#failures.delete(name)
      this.#reached.set(name, reached)
      this.#due.set(name, more ? -Infinity : Math.min(next ?? Infinity, turn.due))
      return deleted
    } catch {
      const failures = (this.#failures.get(name) ?? 0) + 1
      this.#failures.set(name, failures)
      this.#due.set(name, this.#tools.clock.now() + Math.min(RETRY_AT_MOST, RETRY * 2 ** (failures - 1)))
      return 0
    }
  }

  #slice(collection: string, from: Horizon | undefined, isWhole: boolean): Promise<SweepSlice> {
    const { pace, perform } = this.#tools
    return pace.slice((limit) => perform({ verb: 'sweep', collection, limit, from, isWhole }) as Promise<SweepSlice>)
  }

  /** Where the next slice begins; undefined: at the very beginning, also when the clock has leapt back since. */
  #start(name: string): Horizon | undefined {
    const reached = this.#reached.get(name)
    if (!reached || Math.max(reached.expiresAt, reached.inheritsFrom) > this.#tools.clock.now()) return undefined
    return reached
  }

  #call(at: number): void {
    this.#expected = at
    this.#tools.listen({ due: this.#until(at) })
  }

  /** How many milliseconds it takes until a moment comes, also for a clock that has to catch up first. */
  #until(at: number): number {
    const { clock } = this.#tools
    const now = clock.now()
    return at <= now ? 0 : at - now + clock.lag
  }

  #next(): string | undefined {
    const now = this.#tools.clock.now()
    for (const [name, at] of this.#due) if (at <= now) return name
    return undefined
  }
}
