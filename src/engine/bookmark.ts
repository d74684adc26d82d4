import { fail } from '../errors.js'
import { isSortable } from './order.js'
import type { Sortable } from './order.js'

/** Where a page ended: the last document's place in the order. Without `orderBy` that is its id alone. */
export interface Position {
  id: string
  value?: Sortable
}

/** A position as text that survives a reload. JSON, but for Dates and the numbers that it cannot hold. */
export function toBookmark({ id, value }: Position): string {
  return JSON.stringify(value === undefined ? [id] : [id, pack(value)])
}

export function fromBookmark(text: string, ordered: boolean, collection: string): Position {
  try {
    const [id, packed, ...rest] = JSON.parse(text) as unknown[]
    if (typeof id === 'string' && rest.length === 0) {
      if (!ordered && packed === undefined) return { id }
      const value = unpack(packed)
      if (ordered && isSortable(value)) return { id, value }
    }
  } catch {
    // Not JSON, or not a list: refused below like the rest.
  }
  throw fail('invalid', { collection }, 'page() was given something that is not the `next` of a page of this query.')
}

function pack(value: Sortable): unknown {
  if (Array.isArray(value)) return value.map(pack)
  if (value instanceof Date) return { date: value.getTime() }
  return typeof value === 'number' && !Number.isFinite(value) ? { number: String(value) } : value
}

function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack)
  if (typeof value !== 'object' || value === null) return value
  return 'date' in value ? new Date(value.date as number) : Number((value as { number?: unknown }).number)
}
