/** What crosses between the page and the engine: plain data, described here and nowhere else. */

/** What went wrong, as a word that stays the same. */
export type ErrorCode =
  | 'conflict'
  | 'not-found'
  | 'precondition-failed'
  | 'invalid'
  | 'quota'
  | 'blocked'
  | 'closed'
  | 'lost'
  | 'unavailable'
  | 'failed'

/** What the page can do about a failure by itself, when nothing was done. */
export type Remedy = 'memory' | 'another worker'

/** A `MayflyError` taken apart, because classes do not survive the crossing. */
export interface Failure {
  code: ErrorCode
  message: string
  collection?: string
  id?: string
  cause?: { name: string; message: string }
  remedy?: Remedy
}

export type Reply = { ok: true; value: unknown } | { ok: false; failure: Failure }

/** A document on its way to the store. The engine adds `_ts` and `_etag`. */
export interface Draft {
  id: string
  ttl?: unknown
  [field: string]: unknown
}

/** A document as stored. */
export interface Document extends Draft {
  _ts: number
  _etag: string
}

/** A `where` as the caller wrote it: `or` and field paths. */
export type Conditions = { [path: string]: unknown }

export interface Question {
  where?: Conditions
  orderBy?: string
  order?: 'asc' | 'desc'
  limit?: number
}

export interface Page {
  items: Document[]
  next?: string
  /** Whether the matches had to be sorted, so that every page costs as much as all. */
  isSorted: boolean
  /** Under which setting they were alive. */
  defaultTtl: number | null
}

/** How a question was answered. */
export interface Explained {
  index: string | null
  read: number
  returned: number
  sorted: boolean
}

export interface Written {
  written: number
  failures: Failure[]
}

/** Where in the two indexes of expiry something begins or ends. */
export interface Horizon {
  expiresAt: number
  inheritsFrom: number
}

/** What came of a slice of deletion. */
export interface SweepSlice {
  deleted: number
  more: boolean
  /** The first that was deleted. The next slice begins there: where more was deleted an index is slow to read. */
  reached: Horizon
  /** When the next one expires, if there are no more now; null when none will. */
  next: number | null
}

/** What came of making room by deleting what would expire soonest. */
export interface Evicted {
  /** About how many bytes. */
  freed: number
  /** When the next one would expire; null when there is none. */
  next: number | null
}

/** What came of some time that was given for deletion. */
export interface Tidied {
  deleted: number
  /** In how many milliseconds to come again; null: when told. */
  wait: number | null
}

export interface StatsInMs {
  live: number
  expired: number
  nextExpiry: number | null
}

export type Indexing = 'consistent' | 'none'

/** What holds for all documents of a collection. */
export interface Settings {
  /** Seconds that a document without a ttl of its own lives; -1: no default; null: nothing expires. */
  defaultTtl: number | null
  /** As the collection was declared. */
  indexing: Indexing
}

type Verb<Name extends string, Fields = object> = { verb: Name; collection: string } & Fields
type Guarded = { ifMatch?: string | undefined }

export type Operation =
  | Verb<'get', { id: string }>
  | Verb<'getMany', { ids: string[] }>
  | Verb<'expiresAt', { id: string }>
  | Verb<'create', { doc: Draft }>
  | Verb<'upsert', { doc: Draft } & Guarded>
  | Verb<'replace', { doc: Draft } & Guarded>
  | Verb<'patch', { id: string; fields: Record<string, unknown> } & Guarded>
  | Verb<'touch', { id: string } & Guarded>
  | Verb<'delete', { id: string } & Guarded>
  | Verb<'createMany', { docs: Draft[] }>
  | Verb<'upsertMany', { docs: Draft[] }>
  | Verb<'deleteMany', { ids: string[] }>
  | Verb<'clear'>
  | Verb<'find', { question: Question; after?: string | undefined }>
  | Verb<'explain', { question: Question }>
  | Verb<'count', { question: Question }>
  | Verb<'settings'>
  | Verb<'setDefaultTtl', { defaultTtl: number | null }>
  | Verb<'stats'>
  | Verb<'watch', { key: number; question: Question; joining?: Joining | undefined }>
  | Verb<'unwatch', { key: number }>
  | Verb<'follow', { since?: number | undefined; joining?: Joining | undefined }>
  | Verb<'unfollow'>
  | Verb<'heed', { since: number; due: number | null }>
  | Verb<'bury'>
  | Verb<'leave', { tab: string; keeps: boolean }>
  | Verb<'atomic', { operations: Operation[] }>
  | Verb<'stage', { token: string; part: number } & Incoming>
  | Verb<'unstage', { token: string; parts: number } & Accepting>
  | Verb<'discard', { token: string }>
  | Verb<'restore', Accepting & Incoming>
  | Verb<'sweep', { limit: number; from?: Horizon | undefined; isWhole: boolean }>
  | Verb<'evict', { goal: number; until: number; kept: string[] }>
  | Verb<'witness'>

/** Documents of a file, with the moments at which they were written, in milliseconds. */
export interface Incoming {
  docs: Draft[]
  times: number[]
}

/** What becomes of a document of a file when there is one with its id. */
export type OnConflict = 'fail' | 'replace' | 'keep'

