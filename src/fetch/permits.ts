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

/**
 * The permits for a collection, whatever caches there are on it. Only permits hold on to removals, so that those
 * before the oldest permit are forgotten.
 */
export class Permits<D> {
  static readonly #all = new WeakMap<object, unknown>()
  readonly #nameOf: (doc: D) => string
  #last: Removal<D> = { isMeant: () => false }
  #others: Others | undefined

  constructor(nameOf: (doc: D) => string) {
    this.#nameOf = nameOf
  }

  static of<D>(collection: object, nameOf: (doc: D) => string): Permits<D> {
    const known = Permits.#all.get(collection) as Permits<D> | undefined
    if (known) return known
    const made = new Permits<D>(nameOf)
    Permits.#all.set(collection, made)
    return made
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
    return (this.#others ??= new Others((name) => {
      this.#withdraw((doc) => name === undefined || this.#nameOf(doc) === name, name)
    }))
  }
}
