import type { Setting } from './life.js'
import type { Shelf } from './shelf.js'

/** What is known of the settings from the last transactions of each connection. It may be wrong, and is checked. */
export class Knowledge {
  readonly #byDatabase = new WeakMap<IDBDatabase, Known>()

  of(database: IDBDatabase): Known {
    let known = this.#byDatabase.get(database)
    if (!known) this.#byDatabase.set(database, (known = new Known()))
    return known
  }
}

class Known {
  readonly #settings = new Map<string, Setting>()

  /** The settings of these collections, where all of them are known and nobody else is likely to change them. */
  assume(names: Set<string>): Map<string, Setting> | undefined {
    const isLikely = (name: string) => {
      const setting = this.#settings.get(name)
      return setting !== undefined && Object.keys(setting.audience).length < 2
    }
    return [...names].every(isLikely) ? this.#settings : undefined
  }

  learn(shelves: Shelf[]): void {
    for (const { shape, setting, dirty } of shelves) {
      if (dirty) this.#settings.delete(shape.name)
      else this.#settings.set(shape.name, setting)
    }
  }

  forget(names: Set<string>): void {
    for (const name of names) this.#settings.delete(name)
  }
}
