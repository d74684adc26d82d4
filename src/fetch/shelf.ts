import { fail, MayflyError } from '../errors.js'
import type { Collection, Stored, Where, Writable } from '../types.js'
import type { Background } from './background.js'
import { lives } from './lifetimes.js'
import type { Timed } from './lifetimes.js'
import { Permits } from './permits.js'
import type { Permit } from './permits.js'

/** Somebody else has written or deleted the document meanwhile. */
function isOvertaken(error: unknown): boolean {
  return error instanceof MayflyError && ['conflict', 'precondition-failed', 'not-found'].includes(error.code)
}

/** The collection of a cache. It can fail, as disks do: then there is nothing on it, and nothing comes to be. */
export class Shelf<D extends Timed> {
  readonly #collection: Collection<D>
  readonly #background: Background
  readonly #permits: Permits<D>
  readonly #nameOf: (doc: D) => string
  #checked: Promise<void> | undefined

  constructor(collection: Collection<D>, background: Background, nameOf: (doc: D) => string) {
    this.#collection = collection
    this.#background = background
    this.#nameOf = nameOf
    this.#permits = Permits.of(collection, nameOf)
  }

  /** What is there; undefined also where the store cannot tell. */
  async find(id: string): Promise<Stored<D> | undefined> {
    const [doc] = await Promise.all([this.#read(id), (this.#checked ??= this.#check())])
    return doc
  }

  /** Leave to write what is asked for from now on. What is removed before it has come withdraws it. */
  permit(): Permit<D> {
    return this.#permits.issue()
  }

  /**
   * Writes a document, unless its permit was withdrawn, or a later answer, or the deletion of what was
   * known, has come in between. `known` is what was there when it was asked for.
   */
  async put(doc: Writable<D> & D, permit: Permit<D>, known?: Stored<D>): Promise<Stored<D> | undefined> {
    let current = known
    while (permit.allows(doc) && lives(doc) && !(current && isLater(current, doc))) {
      try {
        const stored = await (current
          ? this.#collection.replace(doc, { ifMatch: current._etag })
          : this.#collection.create(doc as never))
        this.#permits.used(stored)
        if (permit.allows(doc)) return stored
        // It was removed while it was written, perhaps in another tab, and perhaps too early to be found.
        await this.drop(stored)
        return undefined
      } catch (error) {
        if (!isOvertaken(error)) throw error
      }
      current = await this.#collection.get(doc.id)
      // It has not expired, so somebody has deleted it, perhaps in another tab, and for a reason.
      if (!current && known && Date.now() < endOf(known)) return undefined
    }
    return undefined
  }

  /** Deletes a document, if it still is the one that was read. */
  async drop({ id, _etag }: Stored<D>): Promise<void> {
    try {
      await this.#collection.delete(id, { ifMatch: _etag })
    } catch (error) {
      if (!isOvertaken(error)) throw error
    }
  }

  /** Deletes what is meant, and has nothing of the kind written that was asked for before. How many there were. */
  async remove(isMeant: (doc: D) => boolean): Promise<number> {
    return this.#remove(isMeant, {} as Where<D>)
  }

  /** As `remove`, for all of a name, which lies in that range. */
  async removeNamed(name: string, where: Where<D>): Promise<number> {
    return this.#remove((doc) => this.#nameOf(doc) === name, where, name)
  }

  async clear(): Promise<void> {
    this.#permits.withdraw(() => true)
    await this.#collection.clear()
  }

  async #remove(isMeant: (doc: D) => boolean, where: Where<D>, name?: string): Promise<number> {
    this.#permits.withdraw(isMeant, name)
    const ids: string[] = []
    for await (const doc of this.#collection.query({ where })) if (isMeant(doc)) ids.push(doc.id)
    return (await this.#collection.deleteMany(ids)).deleted
  }

  async #read(id: string): Promise<Stored<D> | undefined> {
    try {
      return await this.#collection.get(id)
    } catch (error) {
      this.#background.report(error)
      return undefined
    }
  }

  /** Without time to live nothing would ever be deleted: that is a mistake, and not for the disk to answer for. */
  async #check(): Promise<void> {
    const settings = await this.#collection.settings().catch(() => undefined)
    if (settings && settings.defaultTtl !== null) return
    this.#checked = undefined
    if (!settings) return
    throw fail('invalid', {}, 'a cache needs time to live: declare its collection with defaultTtl: -1.')
  }
}

/** One from the future is of a clock that was wrong. */
function isLater(current: Timed, doc: Timed): boolean {
  return current.askedAt > doc.askedAt && current.askedAt < Date.now() + 1
}

/** When a document expires, in milliseconds. */
export function endOf({ _ts, ttl = -1 }: { _ts: number; ttl?: number }): number {
  return ttl === -1 ? Infinity : (_ts + ttl) * 1000
}
