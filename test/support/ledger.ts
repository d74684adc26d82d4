import { isAlive } from './naive.js'

const SMALL_STEP = 5 * 60 * 1000

/** What a feed must tell, in the words of a test: of an upsert the `_etag` too, where the writer has learnt it. */
export type Told = { type: 'upsert' | 'delete' | 'expire'; id: string; etag?: string }

interface Held {
  ttl: number | undefined
  ts: number
  etag: string | undefined
}

/** Keeps account of which documents live, by the rules alone, and of what has to be told of them. */
export class Ledger {
  readonly told: Told[] = []
  defaultTtl: number | null
  #declared: number | null
  #held = new Map<string, Held>()
  #now: number
  #wall: number

  constructor(now: number, declared: number | null) {
    this.#now = this.#wall = now
    this.defaultTtl = this.#declared = declared
  }

  has(id: string): boolean {
    return this.#held.has(id)
  }

  etagOf(id: string): string | undefined {
    return this.#held.get(id)?.etag
  }

  ttlOf(id: string): number | undefined {
    return this.#held.get(id)?.ttl
  }

  get ids(): string[] {
    return [...this.#held.keys()]
  }

  /** A small step back changes nothing. */
  move(by: number): void {
    this.#wall += by
    this.#now = this.#wall < this.#now && this.#now - this.#wall <= SMALL_STEP ? this.#now : this.#wall
    this.#bury()
  }

  setDefaultTtl(defaultTtl: number | null): void {
    this.defaultTtl = defaultTtl
    this.#bury()
  }

  /** What the code declares counts where it differs from what it declared last time. */
  declare(declared: number | null): void {
    if (declared !== this.#declared) this.setDefaultTtl(declared)
    this.#declared = declared
  }

  /** Gives back what was noted, so that the `_etag` can be filled in when it is known. */
  write(id: string, ttl: number | undefined): (etag: string) => void {
    const held: Held = { ttl, ts: this.#now, etag: undefined }
    const told: Told = { type: 'upsert', id }
    this.#held.set(id, held)
    this.told.push(told)
    return (etag) => {
      told.etag = held.etag = etag
    }
  }

  delete(id: string): boolean {
    const was = this.#held.delete(id)
    if (was) this.told.push({ type: 'delete', id })
    return was
  }

  clear(): void {
    for (const id of this.ids) this.delete(id)
  }

  /** Undoes what is done from now on. */
  save(): () => void {
    const held = new Map(this.#held)
    const { length } = this.told
    return () => {
      this.#held = held
      this.told.length = length
    }
  }

  #bury(): void {
    for (const [id, { ttl, ts }] of this.#held) {
      const doc = { id, _ts: ts / 1000, ...(ttl === undefined ? {} : { ttl }) }
      if (isAlive(doc, this.defaultTtl, this.#now)) continue
      this.#held.delete(id)
      this.told.push({ type: 'expire', id })
    }
  }
}
