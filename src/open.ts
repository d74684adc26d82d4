import { orInMemory } from './client/fallback.js'
import { Local } from './client/local.js'
import { Remote } from './client/remote.js'
import type { Start } from './client/remote.js'
import { startWorker } from './client/start.js'
import { makeStore } from './client/store.js'
import type { Store, StoreMethods, StoreSetup } from './client/store.js'
import type { LoadCarrier } from './client/transfer.js'
import type { hear } from './client/migrator.js'
import { fail, readable, toFailure } from './errors.js'
import type { CollectionShape, Link, Listen, MigrationEvent, StoreShape } from './protocol.js'
import type { Schema } from './schema.js'

/** How a store is opened; all of it may be left out. */
export interface StoreOptions {
  /**
   * The thread of the engine. Left out: a worker of the package's own. A function that makes a Worker
   * from `mayfly/worker`, where that needs help. `false`: this thread, as a service worker must.
   */
  worker?: false | (() => Worker) | undefined
  /** `'strict'` waits for the disk at every commit: it differs only when the power fails. */
  durability?: 'relaxed' | 'strict' | undefined
  /** `'manual'` deletes what has expired only when `store.sweep()` is called, not by itself in idle time. */
  sweep?: 'idle' | 'manual' | undefined
  /**
   * For how many seconds a tab that does not let go of the database may hold up a change of it before
   * calls fail with `blocked`; 5 unless told, `Infinity` to wait as long as it takes. The next call tries again.
   */
  patience?: number | undefined
  /**
   * `'memory'`: where there is no IndexedDB, or it is forbidden, the store is kept in the memory of the page, by the
   * same rules, and `store.persistence` says so. Left out: every call fails with `unavailable` there.
   */
  fallback?: 'memory' | undefined
}

/** Brings the engine to this thread. */
type LoadEngine = () => Promise<new (shape: StoreShape, listen: Listen) => Link>

/** The parts that are not needed by every page. */
export interface Parts {
  engine: LoadEngine
  carrier: LoadCarrier
  migrator: LoadMigrator
}

/** Brings what migrates documents, which most pages never need. */
type LoadMigrator = () => Promise<{ hear: typeof hear }>

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

export type Allowed<S> = { [K in keyof S]: K extends Reserved ? never : S[K] }

export function open<S>(name: string, schema: object, options: StoreOptions, load: Parts): Store<S> {
  if (typeof name !== 'string' || name === '') {
    throw fail('invalid', {}, 'a store needs a name: a string that is not empty.')
  }
  const collections = readable(() => shapesOf(schema))
  const {
    worker,
    durability = 'relaxed',
    sweep = 'idle',
    patience = 5,
    fallback,
  } = readable(() => ({ ...checkOptions(options) }))
  if (worker !== undefined && worker !== false && typeof worker !== 'function') {
    throw fail('invalid', {}, 'worker is false, or a function that makes a Worker.')
  }
  if (durability !== 'relaxed' && durability !== 'strict') {
    throw fail('invalid', {}, "durability is 'relaxed', which is the default, or 'strict'.")
  }
  if (sweep !== 'idle' && sweep !== 'manual') {
    throw fail('invalid', {}, "sweep is 'idle', which is the default, or 'manual'.")
  }
  if (typeof patience !== 'number' || !(patience >= 0)) {
    throw fail('invalid', {}, 'patience is a number of seconds, or Infinity.')
  }
  if (fallback !== undefined && fallback !== 'memory') {
    throw fail('invalid', {}, "fallback is 'memory', or is left out.")
  }
  const shape: StoreShape = { name, collections, durability, patience }
  const start: Start = async (stranded) => {
    const inFrame = stranded && (await import('./client/frame.js').catch(() => undefined))
    const started = await inFrame?.startInFrame(stranded?.url).catch(() => undefined)
    return started ?? startWorker(shape, worker || undefined)
  }
  const connect = (listen: Listen): Link => {
    // What crosses no thread must not be shared all the same.
    const hear: Listen = (event) => listen(structuredClone(event))
    const link =
      worker === false
        ? new Local(async () => new (await load.engine())(shape, hear))
        : new Remote(shape, start, listen)
    if (!fallback) return link
    return new Local(() => orInMemory(link, shape, async () => new (await loadMemory())(shape, hear)))
  }
  const setup: StoreSetup = {
    name,
    names: collections.map((one) => one.name),
    versions: new Map(collections.map((one) => [one.name, one.version])),
    cleansByItself: sweep === 'idle',
    loadCarrier: load.carrier,
    migrate: (link, event) => void migrate(schema as Schema, link, event, load.migrator),
  }
  return makeStore<S>(setup, connect)
}

function checkOptions(options: StoreOptions): StoreOptions {
  if (typeof options === 'object' && options !== null) return options
  throw fail('invalid', {}, 'the options of a store are an object.')
}

/** Rarely needed, and no part of what a page or a worker loads until then. */
async function loadMemory() {
  return (await import('./engine/memory.js')).MemoryEngine
}

async function migrate(schema: Schema, link: Link, event: MigrationEvent, load: LoadMigrator): Promise<void> {
  try {
    const migrator = await load()
    migrator.hear(link, schema[event.migration]!.migration!, event)
  } catch (cause) {
    const sentence =
      'the part of mayfly that migrates documents could not be loaded. Try again when there is a network.'
    const failure = toFailure(fail('unavailable', { collection: event.migration }, sentence, cause))
    if ('call' in event) link.answer(event.call, { migrated: [], failure })
  }
}

function shapesOf(schema: object): CollectionShape[] {
  if (typeof schema !== 'object' || schema === null) {
    throw fail('invalid', {}, 'a store needs its collections: { orders: collection<Order>() }.')
  }
  return Object.entries(schema as Schema).map(([name, definition]) => {
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
