import type { Document, Horizon, Question } from '../protocol.js'
import type { Recorded } from './journal.js'
import { expiry, isDead } from './life.js'
import type { DocumentRecord, Setting } from './life.js'
import type { Sortable } from './order.js'
import { Sieve } from './stream.js'
import type { Row } from './stream.js'

/** A document of a result, without its contents. */
interface Entry {
  id: string
  value: Sortable
  etag: string
  times: Omit<DocumentRecord, 'doc'>
  /** Its place in the result that the page has; absent when the page does not have this version. */
  sent?: number
}

/** The result of a live query, kept up to date from changes alone wherever they tell enough. */
export class View {
  readonly question: Question
  /** The result has to be found anew. */
  isStale = false
  /** The journal's last entry that is in the result. */
  asOf = 0
  readonly #sieve: Sieve
  readonly #limit: number
  #entries: Entry[] = []
  #byId = new Map<string, Entry>()
  /** Documents that the page does not have. */
  readonly #fresh = new Map<string, Document>()
  #sentLength: number | undefined
  /** The next expiry under a setting, until the result changes. */
  #next: { at: number; defaultTtl: number | null } | undefined

  constructor(question: Question) {
    this.question = question
    this.#sieve = new Sieve(question)
    this.#limit = question.limit ?? Infinity
  }

  /** Takes a result that was found. */
  load(rows: Row[], asOf: number): void {
    const before = this.#byId
    this.#fresh.clear()
    this.#next = undefined
    this.#entries = rows.map((row) => this.#enter(row, before.get(row.id)))
    this.#byId = new Map(this.#entries.map((entry) => [entry.id, entry]))
    this.asOf = asOf
    this.isStale = false
  }

  /** Takes in a change, or finds that it tells too little. True when the result may be another now. */
  apply({ id, type, record }: Recorded, edge: Horizon): boolean {
    if (this.isStale) return false
    const known = this.#byId.get(id)
    const row = type === 'upsert' && record && !isDead(record, edge) ? this.#sieve.row(record) : undefined
    if (row && known?.etag === row.record.doc._etag) return false
    if (!known && (!row || this.#isBeyond(row))) return false
    this.#next = undefined
    const wasFull = this.#entries.length === this.#limit
    if (known) this.#remove([known])
    if (row) this.#insert(row)
    // Behind the last of a full result there may be others that come before this one, or in the place of one that left.
    if (known && wasFull && (!row || this.#entries.at(-1)?.id === id)) this.isStale = true
    return true
  }

  /** Drops what has expired. True when that was anything. */
  expire(edge: Horizon): boolean {
    const dead = this.#entries.filter(({ times }) => isDead(times, edge))
    if (dead.length === 0) return false
    this.#next = undefined
    if (this.#entries.length === this.#limit) this.isStale = true
    this.#remove(dead)
    return true
  }

  /** When the next document of the result expires. */
  nextExpiry(setting: Setting): number {
    if (this.#next?.defaultTtl !== setting.defaultTtl) {
      let at = Infinity
      for (const { times } of this.#entries) at = Math.min(at, expiry(times, setting) ?? Infinity)
      this.#next = { at, defaultTtl: setting.defaultTtl }
    }
    return this.#next.at
  }

  /** What the page has to be told; undefined when it has this very result. */
  update(): (Document | number)[] | undefined {
    const items = this.#entries.map(({ id, sent }) => sent ?? this.#fresh.get(id)!)
    const isSame = items.length === this.#sentLength && items.every((item, at) => item === at)
    this.#entries.forEach((entry, at) => (entry.sent = at))
    this.#fresh.clear()
    this.#sentLength = items.length
    return isSame ? undefined : items
  }

  /** Whether a row lies behind a result that is full. */
  #isBeyond(row: Row): boolean {
    const last = this.#entries.at(-1)
    return this.#entries.length === this.#limit && last !== undefined && this.#sieve.order(row, last) > 0
  }

  #insert(row: Row): void {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#sieve.order(this.#entries[middle]!, row) < 0) low = middle + 1
      else high = middle
    }
    const entry = this.#enter(row)
    this.#entries.splice(low, 0, entry)
    this.#byId.set(row.id, entry)
    if (this.#entries.length > this.#limit) this.#remove([this.#entries.at(-1)!])
  }

  #remove(gone: Entry[]): void {
    for (const { id } of gone) {
      this.#byId.delete(id)
      this.#fresh.delete(id)
    }
    const [only, ...others] = gone
    if (others.length === 0) this.#entries.splice(this.#entries.indexOf(only!), 1)
    else {
      const all = new Set(gone)
      this.#entries = this.#entries.filter((entry) => !all.has(entry))
    }
  }

  #enter({ id, value, record }: Row, known?: Entry): Entry {
    const { doc, ...times } = record
    if (known?.etag === doc._etag && known.sent !== undefined) return { ...known, times }
    this.#fresh.set(id, doc)
    // A caller on this thread may change what it was given.
    return { id, value: typeof value === 'object' ? structuredClone(value) : value, etag: doc._etag, times }
  }
}
