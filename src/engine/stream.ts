import type { Document, Question } from '../protocol.js'
import type { Position } from './bookmark.js'
import { List } from './list.js'
import type { DocumentRecord } from './life.js'
import { matcher } from './match.js'
import { compare, isSortable } from './order.js'
import type { Sortable } from './order.js'
import { reader } from './path.js'
import type { Branch, Way } from './plan.js'
import { Scan } from './scan.js'
import type { Direction, Place } from './scan.js'
import type { Shelf } from './shelf.js'

/** A match, with its place in the order of the question: without `orderBy` that is its id. */
export interface Row {
  id: string
  value: Sortable
  record: DocumentRecord
}

/** How many records are read at once, at most. */
const CHUNK = 5000

/** Where everything is read, the first few are wanted soon: while they are handed over the others are read. */
const FIRST = 500

/** What a question makes of records. */
export class Sieve {
  readonly orderBy: string | undefined
  readonly direction: Direction
  readonly #matches: ReturnType<typeof matcher>
  readonly #place: (doc: Document) => unknown
  readonly #sign: 1 | -1

  constructor({ where, orderBy, order = 'asc' }: Question) {
    this.orderBy = orderBy === 'id' ? undefined : orderBy
    this.direction = order === 'asc' ? 'next' : 'prev'
    this.#sign = order === 'asc' ? 1 : -1
    this.#matches = matcher(where)
    this.#place = reader(this.orderBy ?? 'id')
  }

  /** The row of a record, unless it is no match. Whether it is alive is another question. */
  row(record: DocumentRecord): Row | undefined {
    const { doc } = record
    if (!this.#matches(doc)) return undefined
    const value = this.#place(doc)
    return isSortable(value) ? { id: doc.id, value, record } : undefined
  }

  /** Ties are broken by id, in the direction of the order. */
  readonly order = (a: Omit<Row, 'record'>, b: Omit<Row, 'record'>): number =>
    this.#sign * ((this.orderBy === undefined ? 0 : compare(a.value, b.value)) || compare(a.id, b.id))
}

interface Lane {
  reader: { isDone: boolean; read(count: number, isEager?: boolean): Promise<DocumentRecord[]> }
  rows: Row[]
  at: number
}

/** The matches of a way whose branches are in the order of the question, in that order. */
export class Stream {
  readonly rows: Row[] = []
  read = 0
  readonly #shelf: Shelf
  readonly #sieve: Sieve
  readonly #given: Set<string> | undefined
  readonly #isEager: boolean
  #lanes: Lane[]
  #size: number

  constructor(shelf: Shelf, way: Way, sieve: Sieve, limit: number, start?: Position) {
    this.#shelf = shelf
    this.#sieve = sieve
    this.#lanes = way.branches.flatMap((branch) => laneOf(shelf, branch, sieve, start))
    this.#given = way.mayRepeat ? new Set() : undefined
    const share = this.#lanes.length > 1 ? Math.ceil((limit + 1) / this.#lanes.length) + 1 : limit + 1
    this.#isEager = limit === Infinity && this.#lanes.length === 1
    this.#size = this.#isEager ? FIRST : Math.min(CHUNK, share)
  }

  get isDone(): boolean {
    return this.#lanes.length === 0
  }

  /** Goes on until there are more rows than were asked for, or so many records were read, or there are no more. */
  async advance(limit: number, budget = Infinity): Promise<void> {
    while (this.rows.length <= limit && this.read < budget) {
      const empty = this.#lanes.filter((lane) => lane.at === lane.rows.length)
      if (empty.length > 0) await this.#fill(empty)
      this.#lanes = this.#lanes.filter((lane) => lane.at < lane.rows.length || !lane.reader.isDone)
      if (this.isDone) return
      if (this.#lanes.every((lane) => lane.at < lane.rows.length)) this.#merge(limit)
    }
  }

  /** Hands over, part by part, what there is. */
  async each(give: (rows: Row[]) => void): Promise<void> {
    while (!this.isDone) {
      await this.advance(Infinity, this.read + 1)
      give(this.rows.splice(0))
    }
  }

  async #fill(lanes: Lane[]): Promise<void> {
    const size = this.#size
    this.#size = Math.min(CHUNK, size * 2)
    const open = lanes.filter((lane) => !lane.reader.isDone)
    const found = await Promise.all(open.map((lane) => lane.reader.read(size, this.#isEager)))
    for (const [at, lane] of open.entries()) {
      this.read += found[at]!.length
      lane.rows = live(this.#shelf, found[at]!, this.#sieve)
      lane.at = 0
    }
  }

  /** Takes the first of all lanes, again and again, until one of them has to be filled. */
  #merge(limit: number): void {
    const lanes = this.#lanes
    const [only, ...others] = lanes as [Lane, ...Lane[]]
    if (others.length === 0) {
      this.#give(only.rows.slice(only.at))
      only.at = only.rows.length
      return
    }
    const order = (a: Lane, b: Lane) => this.#sieve.order(a.rows[a.at]!, b.rows[b.at]!)
    lanes.sort(order)
    while (this.rows.length <= limit && lanes.length > 0) {
      const first = lanes.shift()!
      this.#give([first.rows[first.at++]!])
      const isEmpty = first.at === first.rows.length
      if (isEmpty && first.reader.isDone) continue
      let [low, high] = [0, isEmpty ? 0 : lanes.length]
      while (low < high) {
        const middle = (low + high) >>> 1
        if (order(lanes[middle]!, first) < 0) low = middle + 1
        else high = middle
      }
      lanes.splice(low, 0, first)
      if (isEmpty) return
    }
  }

  #give(rows: Row[]): void {
    for (const row of rows) {
      if (this.#given?.has(row.id)) continue
      this.#given?.add(row.id)
      this.rows.push(row)
    }
  }
}

/** The live matches among some records. */
export function live(shelf: Shelf, records: DocumentRecord[], sieve: Sieve): Row[] {
  const rows: Row[] = []
  for (const record of records) {
    const row = sieve.row(record)
    if (row && shelf.admits(record)) rows.push(row)
  }
  return rows
}

function laneOf(shelf: Shelf, branch: Branch, sieve: Sieve, start: Position | undefined): Lane[] {
  const { direction } = sieve
  const place = start && placeIn(branch, start, sieve)
  if (place === null) return []
  const reader = branch.ids
    ? new List(shelf.store, branch.ids, direction, start?.id)
    : new Scan(shelf.store, branch, direction, place)
  return [{ reader, rows: [], at: 0 }]
}

/** Where in an ordered branch a page goes on; undefined: at its beginning; null: it has ended before. */
function placeIn({ source, prefix, key }: Branch, start: Position, sieve: Sieve): Place | undefined | null {
  const { id, value = id } = start
  const { orderBy } = sieve
  if (key === undefined) return { id, key: source.name === null ? id : source.isCompound ? [...prefix, value] : value }
  if (orderBy === undefined) return { key, id }
  const order = sieve.order({ id, value: prefix[source.paths.indexOf(orderBy)]! }, { id, value })
  return order === 0 ? { key, id } : order < 0 ? null : undefined
}
