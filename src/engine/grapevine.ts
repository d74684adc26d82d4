/** Something that other tabs may like to know: a document of a collection expires at a moment. */
export interface Hint {
  collection: string
  at: number
}

/** Hints from tab to tab. They may come late, and nothing that must be right depends on them. */
export class Grapevine {
  readonly #name: string
  readonly #hear: (hint: Hint) => void
  #channel: BroadcastChannel | undefined

  constructor(name: string, hear: (hint: Hint) => void) {
    this.#name = name
    this.#hear = hear
  }

  open(): void {
    if (this.#channel || typeof BroadcastChannel === 'undefined') return
    this.#channel = new BroadcastChannel(`mayfly:${this.#name}`)
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Hint>) => this.#hear(data))
  }

  tell(hint: Hint): void {
    this.#channel?.postMessage(hint)
  }

  close(): void {
    this.#channel?.close()
    this.#channel = undefined
  }
}
