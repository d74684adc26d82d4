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
  getAllRecords(options: {
    query: IDBKeyRange | undefined
    count: number
    direction: Direction
  }): IDBRequest<{ key: IDBValidKey; primaryKey: IDBValidKey; value: DocumentRecord }[]>
}

/** Reads a branch in its order, as many records at a time as are asked for. */
export class Scan {
  readonly #target: Target
  readonly #branch: Branch
  readonly #direction: Direction
  #range: IDBKeyRange | undefined
  #after: Place | undefined
  #cursor: IDBCursorWithValue | null | undefined
  isDone = false

  constructor(store: IDBObjectStore, branch: Branch, direction: Direction, after?: Place) {
    const { name } = branch.source
    this.#target = name === null ? store : store.index(name)
    this.#branch = branch
    this.#direction = direction
    this.#range = branch.range
    this.#after = after
  }

  async read(count: number): Promise<DocumentRecord[]> {
    if ('getAllRecords' in this.#target) return this.#inBulk(this.#target as Target & WithRecords, count)
    return this.#one(count)
  }

  async #inBulk(target: Target & WithRecords, count: number): Promise<DocumentRecord[]> {
    const after = this.#after
    const ties = after && this.#branch.source.name !== null ? await this.#ties(after, count) : []
    if (ties.length === count) return ties
    if (after && !this.#leave(after)) {
      this.isDone = true
      return ties
    }
    const wanted = count - ties.length
    const found = await result(target.getAllRecords({ query: this.#range, count: wanted, direction: this.#direction }))
    const last = found.at(-1)
    if (!last || found.length < wanted) this.isDone = true
    else this.#after = { key: last.key, id: last.primaryKey as string }
    const records = found.map(({ value }) => value)
    return ties.length > 0 ? [...ties, ...records] : records
  }

  /** The records of the same key that come after the place. */
  async #ties({ key, id }: Place, count: number): Promise<DocumentRecord[]> {
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
      if (this.#branch.source.name === null) cursor.continue(id)
      else cursor.continuePrimaryKey(key, id)
      cursor = await result(request)
    }
    if (cursor && indexedDB.cmp(cursor.primaryKey, id) === 0 && indexedDB.cmp(cursor.key, key) === 0) {
      cursor.continue()
      cursor = await result(request)
    }
    return cursor
  }

  /** Goes on behind a key; false when nothing of the range lies there. */
  #leave({ key }: Place): boolean {
    const { lower, lowerOpen, upper, upperOpen } = this.#range ?? {}
    const end = this.#direction === 'next' ? upper : lower
    const isEndOpen = this.#direction === 'next' ? upperOpen : lowerOpen
    if (end !== undefined) {
      const left = indexedDB.cmp(end, key) * (this.#direction === 'next' ? 1 : -1)
      if (left <= 0) return false
    }
    this.#range =
      this.#direction === 'next'
        ? end === undefined
          ? IDBKeyRange.lowerBound(key, true)
          : IDBKeyRange.bound(key, end, true, isEndOpen)
        : end === undefined
          ? IDBKeyRange.upperBound(key, true)
          : IDBKeyRange.bound(end, key, isEndOpen, true)
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
