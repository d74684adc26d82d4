import type { Owed } from './shelf.js'

/** What was deleted where there was no room to note it, by collection, until a transaction notes it. */
export class Debts {
  readonly #owed = new Map<string, Owed>()

  add(owed: ReadonlyMap<string, Owed>): void {
    for (const [name, { changes, isUpheaval }] of owed) {
      const before = this.#owed.get(name)
      this.#owed.set(name, {
        changes: [...(before?.changes ?? []), ...changes],
        isUpheaval: isUpheaval || (before?.isUpheaval ?? false),
      })
    }
  }

  /** Gives them to a transaction, which gives them back when it fails. */
  take(names: Iterable<string>): Map<string, Owed> {
    const taken = new Map<string, Owed>()
    for (const name of names) {
      const owed = this.#owed.get(name)
      if (owed) taken.set(name, owed)
      this.#owed.delete(name)
    }
    return taken
  }
}
