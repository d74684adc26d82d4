/**
 * What the page keeps of a store beside its database, so that an empty one in its place is noticed after a reload too.
 * Where the browser forbids it, there is none.
 */
export class Keepsake {
  readonly #key: string

  constructor(store: string) {
    this.#key = `mayfly:${store}`
  }

  read(): string | null {
    return attempt(() => localStorage.getItem(this.#key))
  }

  write(generation: string): void {
    attempt(() => localStorage.setItem(this.#key, generation))
  }

  remove(): void {
    attempt(() => localStorage.removeItem(this.#key))
  }
}

/** There may be no such storage, it may be forbidden, and it may be full. */
function attempt<T>(work: () => T): T | null {
  try {
    return typeof localStorage === 'undefined' ? null : work()
  } catch {
    return null
  }
}
