/** Shows the other tabs that this one has the store open, by a lock that nobody ever waits for. */
export class Presence {
  /** What the other tabs know this one by. */
  readonly tab: string
  readonly #prefix: string
  #release: (() => void) | undefined
  #shown: Promise<void> | undefined

  constructor(store: string) {
    this.#prefix = `mayfly-open:${JSON.stringify(store)}:`
    this.tab = this.#prefix + crypto.getRandomValues(new Uint32Array(4)).join('-')
  }

  show(): void {
    if (this.#release) return
    const held = new Promise<void>((resolve) => {
      this.#release = resolve
    })
    this.#shown = new Promise((resolve) => {
      const locks = globalThis.navigator?.locks
      const hold = () => {
        resolve()
        return held
      }
      // Where locks are missing or forbidden, nobody can tell.
      if (locks) locks.request(this.tab, hold).catch(resolve)
      else resolve()
    })
  }

  hide(): void {
    this.#release?.()
    this.#release = undefined
  }

  /** The other tabs that have the store open; undefined where the browser cannot tell. */
  async others(): Promise<string[] | undefined> {
    try {
      await this.#shown
      const { held = [] } = (await globalThis.navigator?.locks?.query()) ?? { held: undefined }
      if (held.length === 0) return undefined
      return held.flatMap(({ name }) => (name?.startsWith(this.#prefix) && name !== this.tab ? [name] : []))
    } catch {
      return undefined
    }
  }
}
