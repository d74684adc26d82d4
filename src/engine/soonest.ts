import type { Horizon } from '../protocol.js'
import { EXPIRY_INDEXES } from './layout.js'
import { expiry, isDead } from './life.js'
import { result } from './request.js'
import type { Shelf } from './shelf.js'

/** A document that may make way for others. */
export interface Expiring {
  id: string
  isDead: boolean
  /** When it expires; what has expired comes before everything. */
  at: number
}

/**
 * The ids of all that expires, the soonest first, by the keys of the two indexes alone. What lives for ever under the
 * present setting is not among them. What is of the same millisecond comes in any order.
 */
export async function* soonest(shelf: Shelf, withDead: boolean): AsyncGenerator<Expiring> {
  const { edge, setting, store } = shelf
  const fields = Object.keys(EXPIRY_INDEXES) as (keyof Horizon)[]
  const opening = fields.map(async (field) => {
    const range = rangeOf(edge[field], withDead, expiry({ [field]: 0 }, setting) !== null)
    return { field, cursor: range && (await result(store.index(EXPIRY_INDEXES[field]).openKeyCursor(range))) }
  })
  const sources = await Promise.all(opening)
  for (;;) {
    const next = sources
      .flatMap(({ field, cursor }) => (cursor ? [{ cursor, ...expiring(field, cursor, shelf) }] : []))
      .toSorted((one, other) => one.at - other.at)[0]
    if (!next) return
    yield next
    const source = sources.find(({ cursor }) => cursor === next.cursor)!
    next.cursor.continue()
    source.cursor = await result(next.cursor.request as IDBRequest<IDBCursor | null>)
  }
}

function rangeOf(edge: number, withDead: boolean, expires: boolean): IDBKeyRange | undefined {
  if (expires) return withDead ? IDBKeyRange.lowerBound(-Infinity) : IDBKeyRange.lowerBound(edge, true)
  return withDead && edge > -Infinity ? IDBKeyRange.bound(-Infinity, edge) : undefined
}

function expiring(field: keyof Horizon, { key, primaryKey }: IDBCursor, { edge, setting }: Shelf): Expiring {
  const times = { [field]: key as number }
  const dead = isDead(times, edge)
  return { id: primaryKey as string, isDead: dead, at: dead ? -Infinity : expiry(times, setting)! }
}
