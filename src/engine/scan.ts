import type { DocumentRecord } from './life.js'
import type { Branch } from './plan.js'
import { result } from './request.js'

/** A place in a branch: the last record that was read there. */
export interface Place {
  key: IDBValidKey
  id: string
}

export type Direction = 'next' | 'prev'

type Target = IDBObjectStore | IDBIndex

/** Not in every browser yet; where it is, it is as fast as `getAll` and tells the keys. */
interface WithRecords {
  getAllRecords(options: { query: IDBKeyRange | undefined; count: number; direction: Direction }): IDBRequest<Found>
}

type Found = { key: IDBValidKey; primaryKey: IDBValidKey; value: DocumentRecord }[]

/** Records that have been asked for, the first of which are known already. */
interface Coming {
  request: Promise<Found>
  wanted: number
  known: number
}

/** Up to so many records are read once more, because they have the same key as the last. */
const TIES = 64

/** Reads a branch in its order, as many records at a time as are asked for. */
export class Scan {
  readonly #target: Target
  readonly #branch: Branch
  readonly #direction: Direction
  #range: IDBKeyRange | undefined
  #after: Place | undefined
  /** How many records at the beginning of the range, with the key of the place, have been read. */
  #ties = 0
  #coming: Coming | undefined
  #cursor: IDBCursorWithValue | null | undefined
  isDone = false

  constructor(store: IDBObjectStore, branch: Branch, direction: Direction, after?: Place) {
    const { name } = branch.source
    this.#target = name === null ? store : store.index(name)
    this.#branch = branch
    this.#direction = direction
    this.#range = branch.range
    this.#after = after
    if (after) this.#ties = Infinity
  }

  get #isById(): boolean {
    return this.#branch.source.name === null
  }

  /** So many records; with `isEager` the following ones are asked for before these are given. */
  async read(count: number, isEager = false): Promise<DocumentRecord[]> {
    if ('getAllRecords' in this.#target) return this.#inBulk(this.#target as Target & WithRecords, count, isEager)
    return this.#one(count)
  }

  async #inBulk(target: Target & WithRecords, count: number, isEager: boolean): Promise<DocumentRecord[]> {
    if (this.#after && this.#ties > TIES) return this.#pastTies(this.#after, count, isEager)
    const { request, wanted, known } = this.#coming ?? this.#ask(target, count)
    this.#coming = undefined
    const found = await request
    const last = found.at(-1)
    if (!last || found.length < wanted) this.isDone = true
    else {
      this.#after = { key: last.key, id: last.primaryKey as string }
      this.#ties = this.#isById ? 0 : ties(found)
      if (this.#ties <= TIES) this.isDone = !this.#leave(last.key, this.#ties > 0)
      if (isEager && !this.isDone && this.#ties <= TIES) this.#coming = this.#ask(target, count)
    }
    const records = found.map(({ value }) => value)
    return known > 0 ? records.slice(known) : records
  }

  /** Those with the key of the last come once more. */
  #ask(target: Target & WithRecords, count: number): Coming {
    const known = this.#ties
    const wanted = count + known
    const request = result(target.getAllRecords({ query: this.#range, count: wanted, direction: this.#direction }))
    // It may fail before anybody waits for it.
    request.catch(() => undefined)
    return { request, wanted, known }
  }

  /** Where very many have the same key, or nobody knows how many, a cursor finds the place among them. */
  async #pastTies(after: Place, count: number, isEager: boolean): Promise<DocumentRecord[]> {
    const records = this.#isById ? [] : await this.#readTies(after, count)
    if (records.length === count) return records
    this.#ties = 0
    this.isDone = !this.#leave(after.key, false)
    return records.length > 0 || this.isDone ? records : this.read(count, isEager)
  }

  /** The records of the same key that come after the place. */
  async #readTies({ key, id }: Place, count: number): Promise<DocumentRecord[]> {
    const records: DocumentRecord[] = []
    const request = this.#target.openCursor(IDBKeyRange.only(key), this.#direction)
    let cursor = await this.#pass(request, { key, id })
    while (cursor) {
      records.push(cursor.value as DocumentRecord)
      this.#after = { key, id: cursor.primaryKey as string }
      if (records.length === count) break
      cursor.continue()
      cursor = await result(request)
    }
    return records
  }

  /** From the first record on, to the first after the place. */
  async #pass(request: IDBRequest<IDBCursorWithValue | null>, { key, id }: Place): Promise<IDBCursorWithValue | null> {
    let cursor = await result(request)
    const isBefore = (at: IDBCursor) => {
      const order = indexedDB.cmp(at.key, key) || indexedDB.cmp(at.primaryKey, id)
      return this.#direction === 'next' ? order < 0 : order > 0
    }
    if (cursor && isBefore(cursor)) {
      if (this.#isById) cursor.continue(id)
      else cursor.continuePrimaryKey(key, id)
      cursor = await result(request)
    }
    if (cursor && indexedDB.cmp(cursor.primaryKey, id) === 0 && indexedDB.cmp(cursor.key, key) === 0) {
      cursor.continue()
      cursor = await result(request)
    }
    return cursor
  }

  /** Goes on behind a key, or with it; false when nothing of the range lies there. */
  #leave(key: IDBValidKey, isKept: boolean): boolean {
    const { lower, lowerOpen, upper, upperOpen } = this.#range ?? {}
    const end = this.#direction === 'next' ? upper : lower
    const isEndOpen = this.#direction === 'next' ? upperOpen : lowerOpen
    if (end !== undefined) {
      const left = indexedDB.cmp(end, key) * (this.#direction === 'next' ? 1 : -1)
      if (left < 0 || (left === 0 && !isKept)) return false
    }
    this.#range =
      this.#direction === 'next'
        ? end === undefined
          ? IDBKeyRange.lowerBound(key, !isKept)
          : IDBKeyRange.bound(key, end, !isKept, isEndOpen)
        : end === undefined
          ? IDBKeyRange.upperBound(key, !isKept)
          : IDBKeyRange.bound(end, key, isEndOpen, !isKept)
    return true
  }

  /** Where nothing reads many with their keys, a cursor goes from one to the next. */
  async #one(count: number): Promise<DocumentRecord[]> {
    const records: DocumentRecord[] = []
    let cursor = this.#cursor
    if (cursor === undefined) {
      const request = this.#target.openCursor(this.#range, this.#direction)
      cursor = this.#after ? await this.#pass(request, this.#after) : await result(request)
    } else if (cursor) {
      cursor.continue()
      cursor = await result(cursor.request as IDBRequest<IDBCursorWithValue | null>)
    }
    while (cursor) {
      records.push(cursor.value as DocumentRecord)
      if (records.length === count) break
      cursor.continue()
      cursor = await result(cursor.request as IDBRequest<IDBCursorWithValue | null>)
    }
    this.#cursor = cursor
    this.isDone = cursor === null
    return records
  }
}

/** How many at the end have the key of the last. */
function ties(found: Found): number {
  const { key } = found.at(-1)!
  let at = found.length - 1
  while (at > 0 && found.length - at <= TIES && indexedDB.cmp(found[at - 1]!.key, key) === 0) at--
  return found.length - at
}
