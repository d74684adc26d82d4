import type { Sortable } from './order.js'

/** A key of IndexedDB that is only ever the end of a span: binary keys lie between the strings and the arrays. */
type Bound = Sortable | ArrayBuffer

/** Values of one type that lie side by side in the order of keys. */
export interface Span {
  lower: Sortable
  isLowerOpen: boolean
  /** Absent: there is no greatest array. */
  upper?: Bound
  isUpperOpen: boolean
}

const EARLIEST = -8.64e15
const LATEST = 8.64e15

/** All values of the type of this one. */
export function spanOfType(value: Sortable): Span {
  const closed = { isLowerOpen: false, isUpperOpen: false }
  if (typeof value === 'number') return { ...closed, lower: -Infinity, upper: Infinity }
  if (value instanceof Date) return { ...closed, lower: new Date(EARLIEST), upper: new Date(LATEST) }
  if (typeof value === 'string') return { lower: '', isLowerOpen: false, upper: leastBinary(), isUpperOpen: true }
  return { ...closed, lower: [] }
}

/** What comes right after the strings. Not everything that stands in for a browser takes an empty buffer for a key. */
function leastBinary(): ArrayBuffer {
  const empty = new ArrayBuffer(0)
  try {
    keyOrder(empty, empty)
    return empty
  } catch {
    return new ArrayBuffer(1)
  }
}

/** The strings that begin with a prefix. */
export function spanOfPrefix(prefix: string): Span {
  const all = spanOfType('')
  // The first string after them all: without the units that cannot be followed, and with the last one raised.
  const raisable = prefix.replace(/\uffff+$/, '')
  const last = raisable.length - 1
  if (last < 0) return { ...all, lower: prefix }
  const upper = raisable.slice(0, last) + String.fromCharCode(raisable.charCodeAt(last) + 1)
  return { lower: prefix, isLowerOpen: false, upper, isUpperOpen: true }
}

/** What two spans share; undefined when that is nothing. */
export function overlap(a: Span, b: Span): Span | undefined {
  const [low, high] = [keyOrder(a.lower, b.lower), upperOrder(a, b)]
  const from = low > 0 || (low === 0 && a.isLowerOpen) ? a : b
  const to = high < 0 || (high === 0 && a.isUpperOpen) ? a : b
  const shared: Span = {
    lower: from.lower,
    isLowerOpen: from.isLowerOpen,
    isUpperOpen: to.isUpperOpen,
    ...(to.upper === undefined ? {} : { upper: to.upper }),
  }
  return isEmpty(shared) ? undefined : shared
}

export function isWithin(value: Sortable, { lower, isLowerOpen, upper, isUpperOpen }: Span): boolean {
  const low = keyOrder(value, lower)
  if (low < 0 || (low === 0 && isLowerOpen)) return false
  if (upper === undefined) return true
  const high = keyOrder(value, upper)
  return high < 0 || (high === 0 && !isUpperOpen)
}

function isEmpty({ lower, isLowerOpen, upper, isUpperOpen }: Span): boolean {
  if (upper === undefined) return false
  const order = keyOrder(lower, upper)
  return order > 0 || (order === 0 && (isLowerOpen || isUpperOpen))
}

function upperOrder(a: Span, b: Span): number {
  if (a.upper === undefined) return b.upper === undefined ? 0 : 1
  return b.upper === undefined ? -1 : keyOrder(a.upper, b.upper)
}

function keyOrder(a: Bound, b: Bound): number {
  return indexedDB.cmp(a, b)
}

/** Every key of an index on one field but binary ones, which have no place in our order; there must be no arrays. */
export function everyScalar(): IDBKeyRange {
  return IDBKeyRange.upperBound(leastBinary(), true)
}

/** One key. Of a range that was made by `only`, Firefox tells all records at once in no other order than the ids'. */
export function exactly(key: IDBValidKey): IDBKeyRange {
  return IDBKeyRange.bound(key, key)
}

/** The keys of an index on one field. */
export function rangeOf({ lower, isLowerOpen, upper, isUpperOpen }: Span): IDBKeyRange {
  return upper === undefined
    ? IDBKeyRange.lowerBound(lower, isLowerOpen)
    : IDBKeyRange.bound(lower, upper, isLowerOpen, isUpperOpen)
}

/**
 * The keys of an index on several fields that begin with these values, and go on with one of the span; null when there
 * can be none. What lies behind that is open, and a longer key comes after a shorter one that it begins with.
 */
export function compoundRange(
  prefix: Sortable[],
  span: Span | undefined,
  isWhole: boolean,
): IDBKeyRange | undefined | null {
  if (!span) {
    if (isWhole) return exactly(prefix)
    return prefix.length === 0 ? undefined : IDBKeyRange.bound(prefix, behind(prefix), false, true)
  }
  const skips = span.isLowerOpen && !isWhole
  const lower = [...prefix, skips ? successor(span.lower) : span.lower]
  const isLowerOpen = span.isLowerOpen && !skips
  if (span.upper === undefined && prefix.length === 0) return IDBKeyRange.lowerBound(lower, isLowerOpen)
  const reaches = !span.isUpperOpen && !isWhole
  const upper =
    span.upper === undefined
      ? behind(prefix)
      : [...prefix, reaches ? successor(span.upper as Sortable) : (span.upper as Sortable)]
  const isUpperOpen = span.upper === undefined || span.isUpperOpen || reaches
  return isEmpty({ lower, isLowerOpen, upper, isUpperOpen })
    ? null
    : IDBKeyRange.bound(lower, upper, isLowerOpen, isUpperOpen)
}

/** The first key that comes after all that begin with these values. */
function behind(prefix: Sortable[]): Sortable[] {
  return [...prefix.slice(0, -1), successor(prefix.at(-1)!)]
}

/** The very next key, in the order of IndexedDB. */
function successor(value: Sortable): Sortable {
  if (typeof value === 'string') return `${value}\0`
  if (typeof value === 'number') return value === Infinity ? new Date(EARLIEST) : nextNumber(value)
  if (value instanceof Date) return value.getTime() === LATEST ? '' : new Date(value.getTime() + 1)
  return [...value, -Infinity]
}

function nextNumber(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n))
  return view.getFloat64(0)
}
