/** The longest that `setTimeout` can wait: about 24.8 days. */
const LONGEST = 2 ** 31 - 1

/** Rings once, at the earliest time that it was set to. */
export class Alarm {
  readonly #ring: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #at = Infinity

  constructor(ring: () => void) {
    this.#ring = ring
  }

  /** Rings in so many milliseconds, or earlier if it was to. */
  set(wait: number): void {
    const at = performance.now() + wait
    if (at >= this.#at) return
    this.#at = at
    this.#wait()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#at = Infinity
  }

  #wait(): void {
    clearTimeout(this.#timer)
    const left = Math.max(0, this.#at - performance.now())
    if (left > LONGEST) this.#timer = setTimeout(() => this.#wait(), LONGEST)
    else {
      this.#timer = setTimeout(() => {
        this.#at = Infinity
        this.#ring()
      }, left)
    }
  }
}
