/** Steps of up to this are time synchronisation, not a new time. */
const SMALL_STEP = 5 * 60 * 1000

/** For how long a time that has just leapt is not trusted with anything that cannot be undone. */
const PROBATION = 3 * 60 * 1000

/** Where the time comes from, in milliseconds. */
export interface Clocks {
  /** Since 1970; somebody may set it. */
  wall: () => number
  /** Since any moment; nobody can set it. */
  steady: () => number
}

/**
 * The time, which does not run backwards over a small step: it stands still until the system's
 * clock has caught up, so that nothing that has expired comes back. A large jump is followed.
 */
export class Clock {
  readonly #clocks: Clocks
  #latest = -Infinity
  #drift: number
  #leaptAt = -Infinity

  constructor(clocks: Clocks) {
    this.#clocks = clocks
    this.#drift = clocks.wall() - clocks.steady()
  }

  now(): number {
    const system = this.#clocks.wall()
    this.#watch(system)
    if (!(system < this.#latest && this.#latest - system <= SMALL_STEP)) this.#latest = system
    return this.#latest
  }

  /** How long the time stands still, because the system's clock has stepped back and has to catch up. */
  get lag(): number {
    return this.now() - this.#clocks.wall()
  }

  /** How many milliseconds it takes until nothing is to be feared from the last leap. */
  get probation(): number {
    this.now()
    return Math.max(0, this.#leaptAt + PROBATION - this.#clocks.steady())
  }

  /** Takes note of a time that has been seen, here or in another tab; false when the clock has leapt back since. */
  heed(seen: number): boolean {
    if (seen - this.#clocks.wall() > SMALL_STEP) {
      this.#leaptAt = this.#clocks.steady()
      return false
    }
    if (seen > this.now()) this.#latest = seen
    return true
  }

  /** The wall's clock has leapt when it and the steady one have not come as far. */
  #watch(system: number): void {
    const drift = system - this.#clocks.steady()
    if (Math.abs(drift - this.#drift) > SMALL_STEP) this.#leaptAt = this.#clocks.steady()
    this.#drift = drift
  }
}
