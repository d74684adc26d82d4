import { nextTask } from './task.js'

/** After a request, the next one is expected within this. All times are in milliseconds. */
const LULL = 25

/** Requests that come closer upon each other than this leave no room between them. */
const DENSE = 4

/** How long it rests after a slice while they do, in slices. */
const REST = 3

/** A slice that takes this long between requests is slow. */
const SLOW = 8

/** The longest wait for a good moment. */
const AT_MOST = 50

/** How large a slice of deletion is: it grows while slices take less than they may, and shrinks when they take more. */
class Size {
  readonly #time: number
  readonly #least: number
  readonly #most: number
  readonly #growth: number
  now: number

  constructor(time: number, least: number, most: number, first: number, growth: number) {
    this.#time = time
    this.#least = least
    this.#most = most
    this.now = first
    this.#growth = growth
  }

  took(time: number): void {
    const factor = time < this.#time ? this.#growth : time > 1.5 * this.#time ? 0.75 : 1
    this.now = Math.min(this.#most, Math.max(this.#least, Math.ceil(this.now * factor)))
  }
}

/** Decides when a slice of deletion may run, and how large it is: requests go first. */
export class Pace {
  readonly #steady: () => number
  /** While requests are about, and when nobody is asking. */
  readonly #sizes = { busy: new Size(2.8, 32, 128, 32, 1.15), free: new Size(80, 250, 2000, 500, 2) }
  #requests = 0
  #lastRequest = -Infinity
  #lastAnswer = -Infinity
  /** How far apart requests come, as of late. */
  #gap = LULL
  #notBefore = -Infinity
  /** Whether there has been no slice since the last answer. */
  #isFresh = true
  #waiters: (() => void)[] = []

  constructor(steady: () => number) {
    this.#steady = steady
  }

  asked(): void {
    const now = this.#steady()
    this.#gap = this.#gap * 0.8 + Math.min(LULL, now - this.#lastRequest) * 0.2
    this.#lastRequest = now
    this.#requests++
  }

  answered(): void {
    this.#lastAnswer = this.#steady()
    this.#isFresh = true
    if (--this.#requests > 0) return
    const waiters = this.#waiters
    this.#waiters = []
    for (const go of waiters) go()
  }

  /** Runs a slice of so many documents when the moment is good, and learns from how long it takes. */
  async slice<T>(work: (size: number) => Promise<T>): Promise<T> {
    await this.#turn()
    const size = this.#isBusy ? this.#sizes.busy : this.#sizes.free
    const started = this.#steady()
    const result = await work(size.now)
    const took = this.#steady() - started
    size.took(took)
    // Slow slices come in clusters, while the browser tidies its own files: after one, the next waits longer.
    const rest = took > SLOW ? AT_MOST : this.#gap < DENSE ? took * REST : 0
    this.#notBefore = this.#steady() + rest
    this.#isFresh = false
    return result
  }

  /**
   * The best moment is right after an answer, when the next request is farthest away. Where requests leave no such
   * moment, a small slice goes between them now and then: waiting must have an end.
   */
  async #turn(): Promise<void> {
    const end = this.#steady() + AT_MOST
    while (this.#requests > 0 || (this.#isBusy && !(this.#isFresh && this.#steady() >= this.#notBefore))) {
      if (this.#steady() > end) return
      await (this.#requests > 0 ? this.#answer() : this.#answerOr(LULL))
      await nextTask()
    }
  }

  get #isBusy(): boolean {
    return this.#requests > 0 || this.#steady() - this.#lastAnswer < LULL
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
