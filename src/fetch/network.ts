/**
 * The way to the network: the function that was given, or else the global `fetch` of the moment, which somebody may
 * have replaced since. If they have replaced it by this very cache, the way leads to the one that was there before.
 */
export class Network {
  readonly #given: typeof fetch | undefined
  readonly #first = globalThis.fetch
  #isLeaving = false

  constructor(given: typeof fetch | undefined) {
    this.#given = given
  }

  /** Whether whoever calls now was called from here. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    // Neither may be called as a method.
    const [given, first] = [this.#given, this.#first]
    if (given) return given(input, init)
    if (this.#isLeaving) return first(input, init)
    this.#isLeaving = true
    try {
      return fetch(input, init)
    } finally {
      this.#isLeaving = false
    }
  }
}
