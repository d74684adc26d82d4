import { fail } from '../errors.js'
import type { CollectionShape, Document, Horizon } from '../protocol.js'
import type { Clock } from './clock.js'
import { enter } from './journal.js'
import type { Entry, Recorded } from './journal.js'
import { indexedPaths, tangledPath, withKinds } from './kinds.js'
import { EXPIRY_INDEXES, SETTING } from './layout.js'
import { expiry, horizon, isAhead, isDead, newSetting, NOTHING } from './life.js'
import type { DocumentRecord, Setting } from './life.js'
import { result, results } from './request.js'
import { isSame } from './same.js'
import { stretches } from './stretches.js'
import { noteBehind } from './versions.js'

/** How many records are asked for before the first are waited for. */
const AT_ONCE = 10_000

/** What was deleted, and those who listen do not know. */
export interface Owed {
  changes: Recorded[]
  isUpheaval: boolean
}

/** A collection inside one transaction: its setting, and its records as the operations so far have left them. */
export class Shelf {
  readonly shape: CollectionShape
  readonly store: IDBObjectStore
  setting: Setting
  /** The setting is that of this transaction, and not just assumed to be. */
  isSound = false
  /** The setting has to be stored before anybody is answered. */
  dirty = false
  now = 0
  /** The earliest expiry among what was written here. */
  due = Infinity
  /** Whether anything has come by that has expired. */
  hasMetDead = false
  /** The last record that was stored, and the first that was removed. */
  written: DocumentRecord | undefined
  removed: DocumentRecord | undefined
  /** What was entered into the journal. */
  entry: Entry | undefined
  /** How many records there are; known only where a limit is kept. */
  held: number | undefined
  /** What an atomic write writes: none of it makes way for the rest. */
  together: ReadonlySet<string> = new Set()
  /** What was deleted earlier, when there was no room to note it. */
  owed: Owed | undefined
  /** Notes nothing: there is room for nothing but to delete. What there was to note is then left here. */
  isBare = false
  untold: Owed | undefined
  #changes: Recorded[] = []
  #isUpheaval = false
  #isPinned = false
  readonly #clock: Clock
  readonly #known = new Map<string, DocumentRecord | undefined>()
  readonly #handedOut = new Set<DocumentRecord>()
  /** The ids that were looked for, and are there. */
  readonly #present = new Set<string>()
  #edge: Horizon | undefined
  #paths: string[] | undefined

  constructor(shape: CollectionShape, store: IDBObjectStore, clock: Clock) {
    this.shape = shape
    this.store = store
    this.setting = newSetting(shape.defaultTtl)
    this.#clock = clock
  }

  get writable(): boolean {
    return this.store.transaction.mode !== 'readonly'
  }

  /**
   * Reads the setting in the transaction of the documents, so that no tab can act on an old one. Where one is assumed,
   * work may begin at once; false says later that it was another.
   */
  async load(assumed?: Setting): Promise<boolean> {
    const request = result(this.store.get(SETTING))
    if (assumed) this.#begin(assumed)
    const found = { ...newSetting(this.shape.defaultTtl), ...((await request) as Setting | undefined) }
    if (!assumed) this.#begin(found)
    return (this.isSound = !assumed || isSame(found, assumed))
  }

  #begin(setting: Setting): void {
    this.setting = setting
    this.held = setting.held
    const { mark } = setting
    const isTrue = this.#clock.heed(mark)
    const now = this.#clock.now()
    if (!isTrue) this.alter({ ...this.setting, mark: now })
    // Other tabs, and this one after a restart, must stand still at the same moment.
    else if (now > mark && this.#clock.lag > 0) this.alter({ ...this.setting, mark: now })
  }

