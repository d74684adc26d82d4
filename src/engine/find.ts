import type { Document, Page, Question } from '../protocol.js'
import { fromBookmark, toBookmark } from './bookmark.js'
import type { Position } from './bookmark.js'
import { alternatives } from './facts.js'
import { branchOfIds, narrowest, waysTo, waysToAny } from './plan.js'
import type { Way } from './plan.js'
import { List } from './list.js'
import { result, results } from './request.js'
import { Scan } from './scan.js'
import type { Shelf } from './shelf.js'
import { live, Sieve, Stream } from './stream.js'
import type { Row } from './stream.js'

/** How many records, or keys, are looked at before another way is considered. */
const TRIAL = 256

/** Keys of more ways than one are compared up to this many. */
const PROBE_AT_MOST = 16_384

/** How many records are read at once where the order does not matter, and from how many branches. */
const CHUNK = 5000
const ABREAST = 50

/** Takes documents of a result before it is complete. */
export type Ahead = (items: Document[]) => void

/** What was found, and how. */
export interface Found {
  rows: Row[]
  hasMore: boolean
  read: number
  index: string | null
  isSorted: boolean
}

/**
 * The live documents that a question asks for, from the place where the last page ended. Where they are found in their
 * order, and all of them are wanted, most are given ahead of the answer.
 */
export async function find(shelf: Shelf, question: Question, after?: string, ahead?: Ahead): Promise<Page> {
  const { orderBy } = question
  const start = after === undefined ? undefined : fromBookmark(after, orderBy !== undefined, shelf.shape.name)
  const give = ahead && question.limit === undefined ? (found: Row[]) => ahead(found.map(toDocument)) : undefined
  const { rows, hasMore, isSorted } = await search(shelf, question, start, give)
  const page = { items: rows.map(toDocument), isSorted, defaultTtl: shelf.setting.defaultTtl }
  const last = rows.at(-1)
  if (!last || !hasMore) return page
  return { ...page, next: toBookmark(orderBy === undefined ? { id: last.id } : last) }
}

function toDocument({ record }: Row): Document {
  return record.doc
}

export function waysFor(shelf: Shelf, { where, orderBy }: Question): Way[] {
  const conjunctions = alternatives(where)
  const { indexes } = shelf.shape
  const terrain = { indexes, kinds: shelf.setting.kinds, orderBy }
  const [only] = conjunctions
  return only && conjunctions.length === 1 ? waysTo(only, terrain) : waysToAny(conjunctions, terrain)
}

/** Finds the rows by the way that reads least, as far as that can be told without reading much. */
export async function search(
  shelf: Shelf,
  question: Question,
  start?: Position,
  give?: (rows: Row[]) => void,
): Promise<Found> {
  const { limit = Infinity } = question
  const sieve = new Sieve(question)
  const ways = waysFor(shelf, question)
  const ordered = narrowest(ways.filter((way) => way.isOrdered))
  const narrow = ways.filter((way) => way.facts > 0)
  const isPlain = ordered && (ordered.covers || narrow.length === 0)
  if (ordered && !isPlain && limit < Infinity) {
    const stream = new Stream(shelf, ordered, sieve, limit, start)
    return race(shelf, stream, ordered, narrow, { sieve, limit, start })
  }
  const way = isPlain ? ordered : await smallest(shelf, narrow.length > 0 ? narrow : ways, sieve)
  if (!way.isOrdered) return collect(shelf, way, sieve, limit, start)
  const stream = new Stream(shelf, way, sieve, limit, start)
  if (give) await stream.each(give)
  else await stream.advance(limit)
  return found(stream.rows, limit, stream.read, way, false)
}

/** A way for everything to be read, in whatever order. */
export function wayToAll(shelf: Shelf, question: Question, sieve: Sieve): Promise<Way> {
  const ways = waysFor(shelf, question)
  const narrow = ways.filter((way) => way.facts > 0)
  return smallest(shelf, narrow.length > 0 ? narrow : ways, sieve)
}

/**
 * Nobody knows which is less: to go along the order until enough have matched, or to read all that an index
 * narrows down to, and sort them. So each is tried a little further in turn, until one of them is through.
 */
async function race(
  shelf: Shelf,
  stream: Stream,
  ordered: Way,
  narrow: Way[],
  { sieve, limit, start }: { sieve: Sieve; limit: number; start: Position | undefined },
): Promise<Found> {
  const others = narrow.filter((way) => way !== ordered)
  for (let budget = TRIAL; ; budget *= 4) {
    // One that nothing narrows down begins with what may be far from any match.
    if (ordered.facts > 0 || budget > TRIAL) await stream.advance(limit, budget / 4)
    if (stream.rows.length > limit || stream.isDone) return found(stream.rows, limit, stream.read, ordered, false)
    const way = await least(shelf, others, budget, sieve)
    if (!way) continue
    const collected = await collect(shelf, way, sieve, limit, start)
    return { ...collected, read: collected.read + stream.read }
  }
}

