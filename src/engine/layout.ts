import type { IndexShape } from '../protocol.js'

/** How a store lies in IndexedDB. Collections cannot have names that begin with `$`. */

/** The object store that says that the database is mayfly's, and of which layout. */
export const MARKER = '$mayfly-1'

/** The key of a collection's setting, in its own object store. Ids are strings, so they sort after it. */
export const SETTING = 0

/** The two indexes of time to live, and the fields that they are on. No path has a +, so none is called like them. */
export const EXPIRY_INDEXES = { expiresAt: '+expiresAt', inheritsFrom: '+inheritsFrom' } as const

export function indexName({ paths }: Pick<IndexShape, 'paths'>): string {
  return paths.join('+')
}

/** Every document, and not the setting. */
export function everyId(): IDBKeyRange {
  return IDBKeyRange.lowerBound('')
}

export const NEEDS_INDEX =
  "time to live needs its index, and this collection is declared with indexing: 'none'. Declare it without that, or turn its defaultTtl off (null)."
