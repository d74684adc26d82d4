import type { Document, Draft, Horizon } from '../protocol.js'
import { isTtl, toMilliseconds } from '../ttl.js'

/**
 * A document on the disk, in at most one of two indexes: `expiresAt` when it has a ttl of its own,
 * `inheritsFrom` (when it was written) when it takes the collection's, neither when it lives for
 * ever. So a new `defaultTtl` touches no record. Times are in milliseconds.
 */
export interface DocumentRecord {
  doc: Document
  expiresAt?: number
  inheritsFrom?: number
  /** The version of the app's documents that this one is of; 1 where it does not say. */
  version?: number
}

/** A collection's time-to-live setting, kept beside its documents. */
export interface Setting {
  defaultTtl: number | null
  /** What the code declared last time. */
  declared: number | null
  /** The latest moment at which somebody was told that a document is gone. */
  mark: number
  /** Expiry is final: what had died under earlier settings, at or below these, whatever the present one says. */
  dead: Horizon
  /** When that was noted. It holds only while the clock is past this, lest a clock once wrong bury new documents. */
  since: number
  /** What has been stored at each path that has an index. */
  kinds: Kinds
  /** The tabs that are to hear of changes. Where there are none, no journal is kept. */
  audience: Readonly<Record<string, Attention>>
  /** The number of the journal's last entry, and of the first from which on none is missing. */
  entry: number
  keptFrom: number
  /** The expiries up to here have been announced. */
  told: Horizon
  /** How many records there are, dead or alive, where somebody has to know. */
  held?: number | undefined
  /** By version: which documents may be of an earlier one. Where a version is missing, the next higher one tells. */
  levels: Readonly<Record<string, Behind>>
  /** When an import last laid down documents that are on their way in. */
  staged?: number
}

/** Documents that may be of an earlier version: those whose ids come after one, unless it is null, and some others. */
export interface Behind {
  after: string | null
  ids: readonly string[]
  /** When a tab has last migrated any. */
  at?: number
}

/** What a tab wants to hear of: what changes do to results, or every change by itself. */
export type Attention = 'results' | 'changes'

/**
 * What has been stored at a path: values that are keys, arrays, something on the way there that has fields of its own,
 * arrays that not every browser has in an index, a zero with a minus, which not every one takes for the other, nothing
 * that has a place in an index of several fields.
 */
export type Kinds = Readonly<Record<string, number>>

export const SCALARS = 1
export const ARRAYS = 2
export const ODD = 4
export const BROKEN = 8
export const ZEROS = 16
export const GAPS = 32

export const NOTHING: Horizon = { expiresAt: -Infinity, inheritsFrom: -Infinity }

export function newSetting(defaultTtl: number | null): Setting {
  return {
    defaultTtl,
    declared: defaultTtl,
    mark: -Infinity,
    dead: NOTHING,
    since: -Infinity,
    kinds: {},
    audience: {},
    entry: 0,
    keptFrom: 1,
    told: NOTHING,
    levels: {},
  }
}

/**
 * The record for a document written now. A `ttl` that is not valid counts as none. The draft itself
 * becomes the document: a copy would not be the one that a cycle leads back to.
 * A time in an index is told apart from others of the same millisecond by a fraction below it, so that
 * a reader of the index can go on about where it ended: it is at or below a millisecond when the time is.
 */
export function stamp(draft: Draft, now: number, etag: string): DocumentRecord {
  const doc = Object.assign(draft, { _ts: now / 1000, _etag: etag })
  if (draft.ttl === -1) return { doc }
  const below = fraction(now)
  if (isTtl(draft.ttl)) return { doc, expiresAt: now + toMilliseconds(draft.ttl) - below }
  return { doc, inheritsFrom: now - below }
}

/** So fine that a moment of our time can still carry it. */
const FRACTIONS = 1024

/** So many in a row share one: what is written together lies together, in order. */
const TOGETHER = 8

let moment = 0
let written = 0

/** What was written first in a millisecond comes first. */
function fraction(now: number): number {
  written = now === moment ? written + 1 : 0
  moment = now
  return 1 - ((Math.floor(written / TOGETHER) % FRACTIONS) + 1) / FRACTIONS
}

export function horizon({ defaultTtl, dead: noted, since }: Setting, now: number): Horizon {
  const dead = now < since ? NOTHING : noted
  if (defaultTtl === null) return dead
  const inherited = defaultTtl === -1 ? -Infinity : now - toMilliseconds(defaultTtl)
  return {
    expiresAt: Math.max(now, dead.expiresAt),
    inheritsFrom: Math.max(inherited, dead.inheritsFrom),
  }
}

/** A field that is not there is below no horizon. */
export function isDead({ expiresAt, inheritsFrom }: Omit<DocumentRecord, 'doc'>, edge: Horizon): boolean {
  return (
    (expiresAt !== undefined && expiresAt <= edge.expiresAt) ||
    (inheritsFrom !== undefined && inheritsFrom <= edge.inheritsFrom)
  )
}

/** The first millisecond at which the document does not exist, or null: never. */
export function expiry(
  { expiresAt, inheritsFrom }: Omit<DocumentRecord, 'doc'>,
  { defaultTtl }: Setting,
): number | null {
  if (defaultTtl === null) return null
  if (expiresAt !== undefined) return Math.ceil(expiresAt)
  if (inheritsFrom === undefined || defaultTtl === -1) return null
  return Math.ceil(inheritsFrom) + toMilliseconds(defaultTtl)
}

/** The setting after a change, which remembers everything that was dead before it. */
export function change(setting: Setting, defaultTtl: number | null, now: number): Setting {
  return { ...setting, defaultTtl, mark: now, dead: horizon(setting, now), since: now }
}

/** Whether a change of the setting lies ahead of the clock, which has leapt back since. */
export function isAhead({ since }: Setting, now: number): boolean {
  return now < since
}

/** Whether anything that died under an earlier setting may still lie on the disk. */
export function remembers({ dead }: Setting): boolean {
  return dead.expiresAt > -Infinity || dead.inheritsFrom > -Infinity
}

/** Whether anybody has ever wanted to hear of every expiry. */
export function wasFollowed({ told }: Setting): boolean {
  return told.expiresAt > -Infinity || told.inheritsFrom > -Infinity
}
