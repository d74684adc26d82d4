import type { Identified } from '../document.js'
import type { Link, Listen, MigrationEvent } from '../protocol.js'
import type { CollectionDefinition } from '../schema.js'
import { atomic } from './atomic.js'
import type { AtomicCollection } from './atomic.js'
import { Collection } from './collection.js'
import { Continuity } from './continuity.js'
import type { StoreEvent } from './continuity.js'
import { Feeds } from './feed.js'
import { Housekeeping } from './housekeeping.js'
import { Lives } from './live.js'
import { watchPresence } from './presence.js'
import { Queue, valueOf } from './queue.js'
import { exporting, importing } from './transfer.js'
import type { ExportOptions, Imported, ImportOptions, LoadCarrier } from './transfer.js'
import type { ImportSource } from './transfer/lines.js'
import { Updates } from './update.js'

/** Where documents are kept. */
export type Persistence = 'disk' | 'memory'

/** What a store has beside its collections. */
export interface StoreMethods {
  /** Resolves when the store is open. Calls need not wait for it. */
  readonly ready: Promise<void>
  /**
   * Where the documents are kept: `'memory'` only where there is no IndexedDB and the option `fallback: 'memory'` was
   * given; they are gone with the page then. Rejects when `ready` does.
   */
  readonly persistence: Promise<Persistence>
  /**
   * Tells when the database was found empty, in place of the one that was there: `'recreated'`; and when the connection
   * was lost and came back with all data: `'reconnected'`. Listen where you open the store. Returns its own undo.
   */
  on(event: StoreEvent, listener: () => void): () => void
  /** Deletes what has expired from the disk, now. */
  sweep(): Promise<{ deleted: number }>
  /**
   * All documents that live, as lines of JSON in which every type is kept, page by page as somebody reads. Fails with
   * `invalid`, naming the document, where one holds what has no place in a file, a CryptoKey for example.
   */
  export(options?: ExportOptions): ReadableStream<Uint8Array<ArrayBuffer>>
  /**
   * Takes what `export` has made, all of it or nothing. Documents keep their `_ts`, so that they live no longer than
   * they would have; what has expired is left out. A damaged file is refused with `invalid`, naming the line.
   */
  import(source: ImportSource, options?: ImportOptions): Promise<Imported>
  /** Lets what was asked finish, then closes. Every later call fails with `closed`, but for another `close`. */
  close(): Promise<void>
  /** Deletes the store with everything in it, for every tab, and closes it. */
  destroy(): Promise<void>
  /** As `close`, for `await using`, which has to be compiled for a browser that has no `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The type of the documents that a definition describes. */
type DocumentOf<D> = D extends CollectionDefinition<infer T extends Identified> ? T : never

/** What a store has for writes that belong together. */
export interface Atomic<S> {
  /**
   * Makes several writes, in any of the collections, all or not at all: when one fails, nothing is written, and the
   * error names the one. The function notes the writes and must not be async. Resolves to what each would have.
   */
  atomic(
    work: (collections: { readonly [K in keyof S]: AtomicCollection<DocumentOf<S[K]>> }) => void,
  ): Promise<unknown[]>
}

/** An open store: its collections by name, and its own methods. */
export type Store<S> = { readonly [K in keyof S]: Collection<DocumentOf<S[K]>> } & StoreMethods & Atomic<S>

/** @internal */
export interface StoreSetup {
  name: string
  /** Of its collections. */
  names: string[]
  /** Of the documents that each writes. */
  versions: ReadonlyMap<string, number>
  cleansByItself: boolean
  loadCarrier: LoadCarrier
  migrate: (link: Link, event: MigrationEvent) => void
}

/** Makes the page's side of a store. `connect` reaches the engine, and is told what to do with what it says. */
export function makeStore<S>(
  { name, names, versions, cleansByItself, loadCarrier, migrate }: StoreSetup,
  connect: (listen: Listen) => Link,
): Store<S> {
  const link = connect((event) => hear(event))
  const housekeeping = new Housekeeping(link)
  const queue = new Queue(link)
  const tools = { queue, updates: new Updates(queue), lives: new Lives(queue), feeds: new Feeds(queue) }
  const { lives, feeds } = tools
  const continuity = new Continuity(name)
  const hear: Listen = (event) => {
    if ('due' in event) housekeeping.wake(event.due)
    else if ('view' in event) lives.hear(event)
    else if ('changes' in event) feeds.hear(event)
    else if ('migration' in event) migrate(link, event)
    else if ('generation' in event) {
      if (continuity.opened(event)) feeds.forget()
    } else if ('isLost' in event) reopen()
    else {
      if (event.collection === undefined) reopen()
      renew(event.collection)
    }
  }
  /** Whoever listens wants to know at once, and not at the next call, what is left of the database. */
  const reopen = () => {
    if (continuity.lost() && !queue.ended) void link.open()
  }
  const renew = (collection?: string) => {
    lives.renew(collection)
    feeds.renew(collection)
  }
  if (cleansByItself) housekeeping.start()
  const persistence = link.open().then((reply) => valueOf(reply) as Persistence)
  const ready = persistence.then(() => undefined)
  // Whoever waits for it hears of a failure; so does every call.
  ready.catch(() => undefined)
  const unwatch = watchPresence(
    () => {
      housekeeping.stop()
      link.rest()
    },
    () => {
      renew()
      if (!cleansByItself) return
      housekeeping.start()
      housekeeping.wake(0)
    },
  )

  const end = <T>(work: () => Promise<T>) => {
    const ended = queue.end(async () => void (await work()))
    lives.stop()
    feeds.stop()
    continuity.stop()
    housekeeping.stop()
    unwatch()
    return ended
  }
  const close = () => queue.ended ?? end(() => link.close())
  const collections = Object.fromEntries(names.map((one) => [one, new Collection<Identified>(one, tools)]))
  const carried = { name, queue, collections, versions }
  const methods: Omit<StoreMethods & Atomic<S>, typeof Symbol.asyncDispose> = {
    ready,
    persistence,
    on(event, listener) {
      queue.checkOpen()
      return continuity.on(event, listener)
    },
    atomic: (work: (collections: never) => unknown) => atomic(queue, names, work),
    sweep: async () => ({ deleted: valueOf(await queue.aside(() => link.sweep())) as number }),
    export: (options) => exporting(carried, loadCarrier, options),
    import: (source, options) => importing(carried, loadCarrier, source, options),
    close,
    destroy: async () =>
      end(async () => {
        valueOf(await link.destroy())
        continuity.end()
      }),
  }
  return Object.freeze({
    ...methods,
    ...collections,
    // Where a browser has none yet, compiled `await using` looks for this symbol.
    [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]: close,
  }) as unknown as Store<S>
}
