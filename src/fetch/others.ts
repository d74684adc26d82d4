interface Removed {
  name: string | undefined
  /** When, in milliseconds. */
  at: number
}

/**
 * The caches in other tabs, and in the service worker. What they have asked for is nowhere on the disk yet, so they must
 * be told what was removed: a log-out here ends there too. No collection knows the name of its store, so this goes to all
 * caches of the origin; where it was not meant, an answer on its way is not kept, and asked for again.
 */
export class Others {
  readonly #channel: BroadcastChannel | undefined

  constructor(hear: (name: string | undefined, at: number) => void) {
    if (typeof BroadcastChannel === 'undefined') return
    this.#channel = new BroadcastChannel('mayfly/fetch')
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Removed>) => hear(data.name, data.at))
    // A server that renders pages must be able to end.
    ;(this.#channel as { unref?: () => void }).unref?.()
  }

  /** What was removed: all of that name, or anything. */
  tell(name: string | undefined): void {
    this.#channel?.postMessage({ name, at: Date.now() } satisfies Removed)
  }
}
