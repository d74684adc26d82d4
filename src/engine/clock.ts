/** Steps back of up to this are time synchronisation, not a new time. */
const SMALL_STEP = 5 * 60 * 1000

/**
 * The time, which does not run backwards over a small step: it stands still until the system's
 * clock has caught up, so that nothing that has expired comes back. A large jump is followed.
 */
export class Clock {
  readonly #system: () => number
  #latest = -Infinity

  constructor(system: () => number) {
    this.#system = system
  }

  now(): number {
    const system = this.#system()
    if (!(system < this.#latest && this.#latest - system <= SMALL_STEP)) this.#latest = system
    return this.#latest
  }

  /** Whether the time stands still, because the system's clock has stepped back. */
  get standsStill(): boolean {
    return this.now() > this.#system()
  }

  /** Takes note of a time that has been seen, here or in another tab; false when the clock has leapt back since. */
  heed(seen: number): boolean {
    if (seen - this.#system() > SMALL_STEP) return false
    if (seen > this.now()) this.#latest = seen
    return true
  }
}
