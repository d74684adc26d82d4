import type { Link } from '../protocol.js'
import { Alarm } from '../alarm.js'
import { idle } from './idle.js'

/** How long the engine may delete each time it is asked, in milliseconds. */
const BUDGET = 50

/** After a failure it tries again, at first and at the latest after so many milliseconds. */
const RETRY = 1000
const RETRY_AT_MOST = 60_000

/** Asks the engine to delete what has expired, when the page is idle; sleeps until there is something to delete. */
export class Housekeeping {
  readonly #link: Pick<Link, 'tidy'>
  readonly #alarm = new Alarm(() => void this.#round())
  #awake = false
  #busy = false
  #failures = 0
  /** After a failure nobody can wake it earlier. */
  #notBefore = -Infinity

  constructor(link: Pick<Link, 'tidy'>) {
    this.#link = link
  }

  /** From now on it may be woken. */
  start(): void {
    this.#awake = true
  }

  stop(): void {
    this.#awake = false
    this.#alarm.stop()
  }

  /** There will be something to do in so many milliseconds. */
  wake(wait: number): void {
    if (this.#awake) this.#alarm.set(wait)
  }

  async #round(): Promise<void> {
    // The round that is going on ends by setting the alarm anew.
    if (this.#busy) return
    const early = this.#notBefore - performance.now()
    if (early > 0) return this.#alarm.set(early)
    this.#busy = true
    let wait: number | null = RETRY
    try {
      await idle()
      if (!this.#awake) return
      ;({ wait } = await this.#link.tidy(BUDGET))
      this.#failures = 0
    } catch {
      // One that fails must not be the last.
      wait = Math.min(RETRY_AT_MOST, RETRY * 2 ** this.#failures++)
      this.#notBefore = performance.now() + wait
    } finally {
      this.#busy = false
      if (wait !== null) this.wake(wait)
    }
  }
}
