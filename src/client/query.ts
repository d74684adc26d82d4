import type { Stored } from '../document.js'
import type { Document, Explained, Operation, Page as Answer, Question } from '../protocol.js'
import { isTtl, toMilliseconds } from '../ttl.js'
import { fail, readable } from '../errors.js'
import type { MayflyError } from '../errors.js'
import type { Listener, Lives } from './live.js'
import type { Queue } from './queue.js'
import { toQuestion } from './question.js'

/** How many documents `for await` reads at a time. */
const PAGE = 500
const PAGE_AT_MOST = 8000

/** A part of a query's result. */
export interface Page<T> {
  /** The documents of this page, in the order of the query. */
  items: Stored<T>[]
  /** Give it to `page()` for the following page. Absent on the last one. */
  next?: string
}

type Found<T> = Page<T> & Pick<Answer, 'isSorted' | 'defaultTtl'>

/** How a query was answered. */
export interface Explanation {
  /** The index that was used, or the indexes; null: no index serves the query, and the collection was read by id. */
  index: string | null
  /** The order of the result. */
  direction: 'asc' | 'desc'
  /** How many records were read, the expired ones among them included. */
  read: number
  /** How many documents the answer has. */
  returned: number
  /** Whether the matches had to be sorted in memory. */
  sorted: boolean
}

/** A question to a collection. Plain data: nothing runs until it is asked. */
export class Query<T> implements AsyncIterable<Stored<T>> {
  readonly #queue: Queue
  readonly #lives: Lives
  readonly #collection: string
  readonly #options: unknown

  /** @internal */
  constructor(queue: Queue, lives: Lives, collection: string, options: unknown) {
    this.#queue = queue
    this.#lives = lives
    this.#collection = collection
    this.#options = options
  }

  /** The matches, as many as `limit` says or all. */
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
    const { items, next } = await this.#find({}, after)
    return next === undefined ? { items } : { items, next }
  }

  /** Answers the query, and says how that was done: a query that no index serves reads the whole collection. */
  async explain(): Promise<Explanation> {
    const explained = (await this.#queue.call(() => ({ ...this.#ask(), verb: 'explain' }))) as Explained
    return { direction: this.#ask().question.order ?? 'asc', ...explained }
  }

  /**
   * Calls back with the result now, and with every other result from then on: after a write, in this tab or another,
   * after a new setting, and at the moment at which a document expires. Several changes at once make one call. What has
   * not changed is the same object as before, so do not change it yourself. Returns its undo.
   */
  subscribe(listener: (docs: Stored<T>[]) => void, onError?: (error: MayflyError) => void): () => void {
    this.#queue.checkOpen()
    const { collection, question } = this.#ask()
    return this.#lives.subscribe(collection, question, listener as unknown as Listener, onError)
  }

  /** Reads page by page. What is written meanwhile is seen where it lies ahead; what expires meanwhile is not. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Stored<T>, void, undefined> {
    this.#queue.checkOpen()
    const { limit = Infinity } = this.#ask().question
    let size = PAGE
    let given = 0
    let after: string | undefined
    do {
      const { items, next, isSorted, defaultTtl } = await this.#find({ limit: Math.min(size, limit - given) }, after)
      for (const item of items) {
        if (!isAlive(item as unknown as Document, defaultTtl)) continue
        given++
        yield item
      }
      after = next
      // Where no index has the order, every page reads everything: then fewer of them are better.
      if (isSorted) size = Math.min(PAGE_AT_MOST, size * 4)
    } while (after !== undefined && given < limit)
  }

  async #find(overrides: Partial<Question> = {}, after?: string): Promise<Found<T>> {
    return (await this.#queue.call((): Operation => {
      const { question, ...asked } = this.#ask()
      if (after !== undefined && typeof after !== 'string') {
        throw fail('invalid', asked, 'page() takes the `next` of the page before.')
      }
      return { ...asked, verb: 'find', question: { ...question, ...overrides }, after }
    })) as Found<T>
  }

  #ask(): { collection: string; question: Question } {
    const collection = this.#collection
    return { collection, question: readable(() => toQuestion(this.#options, collection), { collection }) }
  }
}

/** Whoever reads a page slowly must not be given what has expired since it came. */
function isAlive({ _ts, ttl }: Document, defaultTtl: number | null): boolean {
  const seconds = defaultTtl === null ? -1 : isTtl(ttl) ? ttl : defaultTtl
  return seconds === -1 || Math.round(_ts * 1000) + toMilliseconds(seconds) > Date.now()
}
