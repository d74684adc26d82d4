import type { Creatable, Identified, Patch, Stored, Writable } from '../document.js'
import { readable } from '../errors.js'
import type { Change, Document, Operation, Settings, StatsInMs } from '../protocol.js'
import { checkDefaultTtl } from '../schema.js'
import type { QueryOptions } from '../where.js'
import { checkId, toIds } from './draft.js'
import type { Feeds } from './feed.js'
import type { Lives } from './live.js'
import { make } from './make.js'
import type { WriteOptions } from './make.js'
import { deleteMany, writeMany } from './many.js'
import type { DeletedMany, ManyOptions, WrittenMany } from './many.js'
import { Query } from './query.js'
import type { Queue } from './queue.js'
import type { Updates } from './update.js'

/** How many documents a collection holds. */
export interface Stats {
  /** Documents that exist. */
  live: number
  /** Documents that have expired and wait for their deletion from the disk. */
  expired: number
  /** When the next one expires; null when none will. */
  nextExpiry: Date | null
}

/** A change of a document that was committed. */
export type ChangeOf<T> =
  | { type: 'upsert'; id: string; /** As it was written. */ doc: Stored<T> }
  | { type: 'delete'; id: string }
  | { type: 'expire'; id: string }

/** @internal */
export interface CollectionTools {
  queue: Queue
  updates: Updates
  lives: Lives
  feeds: Feeds
}

/** A collection of a store. A document that has expired is, for every method, one that is not there. */
export class Collection<T extends Identified> {
  readonly #name: string
  readonly #queue: Queue
  readonly #updates: Updates
  readonly #lives: Lives
  readonly #feeds: Feeds

  /** @internal */
  constructor(name: string, { queue, updates, lives, feeds }: CollectionTools) {
    this.#name = name
    this.#queue = queue
    this.#updates = updates
    this.#lives = lives
    this.#feeds = feeds
  }

  /** Writes a new document, with a generated id when it has none; `conflict` when its id is taken. */
  create(doc: Creatable<T>): Promise<Stored<T>> {
    return this.#write((collection) => make.create(collection, doc))
  }

  /** Writes a document, over the one with its id if there is one. */
  upsert(doc: Writable<T>, options?: WriteOptions): Promise<Stored<T>> {
    return this.#write((collection) => make.upsert(collection, doc, options))
  }

  /** Writes a document over the one with its id; `not-found` when there is none. */
  replace(doc: Writable<T>, options?: WriteOptions): Promise<Stored<T>> {
    return this.#write((collection) => make.replace(collection, doc, options))
  }

  /** Changes the given fields and removes those that are `undefined`; `not-found` when there is no document. */
  patch(id: T['id'], fields: Patch<T>, options?: WriteOptions): Promise<Stored<T>> {
    return this.#write((collection) => make.patch(collection, id, fields, options))
  }

  /**
   * Writes what `change` makes of the document, atomically: it is called again when another write
   * came in between. `not-found` when there is no document.
   */
  async update(id: T['id'], change: (doc: Stored<T>) => Writable<T>): Promise<Stored<T>> {
    const stored = await this.#updates.add(this.#name, id, change as unknown as (doc: Document) => unknown)
    return stored as Stored<T>
  }

  /** Starts the document's countdown again; false when there is none. */
  touch(id: T['id'], options?: WriteOptions): Promise<boolean> {
    return this.#write((collection) => make.touch(collection, id, options))
  }

  /** True when there was one. */
  delete(id: T['id'], options?: WriteOptions): Promise<boolean> {
    return this.#write((collection) => make.delete(collection, id, options))
  }

  /** As `create`, for any number. Those that are refused are named in the error; the others are committed. */
  createMany(docs: Iterable<Creatable<T>>, options?: ManyOptions): Promise<WrittenMany> {
    return writeMany(this.#queue, 'createMany', this.#name, docs, options)
  }

  /** As `upsert`, for any number. Those that are refused are named in the error; the others are committed. */
  upsertMany(docs: Iterable<Writable<T>>, options?: ManyOptions): Promise<WrittenMany> {
    return writeMany(this.#queue, 'upsertMany', this.#name, docs, options)
  }

  /** As `delete`, for any number; how many there were. */
  deleteMany(ids: Iterable<T['id']>, options?: ManyOptions): Promise<DeletedMany> {
    return deleteMany(this.#queue, this.#name, ids, options)
  }

  /** Deletes every document. The setting stays. */
  clear(): Promise<void> {
    return this.#call(() => ({ verb: 'clear' }))
  }

  /** The document, or undefined when there is none. */
  get(id: T['id']): Promise<Stored<T> | undefined> {
    return this.#call((collection) => {
      checkId(id, collection)
      return { verb: 'get', id }
    })
  }

  /** The documents in the order of the ids, with `undefined` for those that are not there. */
  getMany(ids: Iterable<T['id']>): Promise<(Stored<T> | undefined)[]> {
    return this.#call((collection) => ({ verb: 'getMany', ids: toIds(ids, collection) }))
  }

  /** A question to the collection; without options, all of it. Nothing runs until it is asked. */
  query(options?: QueryOptions<T>): Query<T> {
    return new Query<T>(this.#queue, this.#lives, this.#name, options)
  }

  /**
   * Sets how long documents without a ttl of their own live: seconds, -1 (no default) or null (off).
   * It acts at once on all of them, in every tab, and brings nothing back that has expired.
   */
  setDefaultTtl(defaultTtl: number | null): Promise<void> {
    return this.#call((collection) => {
      checkDefaultTtl(defaultTtl, collection)
      return { verb: 'setDefaultTtl', defaultTtl }
    })
  }

  /** The settings that hold now. */
  settings(): Promise<Settings> {
    return this.#call(() => ({ verb: 'settings' }))
  }

  /** When a document will expire; null: never; undefined: there is none. */
  async expiresAt(id: T['id']): Promise<Date | null | undefined> {
    const at: number | null | undefined = await this.#call((collection) => {
      checkId(id, collection)
      return { verb: 'expiresAt', id }
    })
    return typeof at === 'number' ? new Date(at) : at
  }

  /** Counts, without reading a document. */
  async stats(): Promise<Stats> {
    const { nextExpiry, ...counts }: StatsInMs = await this.#call(() => ({ verb: 'stats' }))
    return { ...counts, nextExpiry: nextExpiry === null ? null : new Date(nextExpiry) }
  }

  /**
   * Calls back with every change of a document here that is committed from now on, in any tab, once and in order;
   * with its expiry when it happens, and first of all with those that happened while no tab was open. Returns its undo.
   */
  changes(listener: (change: ChangeOf<T>) => void): () => void {
    return this.#feeds.add(this.#name, listener as (change: Change) => void)
  }

  #write<R>(make: (collection: string) => Operation): Promise<R> {
    const collection = this.#name
    return this.#queue.call(() => readable(() => make(collection), { collection })) as Promise<R>
  }

  #call<R>(make: (collection: string) => Without<Operation, 'collection'>): Promise<R> {
    return this.#write((collection) => ({ ...make(collection), collection }) as Operation)
  }
}

type Without<T, K extends keyof T> = T extends unknown ? Omit<T, K> : never
