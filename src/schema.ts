import type { Former, Identified, Path, Writable } from './document.js'
import { fail, readable } from './errors.js'
import type { CollectionShape, Indexing, IndexShape, MigrationProgress } from './protocol.js'
import { isTtl, TTL_RULE } from './ttl.js'

/** How a collection keeps its documents. */
export interface CollectionOptions<T extends Identified = Identified> {
  /** Omitted or null: nothing expires. -1: on, without a default. Otherwise seconds. */
  defaultTtl?: number | null | undefined
  /** `'none'`: plain key-value, the fastest to write, without time to live and without indexes. */
  indexing?: Indexing | undefined
  /**
   * `'soonest'`: when the storage is full, and nothing that has expired is left to delete, the documents that would
   * expire soonest are deleted until a write fits. Those that never expire stay.
   */
  evict?: 'soonest' | undefined
  /**
   * How many documents there are at most. A write that would exceed it makes those leave that would expire soonest,
   * never those that never expire; where none can leave it is refused with `quota`. Many are written one after another;
   * what an atomic write writes does not make way for the rest of it.
   */
  maxDocuments?: number | undefined
  /** Of what version the shape of the documents is: 1 when left out, and one more whenever `migrate` has to do more. */
  version?: number | undefined
  /**
   * Gives a document of an earlier version its present shape, or null to have it deleted; `from` is that version. It
   * runs once for each, before any call is answered; it must not be async, nor change the id. `_ts` stays as it is, and
   * so the countdown goes on; the `_etag` is another. When it throws, the opening fails with `invalid`, and the next goes
   * on from there. A tab with an earlier version of the app that is still open may have read a document in its new shape
   * and written it back, so that it comes here again: fields that are there already have to be kept. Left out, documents
   * of every version count as they are.
   */
  migrate?: ((old: Former, from: number) => Writable<T> | null) | undefined
  /** Is told, in the tab that migrates, how many of the documents that are there have been gone through. */
  onMigrate?: ((progress: MigrationProgress) => void) | undefined
}

/** @internal What a page needs to migrate documents. */
export interface Migration {
  migrate: (old: Former, from: number) => unknown
  onMigrate?: ((progress: MigrationProgress) => void) | undefined
}

/** The fields of `T` that may be indexed. */
export type Indexable<T> = Path<T> | '_ts'

/** Describes a collection. Every method returns a new description. */
export interface CollectionDefinition<T extends Identified> {
  /** Adds an index on a field, a path, or several of them in that order. An array field is indexed by element. */
  index(...paths: [Indexable<T>, ...Indexable<T>[]]): CollectionDefinition<T>
  /** Adds an index in which no two live documents have the same value: a write that would is refused with `conflict`. */
  uniqueIndex(...paths: [Indexable<T>, ...Indexable<T>[]]): CollectionDefinition<T>
  /** @internal */
  readonly shape: Omit<CollectionShape, 'name'>
  /** @internal */
  readonly migration?: Migration | undefined
  /** Carries the document's type, in a place where a definition of any document is a `CollectionDefinition<never>`. */
  readonly takes?: (doc: T) => void
}

/** A store's collections by name. */
export type Schema<Names extends PropertyKey = string> = { readonly [name in Names]: CollectionDefinition<never> }

