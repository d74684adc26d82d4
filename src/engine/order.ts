import { isDense } from '../dense.js'

/**
 * IndexedDB's order of keys, for the types that have a place in it here: numbers, Dates, strings,
 * arrays. Anything else has none.
 */
export type Sortable = number | Date | string | Sortable[]

const NUMBER = 1
const DATE = 2
const STRING = 3
const ARRAY = 4

/** An array that is in there twice has no place, as in IndexedDB, which takes that for a cycle. */
export function isSortable(value: unknown, seen?: Set<unknown>): value is Sortable {
  switch (rank(value)) {
    case NUMBER:
      return !Number.isNaN(value)
    case DATE:
      return !Number.isNaN((value as Date).getTime())
    case STRING:
      return true
    case ARRAY: {
      const all = seen ?? new Set()
      if (all.has(value)) return false
      all.add(value)
      return isDense(value as unknown[]) && (value as unknown[]).every((element) => isSortable(element, all))
    }
    default:
      return false
  }
}

/** Whether two values can be compared: they are of one type, and that type has an order. */
export function isComparable(a: unknown, b: unknown): boolean {
  return rank(a) === rank(b) && isSortable(a) && isSortable(b)
}

export function compare(a: Sortable, b: Sortable): number {
  const rankA = rank(a)
  const difference = rankA - rank(b)
  if (difference !== 0) return difference
  if (rankA !== ARRAY) return a < b ? -1 : a > b ? 1 : 0
  const [listA, listB] = [a as Sortable[], b as Sortable[]]
  for (let at = 0; at < listA.length && at < listB.length; at++) {
    const order = compare(listA[at]!, listB[at]!)
    if (order !== 0) return order
  }
  return listA.length - listB.length
}

function rank(value: unknown): number {
  if (typeof value === 'number') return NUMBER
  if (value instanceof Date) return DATE
  if (typeof value === 'string') return STRING
  return Array.isArray(value) ? ARRAY : 0
}
