/** What crosses between the page and the engine: plain data, described here and nowhere else. */

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

/** A `MayflyError` taken apart, because classes do not survive the crossing. */
export interface Failure {
  code: ErrorCode
  message: string
  collection?: string
  id?: string
  cause?: { name: string; message: string }
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
  read: number
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
  /** The last that was deleted. The next slice begins there: where much was deleted an index is slow to read. */
  reached: Horizon
  /** When the next one expires, if there are no more now; null when none will. */
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

export interface Settings {
  defaultTtl: number | null
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
  | Verb<'count', { question: Question }>
  | Verb<'settings'>
  | Verb<'setDefaultTtl', { defaultTtl: number | null }>
  | Verb<'stats'>
  | Verb<'sweep', { limit: number; from?: Horizon | undefined; isWhole: boolean }>

export interface IndexShape {
  paths: string[]
  unique: boolean
}

export interface CollectionShape {
  name: string
  defaultTtl: number | null
  indexing: Indexing
  indexes: IndexShape[]
}

export interface StoreShape {
  name: string
  collections: CollectionShape[]
  durability: 'relaxed' | 'strict'
  /** For how many seconds other tabs may hold up a change of the database before that is reported. */
  patience: number
}

/** What the engine says of its own accord: there is something to delete, or to look for, in so many milliseconds. */
export interface EngineEvent {
  due: number
}

export type Listen = (event: EngineEvent) => void

/** The engine as the page sees it. No method rejects: failures are replies. */
export interface Link {
  open(): Promise<Reply>
  run(operations: Operation[]): Promise<Reply[]>
  /** Deletes what has expired, behind the requests, for at most so many milliseconds. */
  tidy(budget: number): Promise<Tidied>
  /** Deletes all that has expired, behind the requests; the value is how many that were. */
  sweep(): Promise<Reply>
  /** Lets go of everything that other tabs may need: the page is about to sleep. The next call wakes it. */
  rest(): void
  close(): Promise<void>
  destroy(): Promise<Reply>
}

/** The first message of a worker. */
export interface Hello {
  mayfly: 'hello'
  protocol: number
  /** The name of a lock that the worker holds for as long as it lives. */
  alive?: string
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
  close(): Promise<void>
  destroy(): Promise<Reply>
}
