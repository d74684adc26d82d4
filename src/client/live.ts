import { fail, fromFailure } from '../errors.js'
import type { MayflyError } from '../errors.js'
import type { Document, EngineEvent, Operation, Question } from '../protocol.js'
import type { Queue } from './queue.js'
import { call, report } from './report.js'

export type Listener = (docs: Document[]) => void
export type OnError = ((error: MayflyError) => void) | undefined

interface Subscriber {
  listener: Listener
  onError: OnError
  /** The result that it was called with last. */
  told?: Document[]
}

interface Live {
  key: number
  operation: Operation
  subscribers: Set<Subscriber>
  /** The result, once there is one. */
  docs: Document[] | undefined
  /** What has come of the next result. */
  coming: Document[]
}

type ViewEvent = Extract<EngineEvent, { view: number }>

/** After a failure a live query begins again, at first and at the latest after so many milliseconds. */
const RETRY = 1000
const RETRY_AT_MOST = 60_000

/** The live queries of a page. Those that ask the same are one. */
export class Lives {
  readonly #queue: Queue
  readonly #byQuestion = new Map<string, Live>()
  readonly #byKey = new Map<number, Live>()
  #keys = 0

  constructor(queue: Queue) {
    this.#queue = queue
  }

  /** Returns its own undo. */
  subscribe(collection: string, question: Question, listener: Listener, onError: OnError): () => void {
    this.#queue.checkOpen()
    if (typeof listener !== 'function' || (onError !== undefined && typeof onError !== 'function')) {
      throw fail('invalid', { collection }, 'a subscription needs a function to call, and perhaps one for failures.')
    }
    const name = nameOf(collection, question)
    const live = this.#byQuestion.get(name) ?? this.#begin(name, collection, question)
    const subscriber: Subscriber = { listener, onError }
    live.subscribers.add(subscriber)
    // One that joins others is told what they know, but not before it has its undo.
    if (live.docs) {
      queueMicrotask(() => {
        if (live.docs && live.subscribers.has(subscriber)) tell(subscriber, live.docs)
      })
    }
    return () => {
      if (!live.subscribers.delete(subscriber) || live.subscribers.size > 0) return
      if (this.#byQuestion.get(name) === live) this.#byQuestion.delete(name)
      this.#byKey.delete(live.key)
      this.#queue.call(() => ({ verb: 'unwatch', collection, key: live.key })).catch(() => undefined)
    }
  }

  hear(event: ViewEvent): void {
    const live = this.#byKey.get(event.view)
    if (!live) return
    if ('failure' in event) return tellFailure(live, fromFailure(event.failure))
    const { docs } = live
    // The documents that have not changed stay the same objects.
    for (const item of event.items) live.coming.push(typeof item === 'number' ? docs![item]! : item)
    if (!event.isLast) return
    const { coming } = live
    live.coming = []
    if (docs && isSame(docs, coming)) return
    live.docs = coming
    for (const subscriber of live.subscribers) tell(subscriber, coming)
  }

  /** The engine knows of no live query any more, or of none in a collection. */
  renew(collection?: string): void {
    const all = [...this.#byKey.values()]
    for (const live of all) {
      if (collection !== undefined && collection !== live.operation.collection) continue
      // Each has a new name, lest something on its way from the old engine be taken for the new one's.
      this.#byKey.delete(live.key)
      this.#watch(live)
    }
  }

  stop(): void {
    this.#byKey.clear()
    this.#byQuestion.clear()
  }

  #begin(name: string, collection: string, question: Question): Live {
    const operation: Operation = { verb: 'watch', collection, question, key: 0 }
    const live: Live = { key: 0, operation, subscribers: new Set(), docs: undefined, coming: [] }
    this.#byQuestion.set(name, live)
    this.#watch(live)
    return live
  }

  #watch(live: Live, failures = 0): void {
    const key = ++this.#keys
    live.key = key
    live.coming = []
    this.#byKey.set(key, live)
    this.#queue
      .call(() => ({ ...live.operation, key }) as Operation)
      .catch((error: MayflyError) => {
        if (this.#byKey.get(key) !== live) return
        tellFailure(live, error)
        const again = () => {
          if (this.#byKey.get(key) !== live || this.#queue.ended) return
          this.#byKey.delete(key)
          this.#watch(live, failures + 1)
        }
        setTimeout(again, Math.min(RETRY_AT_MOST, RETRY * 2 ** failures))
      })
  }
}

/** One that has just joined may be told by those it has joined, before its own turn comes. */
function tell(subscriber: Subscriber, docs: Document[]): void {
  if (subscriber.told === docs) return
  subscriber.told = docs
  call(subscriber.listener, [...docs])
}

function tellFailure({ subscribers }: Live, error: MayflyError): void {
  for (const { onError } of subscribers) {
    if (onError) call(onError, error)
    else report(error)
  }
}

function isSame(a: Document[], b: Document[]): boolean {
  return a.length === b.length && a.every((doc, at) => doc.id === b[at]!.id && doc._etag === b[at]!._etag)
}

/** The same for questions that ask the same. JSON would take a Date for its text, and Infinity for null. */
function nameOf(collection: string, question: Question): string {
  return JSON.stringify([collection, mark(question)])
}

function mark(value: unknown): unknown {
  if (value instanceof Date) return { date: value.getTime() }
  if (Array.isArray(value)) return value.map(mark)
  if (typeof value === 'number') return Number.isFinite(value) ? value : { number: String(value) }
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { fields: fields.map(([field, inner]) => [field, mark(inner)]) }
}