/** Describes a collection of documents of type `T`, once: every call on it is typed from here. */
export function collection<T extends Identified>(options: CollectionOptions<T> = {}): CollectionDefinition<T> {
  const { defaultTtl = null, indexing = 'consistent', evict, maxDocuments, ...rest } = readable(() => ({ ...options }))
  const { version = 1, migrate, onMigrate } = rest
  checkDefaultTtl(defaultTtl)
  if (indexing !== 'consistent' && indexing !== 'none') {
    throw fail('invalid', {}, "indexing is 'consistent', which is the default, or 'none'.")
  }
  if (indexing === 'none' && defaultTtl !== null) {
    throw fail('invalid', {}, "time to live needs its index: leave out indexing: 'none' or the defaultTtl.")
  }
  if (evict !== undefined && evict !== 'soonest') {
    throw fail('invalid', {}, "evict is 'soonest'. Leave it out to have nothing deleted before it expires.")
  }
  if (maxDocuments !== undefined && !(Number.isSafeInteger(maxDocuments) && maxDocuments > 0)) {
    throw fail('invalid', {}, 'maxDocuments is a whole number above 0. Leave it out for any number.')
  }
  if (indexing === 'none' && (evict ?? maxDocuments) !== undefined) {
    throw fail(
      'invalid',
      {},
      "nothing expires with indexing: 'none', so nothing makes way: leave that out, or evict and maxDocuments.",
    )
  }
  checkVersion(version, migrate, onMigrate)
  const shape = {
    defaultTtl,
    indexing,
    indexes: [],
    ...(evict === undefined ? {} : { evict }),
    ...(maxDocuments === undefined ? {} : { maxDocuments }),
    version,
    migrates: migrate !== undefined,
  }
  return define<T>(shape, migrate && { migrate, onMigrate })
}

function define<T extends Identified>(
  shape: Omit<CollectionShape, 'name'>,
  migration: Migration | undefined,
): CollectionDefinition<T> {
  const add = (paths: string[], unique: boolean) =>
    define<T>({ ...shape, indexes: extend(shape, paths, unique) }, migration)
  return Object.freeze({
    shape,
    migration,
    index: (...paths: string[]) => add(paths, false),
    uniqueIndex: (...paths: string[]) => add(paths, true),
  })
}

function extend({ indexing, indexes }: Omit<CollectionShape, 'name'>, paths: string[], unique: boolean): IndexShape[] {
  if (indexing === 'none') {
    throw fail('invalid', {}, "a collection with indexing: 'none' has no indexes: leave out the one or the other.")
  }
  if (paths.length === 0) throw fail('invalid', {}, 'an index needs at least one field.')
  for (const path of paths) {
    if (!isPath(path)) {
      throw fail(
        'invalid',
        {},
        `${typeof path === 'string' ? JSON.stringify(path) : 'this'} cannot be indexed: a path is one or more field names, joined by dots, that could stand after a dot in code.`,
      )
    }
  }
  const same = (index: IndexShape) => index.paths.join() === paths.join()
  const isUnique = unique || indexes.some((index) => same(index) && index.unique)
  return [...indexes.filter((index) => !same(index)), { paths, unique: isUnique }]
}

function checkVersion(version: unknown, migrate: unknown, onMigrate: unknown): void {
  const isFunction = (value: unknown) => value === undefined || typeof value === 'function'
  const sentence =
    !Number.isSafeInteger(version) || (version as number) < 1
      ? 'version is a whole number, 1 or more.'
      : !isFunction(migrate) || !isFunction(onMigrate)
        ? 'migrate and onMigrate are functions.'
        : migrate !== undefined && version === 1
          ? 'there is nothing to migrate to version 1: give the collection version: 2, or leave out migrate.'
          : onMigrate !== undefined && migrate === undefined
            ? 'onMigrate needs a migrate to tell of.'
            : undefined
  if (sentence) throw fail('invalid', {}, sentence)
}

/** What every browser's IndexedDB takes as a path: names of letters, digits, $ and _, none of them beyond 16 bits. */
const NAME = String.raw`[\p{L}\p{Nl}$_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$]*`
const PATH = new RegExp(String.raw`^${NAME}(\.${NAME})*$`, 'u')

function isPath(path: unknown): boolean {
  return typeof path === 'string' && PATH.test(path) && !/[\u{10000}-\u{10ffff}]/u.test(path)
}

export function checkDefaultTtl(value: unknown, name?: string): asserts value is number | null {
  if (value === null || isTtl(value)) return
  throw fail(
    'invalid',
    { collection: name },
    `defaultTtl is null (off), or ${TTL_RULE.replace('a ttl is', '').trim()}.`,
  )
}