/** Reads everything and sorts it. No more is kept than can be part of the answer. */
async function collect(shelf: Shelf, way: Way, sieve: Sieve, limit: number, start?: Position): Promise<Found> {
  const after = start && { id: start.id, value: start.value ?? start.id }
  let rows: Row[] = []
  let read = 0
  for await (const batch of matches(shelf, way, sieve)) {
    read += batch.read
    for (const row of batch.rows) if (!after || sieve.order(row, after) > 0) rows.push(row)
    if (rows.length > 2 * limit + CHUNK) rows = rows.sort(sieve.order).slice(0, limit + 1)
  }
  rows.sort(sieve.order)
  return found(rows, limit, read, way, true)
}

/** All live matches of a way, in no order. */
export async function* matches(shelf: Shelf, way: Way, sieve: Sieve): AsyncGenerator<{ rows: Row[]; read: number }> {
  const seen = way.mayRepeat ? new Set<string>() : undefined
  const isNew = ({ id }: Row) => !seen?.has(id) && Boolean(seen?.add(id) ?? true)
  for (let from = 0; from < way.branches.length; from += ABREAST) {
    let readers = way.branches
      .slice(from, from + ABREAST)
      .map((branch) => (branch.ids ? new List(shelf.store, branch.ids, 'next') : new Scan(shelf.store, branch, 'next')))
    while ((readers = readers.filter((reader) => !reader.isDone)).length > 0) {
      const size = Math.ceil(CHUNK / readers.length)
      for (const records of await Promise.all(readers.map((reader) => reader.read(size)))) {
        yield { rows: live(shelf, records, sieve).filter(isNew), read: records.length }
      }
    }
  }
}

function found(rows: Row[], limit: number, read: number, way: Way, isSorted: boolean): Found {
  const names = new Set(way.branches.map(({ source, ids }) => source.name ?? (ids || way.facts > 0 ? 'id' : null)))
  const index = names.has(null) || names.size === 0 ? null : [...names].join(' or ')
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit, read, index: way.index ?? index, isSorted }
}

/** The way with the fewest records, where there are several. */
async function smallest(shelf: Shelf, ways: Way[], sieve: Sieve): Promise<Way> {
  const best = narrowest(ways)!
  if (ways.length === 1 || best.covers) return best
  for (let budget = TRIAL; budget <= PROBE_AT_MOST; budget *= 8) {
    const way = await least(shelf, ways, budget, sieve)
    if (way) return way
  }
  return best
}

/**
 * The way with the fewest records, provided that there are fewer than so many; undefined when there are more. To look
 * records up one by one costs about four times as much as to read a stretch of them, so what two ways have in common is
 * read by itself only where that is much less than either.
 */
async function least(shelf: Shelf, ways: Way[], budget: number, sieve: Sieve): Promise<Way | undefined> {
  const keys = await Promise.all(ways.map((way) => keysOf(shelf, way, budget)))
  const small = ways
    .map((way, at) => ({ way, ids: keys[at]! }))
    .filter(({ ids }) => ids.length < budget)
    .toSorted((a, b) => a.ids.length - b.ids.length)
  const [first, second] = small
  if (!first || !second) return first?.way
  const shared = new Set(second.ids)
  const common = [...new Set(first.ids)].filter((id) => shared.has(id))
  if (common.length * 5 > first.ids.length || first.ids.length - common.length < 20) return first.way
  return {
    ...first.way,
    branches: [branchOfIds(common)],
    isOrdered: sieve.orderBy === undefined,
    mayRepeat: false,
    index: `${nameOf(first.way)} and ${nameOf(second.way)}`,
  }
}

function nameOf({ branches }: Way): string {
  return branches[0]?.source.name ?? 'id'
}

/** The ids that a way leads to, at least so many of them where there are more. */
export async function keysOf(shelf: Shelf, way: Way, atMost?: number): Promise<string[]> {
  const requests = way.branches.map(async ({ source, range, ids }) => {
    if (ids) return atMost === undefined ? present(shelf, ids) : ids
    const target = source.name === null ? shelf.store : shelf.store.index(source.name)
    return result(target.getAllKeys(range, atMost)) as Promise<string[]>
  })
  return (await Promise.all(requests)).flat()
}

async function present({ store }: Shelf, ids: string[]): Promise<string[]> {
  const keys = await results(ids.map((id) => store.getKey(id)))
  return keys.filter((key) => key !== undefined) as string[]
}