/** How documents of a file are taken in. */
export interface Accepting {
  onConflict: OnConflict
  /** Of the documents. */
  version: number
}

/** What came of the documents of a file. */
export interface Restored {
  imported: number
  /** Those that had expired, and were left out. */
  expired: number
  /** Those that were left out because there was one with their id. */
  kept: number
  /** Why the rest was not written. */
  failure?: Failure
}

/** What a tab has to say when it begins to listen to a collection, or listens for more. */
export interface Joining {
  tab: string
  /** Whether it wants every change by itself, and not just what they do to results. */
  isFollowing: boolean
  /** The other tabs that have the store open, where the browser can tell. */
  others?: string[]
  /** What had expired when this tab opened the store, and what of that had been announced. */
  opened: Horizon
  told: Horizon
}

export interface IndexShape {
  paths: string[]
  unique: boolean
}

export interface CollectionShape {
  name: string
  defaultTtl: number | null
  indexing: Indexing
  indexes: IndexShape[]
  /** What may be deleted when the storage is full. */
  evict?: 'soonest'
  maxDocuments?: number
  /** The version of the documents that this app writes. */
  version: number
  /** Whether the page can bring documents of an earlier version to this one. */
  migrates: boolean
}

export interface StoreShape {
  name: string
  collections: CollectionShape[]
  durability: 'relaxed' | 'strict'
  /** For how many seconds other tabs may hold up a change of the database before that is reported. */
  patience: number
}

/** A committed change of a document. */
export interface Change {
  type: 'upsert' | 'delete' | 'expire'
  id: string
  /** As it was written. */
  doc?: Document
}

/** A document that an earlier version of the app wrote, and that version. */
export interface Older {
  doc: Document
  from: number
}

/** What has become of the document that had this `_etag`; without one, it is to be deleted. */
export interface Migrated {
  id: string
  etag: string
  doc?: Draft
}

/** What has become of the first of the documents that a page was asked to migrate, and why not of more. */
export interface Answer {
  migrated: Migrated[]
  failure?: Failure
}

/** How far a migration has come, in documents that were looked at. */
export interface MigrationProgress {
  /** So many have been gone through. */
  done: number
  /** Of so many that were to be when this tab began. */
  total: number
}

/** What the page has to do, or to know, because documents of a collection are of an earlier version. */
export type MigrationEvent =
  | { migration: string; call: string; documents: Older[] }
  | { migration: string; progress: MigrationProgress }

/** What the engine says of its own accord. */
export type EngineEvent =
  /** There is something to delete, or to look for, in so many milliseconds. */
  | { due: number }
  /** The result of a live query is another now. A number stands for the document at that place in the result before. */
  | { view: number; items: (Document | number)[]; isLast: boolean }
  /** The result of a live query could not be found. */
  | { view: number; failure: Failure }
  /** Changes of a collection, up to the one of that number. */
  | { collection: string; changes: Change[]; entry: number }
  /** The engine was replaced by one that knows of no live query; or of none in this collection, for the list was lost. */
  | { isNew: true; collection?: string }
  /** The database is open: that of this name, which another that takes its place does not have. */
  | { generation: string; isInMemory?: true }
  /** The browser has closed the connection by force. */
  | { isLost: true }
  | MigrationEvent

export type Listen = (event: EngineEvent) => void

/** The engine as the page sees it. No method rejects: failures are replies. */
export interface Link {
  /** Opens the database, or sees to it that it is open; the value is where it is kept. */
  open(): Promise<Reply>
  run(operations: Operation[]): Promise<Reply[]>
  /** Deletes what has expired, behind the requests, for at most so many milliseconds. */
  tidy(budget: number): Promise<Tidied>
  /** Deletes all that has expired, behind the requests; the value is how many that were. */
  sweep(): Promise<Reply>
  /** Answers the engine's call for a migration. */
  answer(call: string, answer: Answer): void
  /** Lets go of everything that other tabs may need: the page is about to sleep. The next call wakes it. */
  rest(): void
  close(): Promise<void>
  destroy(): Promise<Reply>
}

/** The first message to a worker: what the first call is going to be about. */
export interface Coming {
  mayfly: 'coming'
  protocol: number
  shape: StoreShape
}

/** The first message of a worker. */
export interface Hello {
  mayfly: 'hello'
  protocol: number
  /** The name of a lock that the worker holds for as long as it lives. */
  alive?: string
  /** Where its script was loaded from. */
  url?: string
}

/** What is sent ahead of an answer, lest it be too large: part of a reply's list, or the first of the replies. */
export type Piece = { mayfly: 'piece'; call: number } & ({ reply: number; items: unknown[] } | { replies: Reply[] })

export type Notice = Hello | Piece | { mayfly: 'event'; event: EngineEvent }

/** The engine as it is called over the wire. */
export interface Wire {
  /** Answered at once by a worker that lives. */
  ping(): Promise<void>
  open(shape: StoreShape): Promise<Reply>
  run(call: number, operations: Operation[]): Promise<Reply[]>
  tidy(budget: number): Promise<Tidied>
  sweep(): Promise<Reply>
  answer(call: string, answer: Answer): Promise<void>
  close(): Promise<void>
  destroy(): Promise<Reply>
}
