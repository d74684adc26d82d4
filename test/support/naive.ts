/**
 * A literal reading of the rules of queries over a plain array. It shares nothing with the engine, knows nothing of
 * indexes, and nothing is fast.
 */

export interface Doc {
  id: string
  ttl?: number
  _ts: number
  [field: string]: unknown
}

export interface Where {
  [path: string]: unknown
  or?: Where[]
}

export interface Question {
  where?: Where
  orderBy?: string
  order?: 'asc' | 'desc'
  limit?: number
}

/** Every match, in order: what `get()` gives but for the `limit`, and what `count()` counts. */
export function matches(docs: Doc[], question: Question): Doc[] {
  const { where = {}, orderBy = 'id' } = question
  return docs
    .filter((doc) => isMatch(doc, where) && kindOf(fieldAt(doc, orderBy)) !== undefined)
    .sort((one, other) => inOrder(one, other, question))
}

/** Whether a document comes after the place where a page ended, which is that of its last document as it was then. */
export function isAfter(doc: Doc, last: Doc, question: Question): boolean {
  return inOrder(doc, last, question) > 0
}

/** T1 and T2, for a `ttl` that is valid or absent. */
export function isAlive({ ttl, _ts }: Doc, defaultTtl: number | null, now: number): boolean {
  if (defaultTtl === null) return true
  const seconds = ttl ?? defaultTtl
  return seconds === -1 || Math.round(_ts * 1000) + seconds * 1000 > now
}

/** Ties are broken by id, in the direction of the order. */
function inOrder(one: Doc, other: Doc, { orderBy = 'id', order = 'asc' }: Question): number {
  const upwards = compare(fieldAt(one, orderBy), fieldAt(other, orderBy)) || compare(one.id, other.id)
  return order === 'asc' ? upwards : -upwards
}

function isMatch(doc: Doc, where: Where): boolean {
  return Object.entries(where).every(([path, condition]) => {
    if (path === 'or') return (condition as Where[]).some((alternative) => isMatch(doc, alternative))
    const value = fieldAt(doc, path)
    if (!isPlainObject(condition)) return isSame(value, condition)
    return Object.entries(condition).every(([operator, operand]) => isTrue(value, operator, operand))
  })
}

function isTrue(value: unknown, operator: string, operand: unknown): boolean {
  switch (operator) {
    case 'gt':
      return isComparable(value, operand) && compare(value, operand) > 0
    case 'gte':
      return isComparable(value, operand) && compare(value, operand) >= 0
    case 'lt':
      return isComparable(value, operand) && compare(value, operand) < 0
    case 'lte':
      return isComparable(value, operand) && compare(value, operand) <= 0
    case 'in':
      return (operand as unknown[]).some((one) => isSame(value, one))
    case 'startsWith':
      return typeof value === 'string' && value.startsWith(operand as string)
    case 'contains':
      return Array.isArray(value) && value.some((element) => isSame(element, operand))
    case 'exists':
      return (value !== undefined) === operand
    default:
      throw new Error(`There is no operator ${operator}.`)
  }
}

/** Booleans and null have no order, but are the same as themselves. */
function isSame(value: unknown, operand: unknown): boolean {
  if (operand === null || typeof operand === 'boolean') return value === operand
  return isComparable(value, operand) && compare(value, operand) === 0
}

/** Only values of one type can be compared. */
function isComparable(value: unknown, operand: unknown): boolean {
  const kind = kindOf(apart(operand))
  return kind !== undefined && kindOf(value) === kind
}

/** An operand is a value by itself: one array in two places of it is as good as two. */
function apart(operand: unknown): unknown {
  return Array.isArray(operand) ? operand.map(apart) : operand
}

/** In the order of IndexedDB. */
const KINDS = ['number', 'date', 'string', 'array'] as const

type Kind = (typeof KINDS)[number]

/** What a value is in that order. Undefined: it has no place there, and neither has one array in two places of it. */
function kindOf(value: unknown, seen: unknown[] = []): Kind | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : 'number'
  if (typeof value === 'string') return 'string'
  if (isDate(value)) return Number.isNaN(value.getTime()) ? undefined : 'date'
  if (!Array.isArray(value) || seen.includes(value)) return undefined
  seen.push(value)
  // A hole holds nothing that has a place; Array.from shows it as undefined, where `every` would pass over it.
  const elements: unknown[] = Array.from(value)
  return elements.every((element) => kindOf(element, seen) !== undefined) ? 'array' : undefined
}

/** Of two values that have a place in the order. */
function compare(one: unknown, other: unknown): number {
  const kind = kindOf(one)!
  const difference = KINDS.indexOf(kind) - KINDS.indexOf(kindOf(apart(other))!)
  if (difference !== 0) return difference
  if (kind !== 'array') return less(one, other) ? -1 : less(other, one) ? 1 : 0
  const [list, otherList] = [one as unknown[], other as unknown[]]
  const [first, ...rest] = list
  const [otherFirst, ...otherRest] = otherList
  if (list.length === 0 || otherList.length === 0) return list.length - otherList.length
  return compare(first, otherFirst) || compare(rest, otherRest)
}

/** Strings are compared by their UTF-16 units, here as in IndexedDB. */
function less(one: unknown, other: unknown): boolean {
  return (one as number) < (other as number)
}

/** Through own fields of plain objects only: not the length of a string, not a field that an array carries. */
function fieldAt(value: unknown, path: string): unknown {
  const [field, ...rest] = path.split('.')
  if (!isPlainObject(value) || !Object.hasOwn(value, field!)) return undefined
  return rest.length === 0 ? value[field!] : fieldAt(value[field!], rest.join('.'))
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Not `instanceof`: while the clock stands still, `Date` is not the class that a clone is of. */
function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]'
}
