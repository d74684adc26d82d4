import { fail } from '../errors.js'
import type { EngineEvent } from '../protocol.js'
import { Keepsake } from './keepsake.js'
import { call } from './report.js'

/** What a store tells of: the data are gone, and an empty database is in their place; or the connection is back. */
export type StoreEvent = 'recreated' | 'reconnected'

type Opened = Extract<EngineEvent, { generation: string }>

/** Whether the database is still the one that it was, and who is to hear of it. */
export class Continuity {
  readonly #listeners: Record<StoreEvent, Set<() => void>> = { recreated: new Set(), reconnected: new Set() }
  readonly #keepsake: Keepsake
  #generation: string | undefined
  #isLost = false

  constructor(store: string) {
    this.#keepsake = new Keepsake(store)
  }

  /** Returns its own undo. */
  on(event: StoreEvent, listener: () => void): () => void {
    if (!Object.hasOwn(this.#listeners, event)) {
      throw fail('invalid', {}, `there is no event ${String(event)}. There are 'recreated' and 'reconnected'.`)
    }
    if (typeof listener !== 'function') throw fail('invalid', {}, `on('${event}') needs a function to call.`)
    // The same function given twice is called twice.
    const own = () => listener()
    const listeners = this.#listeners[event]
    listeners.add(own)
    return () => void listeners.delete(own)
  }

  /** The connection is gone, without anybody having asked for that. Whether there was one. */
  lost(): boolean {
    const wasOpen = this.#generation !== undefined && !this.#isLost
    this.#isLost = true
    return wasOpen
  }

  /** The database is open. Whether it is another than before. */
  opened({ generation, isInMemory }: Opened): boolean {
    const before = this.#generation ?? (isInMemory ? null : this.#keepsake.read())
    const wasLost = this.#isLost && this.#generation !== undefined
    const isAnother = before !== null && before !== generation
    this.#generation = generation
    this.#isLost = false
    if (!isInMemory && (isAnother || before === null)) this.#keepsake.write(generation)
    if (isAnother) this.#tell('recreated')
    else if (wasLost) this.#tell('reconnected')
    return isAnother
  }

  /** The database was deleted, as it was meant to be. */
  end(): void {
    this.#keepsake.remove()
  }

  stop(): void {
    for (const listeners of Object.values(this.#listeners)) listeners.clear()
  }

  #tell(event: StoreEvent): void {
    const listeners = [...this.#listeners[event]]
    for (const listener of listeners) call(listener, undefined)
  }
}
