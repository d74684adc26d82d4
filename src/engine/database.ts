import { deleteDB, openDB, unwrap } from 'idb'
import { fail } from '../errors.js'
import type { CollectionShape, StoreShape } from '../protocol.js'
import type { Hearing } from './connection.js'
import { begin, close, closed } from './closing.js'
import { EXPIRY_INDEXES, indexName, MARKER, SETTING } from './layout.js'
import { newSetting } from './life.js'
import { mark } from './generation.js'
import type { Setting } from './life.js'
import { survey } from './kinds.js'
import { isServerLost, noDatabase, serverLost } from './obstacle.js'
import { notice, patiently } from './patience.js'
import { NOBODY, withLevel } from './versions.js'

/**
 * Opens the database, with a store for each collection and an index for each that is declared.
 * Only ever adds: what is not declared any more may belong to another version of the app.
 */
export async function openDatabase(shape: StoreShape, hearing: Hearing): Promise<IDBDatabase> {
  if (!hasDatabases()) throw noDatabase(shape.name)
  let version: number | undefined
  for (;;) {
    const database = await connect(shape, version, hearing).catch((error: Error) => {
      // Another tab has added something meanwhile: look again at what is there.
      if (error.name === 'VersionError') return undefined
      throw reasonOf(error, shape)
    })
    try {
      if (database && isComplete(database, shape)) return database
    } catch (error) {
      await closed(database!)
      throw error
    }
    version = database && database.version + 1
    if (database) await close(database)
  }
}

/** Where it is forbidden, merely looking for it may throw. */
function hasDatabases(): boolean {
  try {
    return typeof indexedDB !== 'undefined' && Boolean(indexedDB)
  } catch {
    return false
  }
}

/**
 * Firefox says InvalidStateError in the private windows of its older versions; Chromium says UnknownError, “The user
 * denied permission to access the database”, where somebody has forbidden sites to save data.
 */
function reasonOf(error: Error, { name }: StoreShape): Error {
  if (isServerLost(error)) return serverLost(name, error)
  const isForbidden = ['SecurityError', 'InvalidStateError'].includes(error.name) || /denied perm/.test(error.message)
  return isForbidden ? noDatabase(name, error) : error
}

export function deleteDatabase(shape: StoreShape): Promise<void> {
  const blocked = notice()
  const remove = async () => {
    if (!hasDatabases()) throw noDatabase(shape.name)
    const isTaken = await isForeign(shape.name).catch((error: Error) => {
      throw reasonOf(error, shape)
    })
    if (isTaken) throw foreign(shape.name)
    await deleteDB(shape.name, { blocked: blocked.give }).catch((error: Error) => {
      throw reasonOf(error, shape)
    })
  }
  return patiently(shape, { done: remove(), blocked: blocked.given, begun: false })
}

async function isForeign(name: string): Promise<boolean> {
  try {
    const database = await openDB(name, undefined, {
      upgrade(_, __, ___, transaction) {
        ignore(transaction.done)
        transaction.abort()
      },
    })
    const isOurs = database.objectStoreNames.contains(MARKER)
    database.close()
    return !isOurs
  } catch (error) {
    // There is none: looking was about to make one. Where looking failed, it may be anybody's.
    if ((error as Error).name === 'AbortError') return false
    throw error
  }
}

function foreign(name: string) {
  const sentence = `the database “${name}” was made by another program, so it is left alone. Give the store another name.`
  return fail('invalid', {}, sentence)
}

async function connect(shape: StoreShape, version: number | undefined, hearing: Hearing): Promise<IDBDatabase> {
  const database = await openDB(shape.name, version, {
    blocked: hearing.blocked,
    upgrade(upgraded, oldVersion, _, transaction) {
      ignore(transaction.done)
      hearing.upgrading()
      if (oldVersion === 0) mark(unwrap(upgraded))
      for (const collection of shape.collections) extend(unwrap(transaction), collection)
    },
    blocking(_, __, event) {
      void close(event.target as IDBDatabase)
      hearing.gone()
    },
    terminated() {
      hearing.severed()
      hearing.gone()
    },
  })
  if (database.objectStoreNames.contains(MARKER)) return unwrap(database)
  database.close()
  throw foreign(shape.name)
}

/** That it was aborted is heard from the request to open, and from there only. */
function ignore(done: Promise<void>): void {
  done.catch(() => undefined)
}

function isComplete(database: IDBDatabase, { collections }: StoreShape): boolean {
  const names = collections.map((collection) => collection.name)
  if (names.some((name) => !database.objectStoreNames.contains(name))) return false
  if (names.length === 0) return true
  const transaction = begin(database, names)
  return collections.every((collection) => {
    const { indexNames } = transaction.objectStore(collection.name)
    return indexesOf(collection).every((index) => indexNames.contains(index.name))
  })
}

function extend(transaction: IDBTransaction, collection: CollectionShape): void {
  const { db } = transaction
  const isNew = !db.objectStoreNames.contains(collection.name)
  if (isNew) db.createObjectStore(collection.name).put(settingFor(collection), SETTING)
  const store = transaction.objectStore(collection.name)
  const missing = indexesOf(collection).filter(({ name }) => !store.indexNames.contains(name))
  const added = missing.map(({ name, keyPath, multiEntry }) => store.createIndex(name, keyPath, { multiEntry }))
  if (!isNew) survey(store, added)
}

/** Nothing in a new collection is of an earlier version. */
function settingFor({ defaultTtl, version }: CollectionShape): Setting {
  const setting = newSetting(defaultTtl)
  return version > 1 ? { ...setting, levels: withLevel(setting.levels, version, NOBODY) } : setting
}

interface Index {
  name: string
  keyPath: string | string[]
  multiEntry: boolean
}

/** None is unique for IndexedDB, which would count the dead; none of one field is without its elements. */
function indexesOf({ indexing, indexes }: CollectionShape): Index[] {
  if (indexing === 'none') return []
  const expiry = Object.entries(EXPIRY_INDEXES).map(([keyPath, name]) => ({
    name,
    keyPath,
    multiEntry: false,
  }))
  const declared = indexes.map((index) => {
    const [first, ...others] = index.paths.map((path) => `doc.${path}`)
    return others.length > 0
      ? { name: indexName(index), keyPath: [first!, ...others], multiEntry: false }
      : { name: indexName(index), keyPath: first!, multiEntry: true }
  })
  return [...expiry, ...declared]
}
