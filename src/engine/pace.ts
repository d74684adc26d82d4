import { nextTask } from './task.js'

/** After a request, the next one is expected within this. All times are in milliseconds. */
const LULL = 25

/** How long a slice of deletion may take while requests are about, and when nobody is asking. */
const SHORT = 2
const LONG = 15

/** How long it rests after a slice while requests are about, in slices. */
const REST = 1.2

const FEWEST = 4
const MOST = 1000

/** Decides when a slice of deletion may run, and how large it is: requests go first. */
export class Pace {
  readonly #steady: () => number
  #requests = 0
  #lastRequest = -Infinity
  #notBefore = -Infinity
  /** What one deletion costs, as far as is known. */
  #each = 0.25
  #waiters: (() => void)[] = []

  constructor(steady: () => number) {
    this.#steady = steady
  }

  asked(): void {
    this.#requests++
  }

  answered(): void {
    this.#lastRequest = this.#steady()
    if (--this.#requests > 0) return
    const waiters = this.#waiters
    this.#waiters = []
    for (const go of waiters) go()
  }

  /** The size of the next slice. */
  get size(): number {
    const span = this.#isBusy ? SHORT : LONG
    return Math.min(MOST, Math.max(FEWEST, Math.floor(span / this.#each)))
  }

  /** Waits for a good moment: the best is right after an answer, when the next request is farthest away. */
  async turn(): Promise<void> {
    while (this.#requests > 0 || (this.#isBusy && this.#steady() < this.#notBefore)) {
      await (this.#requests > 0 ? this.#answer() : this.#answerOr(LULL))
      await nextTask()
    }
  }

  /** Takes note of how long a slice took. */
  took(deleted: number, time: number): void {
    this.#notBefore = this.#steady() + time * REST
    if (deleted >= FEWEST) this.#each = this.#each * 0.7 + (time / deleted) * 0.3
  }

  get #isBusy(): boolean {
    return this.#requests > 0 || this.#steady() - this.#lastRequest < LULL
  }

  #answer(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  #answerOr(time: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, time)
      this.#waiters.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
