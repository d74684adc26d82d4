import type { DocumentRecord } from './life.js'
import { results } from './request.js'
import type { Direction } from './scan.js'

/** Reads the records of some ids, in the order of the ids. */
export class List {
  readonly #store: IDBObjectStore
  readonly #ids: string[]
  #at = 0

  constructor(store: IDBObjectStore, ids: string[], direction: Direction, after?: string) {
    this.#store = store
    const sorted = ids.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const rest = after === undefined ? sorted : sorted.filter((id) => (direction === 'next' ? id > after : id < after))
    this.#ids = direction === 'next' ? rest : rest.toReversed()
  }

  get isDone(): boolean {
    return this.#at >= this.#ids.length
  }

  async read(count: number): Promise<DocumentRecord[]> {
    const some = this.#ids.slice(this.#at, this.#at + count)
    this.#at += some.length
    const found = await results<DocumentRecord | undefined>(some.map((id) => this.#store.get(id)))
    return found.filter((record) => record !== undefined)
  }
}
