/**
 * Something that other tabs may like to know of a collection: one of its documents expires at a moment, or its journal
 * has an entry of that number, or is about to.
 */
export type Hint = { collection: string; at: number } | { collection: string; entry: number }

/** Hints from tab to tab. They may come late, and nothing that must be right depends on them. */
export class Grapevine {
  readonly #name: string
  readonly #hear: (hint: Hint) => void
  /** The earliest expiry of each collection that the others have heard of. */
  readonly #told = new Map<string, number>()
  #channel: BroadcastChannel | undefined

  constructor(name: string, hear: (hint: Hint) => void) {
    this.#name = name
    this.#hear = hear
  }

  open(): void {
    if (this.#channel || typeof BroadcastChannel === 'undefined') return
    this.#channel = new BroadcastChannel(`mayfly:${this.#name}`)
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Hint>) => {
      if ('at' in data) this.#told.set(data.collection, data.at)
      this.#hear(data)
    })
  }

  /** Tells what is earlier than anything to come that the others know. This tab may be gone when it happens. */
  tellExpiry(collection: string, at: number, now: number): void {
    const told = this.#told.get(collection) ?? Infinity
    if (told > now && told <= at) return
    this.#told.set(collection, at)
    this.#post({ collection, at })
  }

  tellEntry(collection: string, entry: number): void {
    this.#post({ collection, entry })
  }

  #post(hint: Hint): void {
    this.#channel?.postMessage(hint)
  }

  close(): void {
    this.#channel?.close()
    this.#channel = undefined
    this.#told.clear()
  }
}
