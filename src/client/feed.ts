import { fail } from '../errors.js'
import type { Change, EngineEvent } from '../protocol.js'
import type { Queue } from './queue.js'
import { call } from './report.js'

type Listener = (change: Change) => void
type ChangesEvent = Extract<EngineEvent, { changes: Change[] }>

interface Feed {
  listeners: Set<Listener>
  /** The last entry of the engine's journal that was heard of: a new engine goes on from there. */
  entry: number | undefined
}

/** After a failure it begins again, after so many milliseconds. */
const RETRY = 1000

/** Those who want to hear of every change of a collection. */
export class Feeds {
  readonly #queue: Queue
  readonly #feeds = new Map<string, Feed>()

  constructor(queue: Queue) {
    this.#queue = queue
  }

  /** Returns its own undo. */
  add(collection: string, listener: Listener): () => void {
    this.#queue.checkOpen()
    if (typeof listener !== 'function') throw fail('invalid', { collection }, 'changes() needs a function to call.')
    let feed = this.#feeds.get(collection)
    if (!feed) {
      feed = { listeners: new Set(), entry: undefined }
      this.#feeds.set(collection, feed)
      this.#follow(collection, feed)
    }
    const { listeners } = feed
    // The same function given twice is called twice.
    const own: Listener = (change) => listener(change)
    listeners.add(own)
    return () => {
      if (!listeners.delete(own) || listeners.size > 0 || this.#feeds.get(collection) !== feed) return
      this.#feeds.delete(collection)
      this.#queue.call(() => ({ verb: 'unfollow', collection })).catch(() => undefined)
    }
  }

  hear({ collection, changes, entry }: ChangesEvent): void {
    const feed = this.#feeds.get(collection)
    if (!feed) return
    feed.entry = entry
    const listeners = [...feed.listeners]
    for (const change of changes) {
      for (const listener of listeners) if (feed.listeners.has(listener)) call(listener, change)
    }
  }

  /** The engine was replaced, or has lost the list of a collection. */
  renew(only?: string): void {
    for (const [collection, feed] of this.#feeds) {
      if (only === undefined || only === collection) this.#follow(collection, feed)
    }
  }

  /** The journal that they followed is gone. */
  forget(): void {
    for (const feed of this.#feeds.values()) feed.entry = undefined
  }

  stop(): void {
    this.#feeds.clear()
  }

  #follow(collection: string, feed: Feed): void {
    this.#queue
      .call(() => ({ verb: 'follow', collection, since: feed.entry }))
      .catch(() => {
        setTimeout(() => {
          if (this.#feeds.get(collection) === feed && !this.#queue.ended) this.#follow(collection, feed)
        }, RETRY)
      })
  }
}
