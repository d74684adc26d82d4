import type { DocumentRecord } from './life.js'
import { result } from './request.js'

/**
 * What was committed in a collection while somebody listens, a transaction an entry, so that every tab hears of
 * everything once and in order, whatever became of the tab that wrote it. It is kept in the collection's own object
 * store, which every transaction has open anyway, under numbers; ids are strings.
 */
export interface Entry {
  number: number
  changes: Recorded[]
  /** More has changed than is listed. */
  isUpheaval: boolean
}

/** A change, with the record that was written, where that is known. */
export interface Recorded {
  type: 'upsert' | 'delete' | 'expire'
  id: string
  record?: DocumentRecord
}

/** Entries are kept for tabs that are slow to read them, fewer where they are large. */
const KEPT = 128
const KEPT_LARGE = 16
const LARGE = 100

/** More changes than this are not listed for those who only want to know what became of results. */
const MANY = 2000

export function enter(store: IDBObjectStore, { number, changes, isUpheaval }: Entry, isFollowed: boolean): void {
  const entry = isFollowed
    ? { number, changes, isUpheaval }
    : {
        number,
        changes: changes.length > MANY ? [] : changes.map(({ type, id }) => ({ type, id })),
        isUpheaval: isUpheaval || changes.length > MANY,
      }
  store.put(entry, number)
  const oldest = number - (changes.length > LARGE ? KEPT_LARGE : KEPT)
  // Not at every entry: each deletion costs as much as one.
  if (oldest > 0 && (changes.length > LARGE || number % 16 === 0)) store.delete(IDBKeyRange.bound(1, oldest))
}

export function entriesSince(store: IDBObjectStore, number: number): Promise<Entry[]> {
  return result(store.getAll(IDBKeyRange.bound(number + 1, Infinity)))
}

export function forgetEntries(store: IDBObjectStore): void {
  store.delete(IDBKeyRange.bound(1, Infinity))
}
