import type { IndexShape } from '../protocol.js'
import type { Conjunction, Fact } from './facts.js'
import { everyId, indexName } from './layout.js'
import { ARRAYS, BROKEN, GAPS, ODD, SCALARS, ZEROS } from './life.js'
import type { Kinds } from './life.js'
import type { Sortable } from './order.js'
import { compoundRange, everyScalar, exactly, rangeOf } from './span.js'

/** Where records are read in an order: an index, or the collection by id. */
export interface Source {
  /** Null: the collection itself. */
  name: string | null
  paths: string[]
  isCompound: boolean
}

/** A stretch of a source. */
export interface Branch {
  source: Source
  range: IDBKeyRange | undefined
  /** The values that the key of every record here begins with. */
  prefix: Sortable[]
  /** The one key of all records here, which are in the order of their ids; absent: they are in the order of their keys. */
  key?: Sortable
  /** Just these, of the collection. */
  ids?: string[]
}

/** A way to come by what is asked for: one stretch, or several at once. */
export interface Way {
  branches: Branch[]
  /** Every branch is in the order of the question. */
  isOrdered: boolean
  /** How many fields narrow it down. */
  facts: number
  /** Everything that was said of any field has been used. */
  covers: boolean
  /** Every live record in it is a match, so that keys can be counted. */
  isExact: boolean
  /** A record may be in several of the branches. */
  mayRepeat: boolean
  /** What to call it, where its branches do not tell. */
  index?: string
}

export interface Terrain {
  indexes: IndexShape[]
  kinds: Kinds
  orderBy: string | undefined
}

const STORE: Source = { name: null, paths: ['id'], isCompound: false }

/** More points than this are not looked up one by one. */
const MANY = 2000

/** All ways to the documents that meet some conditions; reading the whole collection is the last. */
export function waysTo(conjunction: Conjunction, terrain: Terrain): Way[] {
  const ways = terrain.indexes.flatMap((index) => through(sourceOf(index), conjunction, terrain))
  return [...ways, ...byId(conjunction, terrain)]
}

/** The ways to any of several: together each by its best, or in one go in the order of the question. */
export function waysToAny(conjunctions: Conjunction[], terrain: Terrain): Way[] {
  const unconditional: Conjunction = { facts: new Map(), isAll: false }
  const whole = waysTo(unconditional, terrain).map((way) => ({ ...way, covers: false }))
  const each = conjunctions.map((conjunction) => narrowest(waysTo(conjunction, terrain))!)
  const branches = each.flatMap((way) => way.branches)
  if (each.some((way) => way.facts === 0) || branches.length > MANY) return whole
  return [
    {
      branches,
      isOrdered: each.every((way) => way.isOrdered),
      facts: Math.min(...each.map((way) => way.facts)),
      covers: each.every((way) => way.covers),
      isExact: each.every((way) => way.isExact),
      mayRepeat: true,
    },
    ...whole,
  ]
}

/** The way that looks best without counting anything. */
export function narrowest(ways: Way[]): Way | undefined {
  const worth = (way: Way) =>
    (way.covers && way.isOrdered ? 1000 : 0) + way.facts * 10 + (way.covers ? 5 : 0) + (way.isOrdered ? 1 : 0)
  return ways.reduce<Way | undefined>((best, way) => (!best || worth(way) > worth(best) ? way : best), undefined)
}

export function sourceOf(index: IndexShape): Source {
  return { name: indexName(index), paths: index.paths, isCompound: index.paths.length > 1 }
}