  /** Begins an operation: the clock is read once for each. */
  tick(): void {
    if (this.#isPinned) return
    this.now = this.#clock.now()
    this.#edge = undefined
  }

  /** From now on the clock stands still: what has been announced as expired is all that is. */
  pin(): void {
    this.tick()
    this.#isPinned = true
  }

  /** Whether any tab listens to this collection; whether any wants every single change. */
  get isHeard(): boolean {
    return Object.keys(this.setting.audience).length > 0
  }

  get isFollowed(): boolean {
    return Object.values(this.setting.audience).includes('changes')
  }

  note(change: Recorded): void {
    if (!this.isHeard || (this.#isUpheaval && !this.isFollowed)) return
    this.#changes.push(change)
    // Whoever wrote it may change, on this thread, what it was given, before those who listen are told.
    if (change.record) this.#handedOut.add(change.record)
  }

  /** More changes than can be told one by one. */
  shake(): void {
    this.#isUpheaval = true
  }

  get edge(): Horizon {
    return (this.#edge ??= horizon(this.setting, this.now))
  }

  alter(setting: Setting): void {
    this.setting = setting
    this.dirty = true
    this.#edge = undefined
  }

  /** Stores a setting that has to be, and what was changed for those who listen, where the transaction may write. */
  settle(): void {
    if (this.isBare) {
      // What has expired is announced again unless it was deleted here.
      const isGone = ({ type, id }: Recorded) => type === 'delete' || (this.#known.has(id) && !this.#known.get(id))
      this.untold = { changes: this.#changes.filter(isGone), isUpheaval: this.#isUpheaval }
      return
    }
    if (this.owed) {
      this.#changes.unshift(...this.owed.changes)
      this.#isUpheaval ||= this.owed.isUpheaval
      this.held = undefined
    }
    if (this.writable && this.isHeard && (this.#changes.length > 0 || this.#isUpheaval)) {
      const number = this.setting.entry + 1
      this.entry = { number, changes: this.#changes, isUpheaval: this.#isUpheaval }
      enter(this.store, this.entry, this.isFollowed)
      this.alter({ ...this.setting, entry: number })
    }
    if (this.writable && this.held !== this.setting.held) this.alter({ ...this.setting, held: this.held })
    if (!this.dirty || !this.writable) return
    this.store.put(this.setting, SETTING)
    this.dirty = false
  }

  /** Reads ahead what the coming operations ask for by id. */
  async fetch(ids: Iterable<string>): Promise<void> {
    const wanted = [...new Set(ids)]
    for (let from = 0; from < wanted.length; from += AT_ONCE) {
      const some = wanted.slice(from, from + AT_ONCE)
      const records = await results<DocumentRecord | undefined>(some.map((id) => this.store.get(id)))
      some.forEach((id, at) => this.#known.set(id, records[at]))
    }
  }

  /** Looks ahead which of the records that will be written over are there, without reading them. */
  async probe(ids: string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const keys = await results(ids.slice(from, from + AT_ONCE).map((id) => this.store.getKey(id)))
      for (const key of keys) if (key !== undefined) this.#present.add(key as string)
    }
  }

  /** Whether there is a record, dead or alive, of an id that was read or looked for. */
  holds(id: string): boolean {
    return this.#known.has(id) ? this.#known.get(id) !== undefined : this.#present.has(id)
  }

  /** Forgets what was read ahead: an operation on the whole collection may change it. */
  forget(): void {
    this.#known.clear()
    this.#handedOut.clear()
    this.#present.clear()
  }

  /** The live record of an id that was read ahead. A dead one is deleted on the way, where that is possible. */
  find(id: string): DocumentRecord | undefined {
    const record = this.#known.get(id)
    if (!record || !isDead(record, this.edge)) return record
    if (this.writable && this.mayBury) this.discard(id)
    else this.admits(record)
    return undefined
  }

  /** What a clock that has just leapt calls dead is not deleted on its word. */
  get mayBury(): boolean {
    return this.#clock.probation === 0
  }

  /** Whether a record is alive. That one is dead is about to be told, so it must stay true. */
  admits(record: DocumentRecord): boolean {
    if (!isDead(record, this.edge)) return true
    this.witness(expiry(record, this.setting))
    return false
  }

  /**
   * Somebody is about to learn of an expiry, which is final: after a restart, and in another tab,
   * a clock that has stepped back a little must not undo it. What is older than the mark cannot.
   */
  witness(expiredAt: number | null): void {
    if (expiredAt === null || expiredAt > this.now) return
    this.hasMetDead = true
    if (expiredAt > this.setting.mark) this.alter({ ...this.setting, mark: this.now })
  }

  /** Takes note of a record that was found by other means than its id. */
  see(record: DocumentRecord): void {
    this.#known.set(record.doc.id, record)
  }

  put(record: DocumentRecord): void {
    this.keep(record)
    this.note({ type: 'upsert', id: record.doc.id, record })
  }

  /** Stores a record of which nobody is told. */
  keep(record: DocumentRecord): void {
    const { id } = record.doc
    this.#paths ??= indexedPaths(this.store)
    const tangled = tangledPath(this.#paths, record.doc)
    if (tangled !== undefined) {
      const place = { collection: this.shape.name, id }
      throw fail('invalid', place, `${tangled} has an index, and holds the same arrays too many times.`)
    }
    // Of two clocks one was wrong. What the other had buried must not, one day, bury this document.
    if (isAhead(this.setting, this.now)) this.alter({ ...this.setting, dead: NOTHING, since: this.now })
    const kinds = withKinds(this.setting.kinds, this.#paths, record.doc)
    if (kinds !== this.setting.kinds) this.alter({ ...this.setting, kinds })
    const levels = noteBehind(this.setting.levels, record)
    if (levels !== this.setting.levels) this.alter({ ...this.setting, levels })
    this.store.put(record, id)
    this.written = record
    // Where no limit is kept, nobody has looked whether there is one already.
    if (this.shape.maxDocuments === undefined) this.held = undefined
    else if (this.held !== undefined && !this.holds(id)) this.held++
    this.#known.set(id, record)
    this.due = Math.min(this.due, expiry(record, this.setting) ?? Infinity)
  }

  remove(id: string): void {
    this.discard(id)
    this.note({ type: 'delete', id })
  }

  /** Removes what has expired: for everybody it was gone before. */
  discard(id: string): void {
    if (this.#known.has(id) && !this.#known.get(id)) return
    this.store.delete(id)
    this.removed ??= this.#known.get(id)
    if (this.held !== undefined) this.held--
    this.#known.set(id, undefined)
  }

  /** Removes many that have expired, and are on the disk. */
  async discardAll(ids: string[]): Promise<void> {
    for (const stretch of await stretches(this.store, ids)) this.store.delete(stretch)
    for (const id of ids) this.#known.set(id, undefined)
    if (this.held !== undefined) this.held -= ids.length
  }

  /** The record's document, of which every taker gets one of his own. */
  copy(record: DocumentRecord): Document {
    if (this.#handedOut.has(record)) return structuredClone(record.doc)
    this.#handedOut.add(record)
    return record.doc
  }

  /** An expiry index with the range of its dead, where there can be any, or of those from a place on. */
  graves(from = NOTHING): { field: keyof Horizon; index: IDBIndex; range: IDBKeyRange }[] {
    const fields = Object.keys(EXPIRY_INDEXES) as (keyof Horizon)[]
    return fields
      .filter((field) => this.edge[field] > -Infinity && this.edge[field] >= from[field])
      .map((field) => ({
        field,
        index: this.store.index(EXPIRY_INDEXES[field]),
        range: IDBKeyRange.bound(from[field], this.edge[field]),
      }))
  }
}
