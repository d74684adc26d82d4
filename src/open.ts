import { makeStore } from './client/store.js'
import type { Store, StoreMethods } from './client/store.js'
import { Engine } from './engine/engine.js'
import { fail } from './errors.js'
import type { CollectionShape } from './protocol.js'
import type { Schema } from './schema.js'

export interface StoreOptions {
  /** The thread of the engine. `false`: this one. */
  worker?: false | undefined
  /** `'strict'` waits for the disk at every commit: it differs only when the power fails. */
  durability?: 'relaxed' | 'strict' | undefined
  /**
   * For how many seconds a tab that does not let go of the database may hold up a change of it before
   * calls fail with `blocked`; 5 unless told, `Infinity` to wait as long as it takes. The next call tries again.
   */
  patience?: number | undefined
}

/** Names that mean something else on a store, or on every object. */
const RESERVED = new Set(
  'ready atomic sweep on export import persistence close destroy then catch finally constructor'.split(' '),
)

/** Refuses, at compile time, a collection named like a method of the store. */
type Reserved =
  | keyof StoreMethods
  | 'atomic'
  | 'on'
  | 'export'
  | 'import'
  | 'persistence'
  | 'then'
  | 'catch'
  | 'finally'
  | 'constructor'

type Allowed<S> = { [K in keyof S]: K extends Reserved ? never : S[K] }

/**
 * Opens a store, making it when there is none. Returns at once: calls wait for the opening.
 * Collections and indexes may be added at any time; what is not declared any more is left alone.
 */
export function openStore<S extends Schema<keyof S>>(
  name: string,
  schema: S & Allowed<S>,
  options: StoreOptions = {},
): Store<S> {
  if (typeof name !== 'string' || name === '') {
    throw fail('invalid', {}, 'a store needs a name: a string that is not empty.')
  }
  const { worker, durability = 'relaxed', patience = 5 } = options
  if (worker !== undefined && worker !== false) {
    throw fail('invalid', {}, 'worker is false: the engine runs on this thread.')
  }
  if (durability !== 'relaxed' && durability !== 'strict') {
    throw fail('invalid', {}, "durability is 'relaxed', which is the default, or 'strict'.")
  }
  if (typeof patience !== 'number' || !(patience >= 0)) {
    throw fail('invalid', {}, 'patience is a number of seconds, or Infinity.')
  }
  const collections = shapesOf(schema)
  const engine = new Engine({ name, collections, durability, patience }, () => Date.now())
  return makeStore<S>(
    collections.map((collection) => collection.name),
    engine,
  )
}

function shapesOf(schema: Schema): CollectionShape[] {
  if (typeof schema !== 'object' || schema === null) {
    throw fail('invalid', {}, 'a store needs its collections: { orders: collection<Order>() }.')
  }
  return Object.entries(schema).map(([name, definition]) => {
    checkName(name)
    if (!definition?.shape) {
      throw fail(
        'invalid',
        { collection: name },
        'this is not a description of a collection. Make it with collection().',
      )
    }
    return { ...definition.shape, name }
  })
}

function checkName(name: string): void {
  const sentence =
    name === ''
      ? 'a collection needs a name that is not empty.'
      : name.startsWith('$')
        ? `a collection cannot be called ${name}: names that begin with $ are the store’s own.`
        : RESERVED.has(name) || name in Object.prototype
          ? `a collection cannot be called ${name}: a store has something else of that name.`
          : undefined
  if (sentence) throw fail('invalid', { collection: name }, sentence)
}
