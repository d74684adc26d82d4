import type { Stored } from '../document.js'
import type { Operation, Question } from '../protocol.js'
import type { Queue } from './queue.js'
import { toQuestion } from './question.js'

/** How many documents `for await` reads at a time. */
const PAGE = 500

export interface Page<T> {
  items: Stored<T>[]
  /** Give it to `page()` for the following page. Absent on the last one. */
  next?: string
}

/** How a query was answered. */
export interface Explanation {
  /** The index that was used; null: the whole collection was read. */
  index: string | null
  direction: 'asc' | 'desc'
  /** How many records were read, the expired ones among them included. */
  read: number
  returned: number
  /** Whether the matches had to be sorted in memory. */
  sorted: boolean
}

/** A question to a collection. Plain data: nothing runs until it is asked. */
export class Query<T> implements AsyncIterable<Stored<T>> {
  readonly #queue: Queue
  readonly #collection: string
  readonly #options: unknown

  /** @internal */
  constructor(queue: Queue, collection: string, options: unknown) {
    this.#queue = queue
    this.#collection = collection
    this.#options = options
  }

  async get(): Promise<Stored<T>[]> {
    return (await this.#find()).items
  }

  /** The first match, or undefined. */
  async first(): Promise<Stored<T> | undefined> {
    return (await this.#find({ limit: 1 })).items[0]
  }

  /** How many match; `limit` is ignored. */
  async count(): Promise<number> {
    return (await this.#queue.call(() => ({ ...this.#ask(), verb: 'count' }))) as number
  }

  /** As many matches as `limit` says, after those of the page before. A page is full unless it is the last. */
  async page(after?: string): Promise<Page<T>> {
    const { read: _, ...page } = await this.#find({}, after)
    return page
  }

  async explain(): Promise<Explanation> {
    const { items, read } = await this.#find()
    const { orderBy, order = 'asc' } = this.#ask().question
    return { index: null, direction: order, read, returned: items.length, sorted: orderBy !== undefined }
  }

  /** Reads page by page. What is written meanwhile is seen where it lies ahead. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Stored<T>, void, undefined> {
    this.#queue.checkOpen()
    const { limit = Infinity } = this.#ask().question
    let given = 0
    let after: string | undefined
    do {
      const { items, next } = await this.#find({ limit: Math.min(PAGE, limit - given) }, after)
      yield* items
      given += items.length
      after = next
    } while (after !== undefined && given < limit)
  }

  async #find(overrides: Partial<Question> = {}, after?: string): Promise<Page<T> & { read: number }> {
    return (await this.#queue.call((): Operation => {
      const { question, ...asked } = this.#ask()
      return { ...asked, verb: 'find', question: { ...question, ...overrides }, after }
    })) as Page<T> & { read: number }
  }

  #ask(): { collection: string; question: Question } {
    return { collection: this.#collection, question: toQuestion(this.#options, this.#collection) }
  }
}
