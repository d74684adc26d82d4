/** What goes on behind: nobody waits for it, and what goes wrong there is only reported. */
export class Background {
  readonly #under = new Set<Promise<unknown>>()
  readonly #onError: ((error: unknown) => void) | undefined

  constructor(onError: ((error: unknown) => void) | undefined) {
    this.#onError = onError
  }

  /** Resolves when the work has ended, however it has. */
  run(work: Promise<unknown>): Promise<void> {
    const done = work.then(
      () => undefined,
      (error: unknown) => this.report(error),
    )
    this.#under.add(done)
    return done.finally(() => this.#under.delete(done))
  }

  /** What the listener throws is its own affair. */
  report(error: unknown): void {
    try {
      this.#onError?.(error)
    } catch (thrown) {
      if (typeof reportError === 'function') reportError(thrown)
      else console.error(thrown)
    }
  }

  /** Resolves when nothing goes on any more. */
  async settled(): Promise<void> {
    while (this.#under.size > 0) await Promise.all(this.#under)
  }
}
