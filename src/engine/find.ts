import type { Document, Page, Question } from '../protocol.js'
import { fromBookmark, toBookmark } from './bookmark.js'
import type { Position } from './bookmark.js'
import { census } from './census.js'
import { everyId } from './layout.js'
import type { DocumentRecord } from './life.js'
import { matcher } from './match.js'
import { compare, isSortable } from './order.js'
import { at } from './path.js'
import { result } from './request.js'
import type { Shelf } from './shelf.js'

/** How many records are read at once. */
const CHUNK = 500

/** The live documents that a question asks for, from the place where the last page ended. */
export function find(shelf: Shelf, question: Question, after?: string): Promise<Page> {
  const { orderBy } = question
  const start = after === undefined ? undefined : fromBookmark(after, orderBy !== undefined, shelf.shape.name)
  return orderBy === undefined ? inOrderOfIds(shelf, question, start) : inOrderOf(orderBy, shelf, question, start)
}

/** How many live documents match; those of a whole collection are counted without being read. */
export async function count(shelf: Shelf, { where = {}, orderBy }: Question): Promise<number> {
  if (orderBy === undefined && Object.keys(where).length === 0) return (await census(shelf)).live
  const matches = matcher(where)
  let matching = 0
  for await (const { live } of upwards(shelf, everyId())) {
    for (const doc of live) {
      if (matches(doc) && (orderBy === undefined || isSortable(at(doc, orderBy)))) matching++
    }
  }
  return matching
}

/** Reads until the page is full, however many dead ones lie between. */
async function inOrderOfIds(shelf: Shelf, question: Question, start?: Position): Promise<Page> {
  const { where, order = 'asc', limit = Infinity } = question
  const matches = matcher(where)
  const items: Document[] = []
  let read = 0
  const chunks =
    order === 'asc'
      ? upwards(shelf, start ? IDBKeyRange.lowerBound(start.id, true) : everyId(), limit)
      : downwards(shelf, start ? IDBKeyRange.bound('', start.id, false, true) : everyId())
  for await (const chunk of chunks) {
    read += chunk.read
    items.push(...chunk.live.filter(matches))
    // One more than was asked for shows that there is a next page.
    if (items.length > limit) {
      items.length = limit
      return { items, next: toBookmark({ id: items.at(-1)!.id }), read }
    }
  }
  return { items, read }
}

/** Sorts the matches in memory. Ties are broken by id, in the direction of the order. */
async function inOrderOf(orderBy: string, shelf: Shelf, question: Question, start?: Position): Promise<Page> {
  const { where, order = 'asc', limit = Infinity } = question
  const matches = matcher(where)
  const direction = order === 'asc' ? 1 : -1
  const inOrder = (a: Required<Position>, b: Required<Position>) =>
    direction * (compare(a.value, b.value) || compare(a.id, b.id))
  const rows: (Required<Position> & { doc: Document })[] = []
  let read = 0
  for await (const chunk of upwards(shelf, everyId())) {
    read += chunk.read
    for (const doc of chunk.live) {
      const value = at(doc, orderBy)
      if (!isSortable(value) || !matches(doc)) continue
      const row = { id: doc.id, value, doc }
      if (!start || inOrder(row, start as Required<Position>) > 0) rows.push(row)
    }
  }
  rows.sort(inOrder)
  const page = rows.slice(0, limit)
  const items = page.map((row) => row.doc)
  const last = page.at(-1)
  return last && rows.length > page.length ? { items, next: toBookmark(last), read } : { items, read }
}

interface Chunk {
  live: Document[]
  read: number
}

async function* upwards(shelf: Shelf, range: IDBKeyRange, wanted = CHUNK): AsyncGenerator<Chunk> {
  const size = Math.min(CHUNK, wanted + 1)
  let rest = range
  for (;;) {
    const records: DocumentRecord[] = await result(shelf.store.getAll(rest, size))
    yield chunk(shelf, records)
    const last = records.at(-1)
    if (!last || records.length < size) return
    rest = IDBKeyRange.lowerBound(last.doc.id, true)
  }
}

async function* downwards(shelf: Shelf, range: IDBKeyRange): AsyncGenerator<Chunk> {
  const request = shelf.store.openCursor(range, 'prev')
  for (let cursor = await result(request); cursor; cursor = await result(request)) {
    yield chunk(shelf, [cursor.value])
    cursor.continue()
  }
}

function chunk(shelf: Shelf, records: DocumentRecord[]): Chunk {
  const live = records.filter((record) => shelf.admits(record)).map((record) => record.doc)
  return { live, read: records.length }
}
