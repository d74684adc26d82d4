import { toFailure } from '../errors.js'
import type { Failure, Migrated } from '../protocol.js'
import { newEtag } from './etag.js'
import { isDead, stamp } from './life.js'
import type { DocumentRecord } from './life.js'
import { result, results } from './request.js'
import type { Shelf } from './shelf.js'
import { claim } from './unique.js'
import { checkTtl } from './verbs.js'
import { isDone, levelOf, ofVersion, versionOf, withLevel } from './versions.js'

/** How many records are read at once. */
const CHUNK = 200

/**
 * A step of a migration, in one transaction: it writes what was migrated, and finds what is to be migrated next.
 * - What has changed since it was read is not written, but found again.
 * - The place is moved over what was seen to be of the right version, here and now, and over nothing else.
 */
export class Upgrade {
  /** What is to be migrated next. */
  readonly next: DocumentRecord[] = []
  /** How many documents the place was moved over, and how many were behind it. */
  passed = 0
  total = 0
  /** Why something could not be written. */
  failure: Failure | undefined
  readonly #shelf: Shelf
  readonly #migrated: Map<string, Migrated>

  constructor(shelf: Shelf, migrated: Migrated[]) {
    this.#shelf = shelf
    this.#migrated = new Map(migrated.map((one) => [one.id, one]))
  }

  async run(): Promise<void> {
    const shelf = this.#shelf
    const { version } = shelf.shape
    const level = levelOf(shelf.setting.levels, version)
    if (isDone(level)) return
    const after = level.after === null ? null : await this.#range(level.after)
    const ids = after === null ? await this.#singles(level.ids) : level.ids
    shelf.alter({ ...shelf.setting, levels: withLevel(shelf.setting.levels, version, { after, ids, at: shelf.now }) })
  }

  /** Goes on after a place; gives back the new one, or null at the end. */
  async #range(start: string): Promise<string | null> {
    const { store } = this.#shelf
    let after = start
    this.total = await result(store.count(behind(after)))
    for (;;) {
      const records: DocumentRecord[] = await result(store.getAll(behind(after), CHUNK))
      for (const record of records) {
        const isCurrent = await this.#bring(record, false)
        if (!isCurrent || this.next.length > 0) continue
        after = record.doc.id
        this.passed++
      }
      if (this.next.length > 0) return after
      if (records.length === CHUNK) continue
      this.#shelf.shake()
      return null
    }
  }

  /** What tabs of an earlier version wrote behind the place; gives back the ids that are left. */
  async #singles(ids: readonly string[]): Promise<string[]> {
    const { store } = this.#shelf
    const records = await results<DocumentRecord | undefined>(ids.map((id) => store.get(id)))
    const left: string[] = []
    for (const [at, record] of records.entries()) {
      if (record && !(await this.#bring(record, true))) left.push(ids[at]!)
    }
    return left
  }

  /** Whether the document is of this version now, or gone. */
  async #bring(record: DocumentRecord, isSingle: boolean): Promise<boolean> {
    const shelf = this.#shelf
    const { id, _etag } = record.doc
    if (versionOf(record) >= shelf.shape.version) return true
    shelf.see(record)
    if (isDead(record, shelf.edge) && shelf.mayBury) {
      shelf.discard(id)
      return true
    }
    const migrated = this.#migrated.get(id)
    if (migrated?.etag === _etag && !this.failure) {
      try {
        await this.#write(record, migrated, isSingle)
        return true
      } catch (error) {
        this.failure = toFailure(error, { collection: shelf.shape.name, id })
      }
    }
    this.next.push(record)
    return false
  }

  /** The countdown goes on, for nobody has written the document; but its contents are others, so its `_etag` is. */
  async #write({ doc: old }: DocumentRecord, { id, doc }: Migrated, isSingle: boolean): Promise<void> {
    const shelf = this.#shelf
    if (!doc) return isSingle ? shelf.remove(id) : shelf.discard(id)
    checkTtl(shelf, id, doc.ttl)
    const record = ofVersion(stamp(doc, Math.round(old._ts * 1000), newEtag()), shelf.shape.version)
    await claim(shelf, record)
    if (isSingle) shelf.put(record)
    else shelf.keep(record)
  }
}

function behind(after: string): IDBKeyRange {
  return IDBKeyRange.lowerBound(after, true)
}
