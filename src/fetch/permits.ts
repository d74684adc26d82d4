import type { Collection, Identified, Stored } from '../types.js'
import { Others } from './others.js'

/** Something that was removed, and a link to what was removed after it. */
interface Removal<D> {
  isMeant: (doc: D) => boolean
  /** The only name that it can be about, if there is one. */
  name?: string | undefined
  next?: Removal<D>
}

/** Leave to write what is asked for from now on. What is removed before it has come withdraws it. */
export class Permit<D> {
  readonly #before: Removal<D>

  constructor(before: Removal<D>) {
    this.#before = before
  }

  allows(doc: D): boolean {
    return this.#isFree(({ isMeant }) => isMeant(doc))
  }

  /** Whether nothing was removed that may have had this name: if not, what comes is old news to who asks now. */
  holds(name: string): boolean {
    return this.#isFree((removal) => (removal.name ?? name) === name)
  }

  #isFree(isHit: (removal: Removal<D>) => boolean): boolean {
    for (let removal = this.#before.next; removal; removal = removal.next) if (isHit(removal)) return false
    return true
  }
}

/** So much of what was written is remembered: a notice may be late, but not by more than was written since. */
const KEPT = 1000

/** What was written here, as far as it takes to remove it again. */
interface Kept {
  name: string
  askedAt: number
  _etag: string
}

/**
 * The permits for a collection, whatever caches there are on it. Only permits hold on to removals, so that those
 * before the oldest permit are forgotten.
 */
export class Permits<D extends Identified & { askedAt: number }> {
  static readonly #all = new WeakMap<object, unknown>()
  readonly #nameOf: (doc: D) => string
  readonly #collection: Collection<D>
  /** By id. Another tab may have removed something before it was there, and this one, frozen say, hears of it late. */
  readonly #kept = new Map<string, Kept>()
  #last: Removal<D> = { isMeant: () => false }
  #others: Others | undefined

  constructor(collection: Collection<D>, nameOf: (doc: D) => string) {
    this.#collection = collection
    this.#nameOf = nameOf
  }

  static of<D extends Identified & { askedAt: number }>(
    collection: Collection<D>,
    nameOf: (doc: D) => string,
  ): Permits<D> {
    const known = Permits.#all.get(collection) as Permits<D> | undefined
    if (known) return known
    const made = new Permits<D>(collection, nameOf)
    Permits.#all.set(collection, made)
    return made
  }

  /** Something was written with a permit, which may turn out to have been withdrawn. */
  used(doc: Stored<D>): void {
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= KEPT) this.#kept.delete(oldest!)
    this.#kept.set(doc.id, { name: this.#nameOf(doc as D), askedAt: doc.askedAt, _etag: doc._etag })
  }

  issue(): Permit<D> {
    this.#join()
    return new Permit(this.#last)
  }

  /** Without a name, other tabs cannot know what is meant: they withdraw what they have issued for anything. */
  withdraw(isMeant: (doc: D) => boolean, name?: string): void {
    this.#withdraw(isMeant, name)
    this.#join().tell(name)
  }

  #withdraw(isMeant: (doc: D) => boolean, name: string | undefined): void {
    this.#last = this.#last.next = { isMeant, name }
  }

  #join(): Others {
    return (this.#others ??= new Others((name, at) => {
      this.#withdraw((doc) => name === undefined || this.#nameOf(doc) === name, name)
      for (const [id, kept] of this.#kept) {
        if ((name ?? kept.name) !== kept.name || kept.askedAt > at) continue
        this.#kept.delete(id)
        // Whoever has written it since knows better.
        this.#collection.delete(id, { ifMatch: kept._etag }).catch(() => undefined)
      }
    }))
  }
}