function through(source: Source, conjunction: Conjunction, terrain: Terrain): Way[] {
  const { facts } = conjunction
  const { paths, isCompound } = source
  const { orderBy, kinds } = terrain
  const kind = isCompound ? 0 : (kinds[paths[0]!] ?? 0)
  if (paths.some((path) => ((kinds[path] ?? 0) & ZEROS) !== 0)) return []
  const lists: Sortable[][] = []
  for (const path of paths) {
    const points = facts.get(path)?.points
    if (!points) break
    lists.push(points)
  }
  const next = paths[lists.length]
  const fact = next === undefined ? undefined : facts.get(next)
  const { span, element } = fact ?? {}
  if (!isCompound && !canServe(lists[0], fact, kind)) return []
  const used = lists.length + (span || (!isCompound && element !== undefined) ? 1 : 0)
  // One on a single field has an array at each of its elements, and an empty one nowhere.
  if (used === 0 && (kind & ARRAYS) !== 0) return []
  // A document that lacks one of the fields is not in the index, so each must be known to be there.
  const isComplete = (path: string) => used > 0 && ((kinds[path] ?? 0) & GAPS) === 0
  const isThere = (path: string) =>
    path === orderBy || facts.get(path)?.points || facts.get(path)?.span || isComplete(path)
  if (!paths.slice(used).every(isThere)) return []

  const prefixes = product(lists)
  if (!prefixes) return []
  const isPoint = lists.length === paths.length
  const hasElements = !isCompound && !span && element !== undefined && !isPoint
  const varies = next !== undefined && next === orderBy && lists.length === paths.length - 1 && !hasElements
  const isOrdered = varies || ((isPoint || hasElements) && isOrderedById(orderBy, paths, isPoint))
  const covers = [...facts.keys()].every((path) => paths.indexOf(path) >= 0 && paths.indexOf(path) < used)
  const isPure =
    !paths.some((path) => ((kinds[path] ?? 0) & ODD) !== 0) && (kind & (hasElements ? SCALARS : ARRAYS)) === 0
  return [
    {
      branches: prefixes.flatMap((prefix): Branch[] => {
        const range = rangeIn(source, prefix, span, element)
        const key = isPoint ? { key: isCompound ? prefix : prefix[0]! } : hasElements ? { key: element } : {}
        return range === null ? [] : [{ source, range, prefix, ...key }]
      }),
      isOrdered,
      facts: used,
      covers,
      isExact:
        covers && isPure && conjunction.isAll && isOrderedByOneOf(orderBy, isCompound ? paths.slice(0, used) : paths),
      mayRepeat: false,
    },
  ]
}

/** By element, an index knows no array as a whole, and some arrays not at all. */
function canServe(points: Sortable[] | undefined, fact: Fact | undefined, kind: number): boolean {
  if (points) return !points.some((point) => Array.isArray(point))
  if (fact?.span) return !Array.isArray(fact.span.lower)
  return fact?.element === undefined || (kind & BROKEN) === 0
}

function isOrderedByNothing(orderBy: string | undefined): boolean {
  return orderBy === undefined || orderBy === 'id'
}

/** Records with one and the same key are in the order of their ids. */
function isOrderedById(orderBy: string | undefined, paths: string[], isPoint: boolean): boolean {
  return isPoint ? isOrderedByOneOf(orderBy, paths) : isOrderedByNothing(orderBy)
}

function isOrderedByOneOf(orderBy: string | undefined, paths: string[]): boolean {
  return isOrderedByNothing(orderBy) || paths.includes(orderBy!)
}

function rangeIn(
  { isCompound, paths }: Source,
  prefix: Sortable[],
  span: Fact['span'],
  element: Sortable | undefined,
): IDBKeyRange | undefined | null {
  if (isCompound) return compoundRange(prefix, span, prefix.length + (span ? 1 : 0) === paths.length)
  if (prefix.length > 0) return exactly(prefix[0]!)
  if (span) return rangeOf(span)
  return element === undefined ? everyScalar() : exactly(element)
}

/** By id. An id is a string: other keys of the collection are the store's own. */
function byId(conjunction: Conjunction, { orderBy }: Terrain): Way[] {
  const fact = conjunction.facts.get('id')
  const ids = fact?.points?.filter((point) => typeof point === 'string')
  const branches = ids ? [branchOfIds(ids)] : rangesOfIds(fact).map((range) => ({ source: STORE, range, prefix: [] }))
  const isNarrow = ids !== undefined || fact?.span !== undefined
  const covers = [...conjunction.facts.keys()].every((path) => path === 'id' && isNarrow)
  const isOrdered = isOrderedByNothing(orderBy)
  const isExact = covers && conjunction.isAll && isOrdered
  return [{ branches, isOrdered, facts: isNarrow ? 1 : 0, covers, isExact, mayRepeat: false }]
}

export function branchOfIds(ids: string[]): Branch {
  return { source: STORE, range: undefined, prefix: [], ids }
}

function rangesOfIds(fact: Fact | undefined): IDBKeyRange[] {
  if (!fact?.span) return [everyId()]
  return typeof fact.span.lower === 'string' ? [rangeOf(fact.span)] : []
}

/** Every choice of one from each list; undefined when there are too many. */
function product(lists: Sortable[][]): Sortable[][] | undefined {
  const size = lists.reduce((sum, list) => sum * list.length, 1)
  if (size > MANY) return undefined
  return lists.reduce<Sortable[][]>(
    (prefixes, list) => prefixes.flatMap((prefix) => list.map((value) => [...prefix, value])),
    [[]],
  )
}
