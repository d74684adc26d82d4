/** After so many refusals in a row the holder may be frozen, and is when it holds the lock for so many milliseconds. */
const PATIENCE = 8
const FROZEN = 2000

/** Lets one tab at a time do something, where the browser has locks. A tab that is frozen must not starve the others. */
export class Alone {
  readonly #name: string
  #refusals = 0

  constructor(name: string) {
    this.#name = name
  }

  /** Does the work, or gives undefined when another tab is at it. */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    const locks = globalThis.navigator?.locks
    if (!locks) return work()
    let answer: T | undefined
    try {
      const options = (await this.#isFrozen(locks)) ? { steal: true } : { ifAvailable: true }
      await locks.request(this.#name, options, async (lock) => {
        this.#refusals = lock ? 0 : this.#refusals + 1
        if (lock) answer = await work()
      })
    } catch (error) {
      // Somebody has taken the lock away from this tab, or locks are forbidden here: what was done is done.
      if ((error as Error).name !== 'AbortError') return work()
    }
    return answer
  }

  /** A tab that is merely busy lets go between two slices, and whoever waits in the line gets the lock then. */
  async #isFrozen(locks: LockManager): Promise<boolean> {
    if (this.#refusals < PATIENCE) return false
    try {
      await locks.request(this.#name, { signal: AbortSignal.timeout(FROZEN) }, () => undefined)
      return false
    } catch {
      return true
    }
  }
}
