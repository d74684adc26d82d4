import type { Identified } from '../document.js'
import type { Link, Listen } from '../protocol.js'
import type { CollectionDefinition } from '../schema.js'
import { Collection } from './collection.js'
import { Housekeeping } from './housekeeping.js'
import { watchPresence } from './presence.js'
import { Queue, valueOf } from './queue.js'
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

/** Makes the page's side of a store. `connect` reaches the engine, and is told what to do with what it says. */
export function makeStore<S>(names: string[], connect: (listen: Listen) => Link, cleansByItself: boolean): Store<S> {
  const link = connect(({ due }) => housekeeping.wake(due))
  const housekeeping = new Housekeeping(link)
  const queue = new Queue(link)
  const updates = new Updates(queue)
  if (cleansByItself) housekeeping.start()
  const ready = link.open().then((reply) => void valueOf(reply))
  // Whoever waits for it hears of a failure; so does every call.
  ready.catch(() => undefined)
  const unwatch = watchPresence(
    () => {
      housekeeping.stop()
      link.rest()
    },
    () => {
      if (!cleansByItself) return
      housekeeping.start()
      housekeeping.wake(0)
    },
  )

  const end = <T>(work: () => Promise<T>) => {
    const ended = queue.end(async () => void (await work()))
    housekeeping.stop()
    unwatch()
    return ended
  }
  const close = () => queue.ended ?? end(() => link.close())
  const methods: Omit<StoreMethods, typeof Symbol.asyncDispose> = {
    ready,
    sweep: async () => ({ deleted: valueOf(await queue.aside(() => link.sweep())) as number }),
    close,
    destroy: async () => end(async () => valueOf(await link.destroy())),
  }
  const collections = names.map((name) => [name, new Collection(name, queue, updates)])
  return Object.freeze({
    ...methods,
    ...(Object.fromEntries(collections) as object),
    // Not every browser has it; without the guard the method would be called "undefined".
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: close } : {}),
  }) as unknown as Store<S>
}
