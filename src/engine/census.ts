import type { Horizon, StatsInMs } from '../protocol.js'
import { EXPIRY_INDEXES, everyId } from './layout.js'
import { expiry } from './life.js'
import { result } from './request.js'
import type { Shelf } from './shelf.js'

/**
 * Counts the living and the dead without reading a document: a record is in one of the two expiry
 * indexes at most, so the living are all, less what lies below the horizon in each.
 */
export async function census(shelf: Shelf): Promise<{ live: number; expired: number }> {
  const [all, expired] = await Promise.all([result(shelf.store.count(everyId())), countDead(shelf)])
  return { live: all - expired, expired }
}

/** How many have expired and are still on the disk. Whoever is told so must not be told otherwise later. */
export async function countDead(shelf: Shelf): Promise<number> {
  const graves = shelf.graves()
  const dead = graves.map(({ index, range }) => result(index.count(range)))
  const latest = graves.map(({ field, range }) => expiryAtEdge(shelf, field, range, 'prev'))
  for (const expiredAt of await Promise.all(latest)) shelf.witness(expiredAt)
  return (await Promise.all(dead)).reduce((sum, one) => sum + one, 0)
}

export async function stats(shelf: Shelf): Promise<StatsInMs> {
  const [next, counts] = await Promise.all([nextExpiry(shelf), census(shelf)])
  return { ...counts, nextExpiry: next }
}

/** When the next document expires, of those that lie behind a place; null when none will. */
export async function nextExpiry(shelf: Shelf, from = shelf.edge): Promise<number | null> {
  const { defaultTtl } = shelf.setting
  const fields: (keyof Horizon)[] =
    defaultTtl === null ? [] : defaultTtl === -1 ? ['expiresAt'] : ['expiresAt', 'inheritsFrom']
  const coming = fields.map((field) => expiryAtEdge(shelf, field, IDBKeyRange.lowerBound(from[field], true), 'next'))
  const next = (await Promise.all(coming)).filter((at) => at !== null)
  return next.length > 0 ? Math.min(...next) : null
}

/** When the first, or the last, record of a range of an expiry index expires. */
async function expiryAtEdge(
  { store, setting }: Shelf,
  field: keyof Horizon,
  range: IDBKeyRange,
  direction: 'next' | 'prev',
): Promise<number | null> {
  const cursor = await result(store.index(EXPIRY_INDEXES[field]).openKeyCursor(range, direction))
  return cursor && expiry({ [field]: cursor.key as number }, setting)
}
