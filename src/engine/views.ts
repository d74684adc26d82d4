import type { Document, EngineEvent, Horizon, Operation, Question, Reply } from '../protocol.js'
import { pieces } from './cut.js'
import type { Entry } from './journal.js'
import type { Setting } from './life.js'
import type { Seen } from './listen.js'
import { nextTask } from './task.js'
import { View } from './view.js'

/** In a burst of writes, results are told this many milliseconds apart, and at a third of the time at most. */
const APART = 40
const SHARE = 2

/** No result waits longer than this many milliseconds, however long the last took: the machine may have slept meanwhile. */
const AT_MOST = 2000

/** When a result could not be found, this many milliseconds pass before the next attempt. */
const RETRY = 1000

export interface ViewsTools {
  steady: () => number
  perform: (operations: Operation[]) => Promise<Reply[]>
  send: (event: EngineEvent) => void
  /** A result was found anew: under this setting, up to this entry. False when there are entries behind it. */
  found: (seen: Seen) => boolean
  /** Results were told, and the next expiry may be another. */
  told: () => void
}

/** The live queries of a tab in one collection: which of them has changed, and when the page is told. */
export class Views {
  readonly #collection: string
  readonly #tools: ViewsTools
  readonly #views = new Map<number, View>()
  readonly #changed = new Set<number>()
  #isFlushing = false
  /** Something has expired since the results were last looked at. */
  #isUrgent = false
  #flushed = -Infinity
  #cost = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(collection: string, tools: ViewsTools) {
    this.#collection = collection
    this.#tools = tools
  }

  get isEmpty(): boolean {
    return this.#views.size === 0
  }

  /** Begins with a result that was found, and tells it. */
  add(key: number, question: Question, seen: Seen): void {
    const view = new View(question)
    this.#load(key, view, seen)
    this.#views.set(key, view)
    this.#tell(key, view)
    if (view.isStale) this.flushSoon()
  }

  delete(key: number): void {
    this.#views.delete(key)
    this.#changed.delete(key)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#views.clear()
    this.#changed.clear()
  }

  /** Takes in what was committed. */
  take({ number, changes, isUpheaval }: Entry, edge: Horizon): void {
    for (const [key, view] of this.#views) {
      if (number <= view.asOf) continue
      view.asOf = number
      if (isUpheaval) view.isStale = true
      else if (changes.filter((change) => view.apply(change, edge)).length > 0) this.#changed.add(key)
    }
    this.flushSoon()
  }

  /** Not all that has changed is known. */
  doubt(): void {
    for (const view of this.#views.values()) view.isStale = true
    this.flushSoon()
  }

  /** What has expired must not be seen a moment longer: that is told at once. */
  expire(edge: Horizon): void {
    for (const [key, view] of this.#views) {
      if (!view.expire(edge)) continue
      this.#changed.add(key)
      this.#isUrgent = true
    }
    if (this.#isUrgent) void this.#flush()
  }

  /** When the next document expires that is in any result. */
  nextExpiry(setting: Setting): number {
    let next = Infinity
    for (const view of this.#views.values()) next = Math.min(next, view.nextExpiry(setting))
    return next
  }

  /** Tells what has changed: at once after a pause, and now and then in a burst. */
  flushSoon(): void {
    if (this.#timer !== undefined || this.#isFlushing || !this.#isWaiting()) return
    const wait = this.#flushed + Math.max(APART, Math.min(AT_MOST, SHARE * this.#cost)) - this.#tools.steady()
    if (wait > 0) this.#flushIn(wait)
    // The answer to what was asked goes first.
    else void nextTask().then(() => this.#flush())
  }

  #isWaiting(): boolean {
    return this.#changed.size > 0 || [...this.#views.values()].some((view) => view.isStale)
  }

  #flushIn(wait: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#flush()
    }, wait)
  }

  async #flush(): Promise<void> {
    if (this.#isFlushing) return
    this.#isFlushing = true
    this.#isUrgent = false
    const started = this.#tools.steady()
    const isSound = await this.#refresh().catch(() => false)
    for (const key of this.#changed) {
      const view = this.#views.get(key)
      if (view && !view.isStale) this.#tell(key, view)
    }
    this.#flushed = this.#tools.steady()
    this.#cost = this.#flushed - started
    this.#isFlushing = false
    if (!isSound) this.#flushIn(RETRY)
    else if (this.#isUrgent) void this.#flush()
    else this.flushSoon()
    this.#tools.told()
  }

  /** Finds the results of stale views anew; false when that failed. */
  async #refresh(): Promise<boolean> {
    const stale = [...this.#views].filter(([, view]) => view.isStale)
    if (stale.length === 0) return true
    const operations = stale.map(([key, { question }]): Operation => {
      return { verb: 'watch', collection: this.#collection, key, question }
    })
    const replies = await this.#tools.perform(operations)
    let isSound = true
    for (const [at, [key, view]] of stale.entries()) {
      const reply = replies[at]!
      if (reply.ok) this.#load(key, view, reply.value as Seen)
      else {
        isSound = false
        this.#tools.send({ view: key, failure: reply.failure })
      }
    }
    return isSound
  }

  #load(key: number, view: View, seen: Seen): void {
    view.load(seen.rows, seen.entry)
    // Something was committed behind this result, and told before the view could hear of it.
    if (!this.#tools.found(seen)) view.isStale = true
    if (this.#views.has(key)) this.#changed.add(key)
  }

  #tell(key: number, view: View): void {
    this.#changed.delete(key)
    const items = view.update()
    if (!items) return
    const parts = pieces<Document | number>(items)
    if (parts.length === 0) parts.push([])
    for (const [at, part] of parts.entries()) {
      this.#tools.send({ view: key, items: part, isLast: at === parts.length - 1 })
    }
  }
}
