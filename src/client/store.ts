import type { Identified } from '../document.js'
import type { Link, SweepSlice } from '../protocol.js'
import type { CollectionDefinition } from '../schema.js'
import { Collection } from './collection.js'
import { Queue, valueOf } from './queue.js'
import type { Send } from './queue.js'
import { Updates } from './update.js'

export interface StoreMethods {
  /** Resolves when the store is open. Calls need not wait for it. */
  readonly ready: Promise<void>
  /** Deletes what has expired from the disk, now. */
  sweep(): Promise<{ deleted: number }>
  /** Lets what was asked finish, then closes. Every later call fails with `closed`, but for another `close`. */
  close(): Promise<void>
  /** Deletes the store with everything in it, for every tab, and closes it. */
  destroy(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The type of the documents that a definition describes. */
type DocumentOf<D> = D extends CollectionDefinition<infer T extends Identified> ? T : never

export type Store<S> = { readonly [K in keyof S]: Collection<DocumentOf<S[K]>> } & StoreMethods

/** How many documents a sweep deletes in one transaction. */
const SLICE = 500

export function makeStore<S>(names: string[], link: Link): Store<S> {
  const queue = new Queue(link)
  const updates = new Updates(queue)
  const ready = link.open().then((reply) => void valueOf(reply))
  // Whoever waits for it hears of a failure; so does every call.
  ready.catch(() => undefined)

  const close = () => queue.ended ?? queue.end(() => link.close())
  const methods: Omit<StoreMethods, typeof Symbol.asyncDispose> = {
    ready,
    sweep: () => queue.job((send) => sweep(names, send)),
    close,
    destroy: async () => queue.end(async () => void valueOf(await link.destroy())),
  }
  const collections = names.map((name) => [name, new Collection(name, queue, updates)])
  return Object.freeze({
    ...methods,
    ...(Object.fromEntries(collections) as object),
    // Not every browser has it; without the guard the method would be called "undefined".
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: close } : {}),
  }) as unknown as Store<S>
}

async function sweep(names: string[], send: Send): Promise<{ deleted: number }> {
  let deleted = 0
  for (const collection of names) {
    for (let more = true; more;) {
      const [reply] = await send([{ verb: 'sweep', collection, limit: SLICE }])
      const slice = valueOf(reply) as SweepSlice
      deleted += slice.deleted
      more = slice.more
    }
  }
  return { deleted }
}
