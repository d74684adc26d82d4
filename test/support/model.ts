/** A literal reading of the rules of expiry over a plain Map. It knows nothing of IndexedDB, and nothing is fast. */

export interface Note {
  id: string
  n?: number
  code?: string
  ttl?: unknown
}

interface Entry {
  note: Note
  /** When it was last written, in milliseconds. */
  ts: number
  /** Counts the writes of all documents, as `_etag` does. */
  version: number
}

/** What an answer shows of a document. */
export type Shown = Note & { _ts: number }

const LONGEST = 2_147_483_647
const SMALL_STEP = 5 * 60 * 1000

export class Refusal {
  readonly code: string

  constructor(code: string) {
    this.code = code
  }
}

export class Model {
  readonly entries = new Map<string, Entry>()
  defaultTtl: number | null
  declared: number | null
  now: number
  #wall: number
  #version = 0
  readonly #maxDocuments: number
  /** Which of those that expire at once makes way, each time that one has to; the first where nothing is said. */
  readonly #choices: number[]
  /** From among how many that was. */
  readonly chosen: { choice: number; among: number }[] = []

  constructor(now: number, declared: number | null, maxDocuments = Infinity, choices: number[] = []) {
    this.now = this.#wall = now
    this.defaultTtl = this.declared = declared
    this.#maxDocuments = maxDocuments
    this.#choices = choices
  }

  /** The same, which will choose like this. */
  fork(choices: number[]): Model {
    const copy = new Model(this.now, this.declared, this.#maxDocuments, choices)
    copy.defaultTtl = this.defaultTtl
    copy.#wall = this.#wall
    copy.#version = this.#version
    for (const [id, entry] of this.entries) copy.entries.set(id, entry)
    return copy
  }

  /** T8: a small step back of the clock changes nothing; a large one is followed. */
  move(by: number): void {
    this.#wall += by
    this.now = this.#wall < this.now && this.now - this.#wall <= SMALL_STEP ? this.now : this.#wall
    this.#bury()
  }

  /** T15. */
  declare(declared: number | null): void {
    if (declared !== this.declared) this.setDefaultTtl(declared)
    this.declared = declared
  }

  /** T4, T8, T12: it acts at once, and what has expired is gone for good. */
  setDefaultTtl(defaultTtl: unknown): void {
    if (defaultTtl !== null && !this.#isTtl(defaultTtl)) throw new Refusal('invalid')
    this.defaultTtl = defaultTtl as number | null
    this.#bury()
  }

  versionOf(id: string): number | undefined {
    return this.entries.get(id)?.version
  }

  get(id: string): Shown | undefined {
    const entry = this.entries.get(id)
    return entry && { ...entry.note, _ts: entry.ts / 1000 }
  }

  create(note: Note): Shown {
    if (this.entries.has(note.id)) throw new Refusal('conflict')
    return this.#write(note, note.ttl)
  }

  upsert(note: Note, ifMatch?: number): Shown {
    if (ifMatch !== undefined && !this.#matching(note.id, ifMatch)) throw new Refusal('precondition-failed')
    return this.#write(note, note.ttl)
  }

  replace(note: Note, ifMatch?: number): Shown {
    if (!this.#matching(note.id, ifMatch)) throw new Refusal('not-found')
    return this.#write(note, note.ttl)
  }

  patch(id: string, fields: Partial<Note>, ifMatch?: number): Shown {
    const entry = this.#matching(id, ifMatch)
    if (!entry) throw new Refusal('not-found')
    const merged = { ...entry.note, ...fields }
    for (const field of Object.keys(fields) as (keyof Note)[]) if (fields[field] === undefined) delete merged[field]
    return this.#write(merged, fields.ttl)
  }

  touch(id: string, ifMatch?: number): boolean {
    const entry = this.#matching(id, ifMatch)
    if (entry) this.#write(entry.note, undefined)
    return entry !== undefined
  }

  delete(id: string, ifMatch?: number): boolean {
    return this.#matching(id, ifMatch) !== undefined && this.entries.delete(id)
  }

  clear(): void {
    this.entries.clear()
  }

  /** T1. */
  expiresAt(id: string): number | null | undefined {
    const entry = this.entries.get(id)
    return entry && this.#expiry(entry)
  }

  nextExpiry(): number | null {
    const all = [...this.entries.values()].map((entry) => this.#expiry(entry)).filter((at) => at !== null)
    return all.length > 0 ? Math.min(...all) : null
  }

  /** Everything, in the order of the ids. */
  all(): Shown[] {
    return [...this.entries.keys()].toSorted().map((id) => this.get(id)!)
  }

  #write(note: Note, ttl: unknown): Shown {
    if (this.defaultTtl !== null && ttl !== undefined && !this.#isTtl(ttl)) throw new Refusal('invalid')
    for (const { note: other } of this.entries.values()) {
      if (note.code !== undefined && other.id !== note.id && other.code === note.code) throw new Refusal('conflict')
    }
    if (!this.entries.has(note.id) && this.entries.size >= this.#maxDocuments) this.#makeWay()
    this.entries.set(note.id, { note, ts: this.now, version: ++this.#version })
    return this.get(note.id)!
  }

  /** The soonest to expire goes; of several, any. */
  #makeWay(): void {
    const soonest = this.nextExpiry()
    if (soonest === null) throw new Refusal('quota')
    const tied = [...this.entries].filter(([, entry]) => this.#expiry(entry) === soonest).map(([id]) => id)
    const choice = this.#choices[this.chosen.length] ?? 0
    this.chosen.push({ choice, among: tied.length })
    this.entries.delete(tied[choice]!)
  }

  #matching(id: string, ifMatch: number | undefined): Entry | undefined {
    const entry = this.entries.get(id)
    if (entry && ifMatch !== undefined && entry.version !== ifMatch) throw new Refusal('precondition-failed')
    return entry
  }

  #bury(): void {
    for (const [id, entry] of this.entries) {
      const expiry = this.#expiry(entry)
      if (expiry !== null && expiry <= this.now) this.entries.delete(id)
    }
  }

  #expiry({ note: { ttl }, ts }: Entry): number | null {
    if (this.defaultTtl === null) return null
    if (ttl === -1) return null
    if (this.#isTtl(ttl)) return ts + (ttl as number) * 1000
    return this.defaultTtl === -1 ? null : ts + this.defaultTtl * 1000
  }

  #isTtl(value: unknown): boolean {
    return value === -1 || (typeof value === 'number' && value > 0 && value <= LONGEST)
  }
}
