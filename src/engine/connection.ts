import type { StoreShape } from '../protocol.js'
import { close } from './closing.js'
import { notice, patiently } from './patience.js'
import type { Undertaking } from './patience.js'

/** What is heard of a connection, while it is being opened and afterwards. */
export interface Hearing {
  /** Another tab is in the way. */
  blocked: () => void
  /** This tab is changing the database. */
  upgrading: () => void
  /** The connection is of no more use: another tab needs it closed, or the browser has closed it. */
  gone: () => void
  /** It was the browser, by force. */
  severed: () => void
  /** Whether anybody still wants it. */
  isWanted: () => boolean
}

interface Opening extends Undertaking<IDBDatabase> {
  isOpen: boolean
}

/** A connection that is opened when it is needed, and again by the next call after it has failed or gone. */
export class Connection {
  readonly #shape: StoreShape
  readonly #open: (hearing: Omit<Hearing, 'severed'>) => Promise<IDBDatabase>
  #opening: Opening | undefined

  constructor(shape: StoreShape, open: (hearing: Omit<Hearing, 'severed'>) => Promise<IDBDatabase>) {
    this.#shape = shape
    this.#open = open
  }

  /** Rejects with `blocked` when patience is at its end; the next call waits for the same opening again. */
  get(): Promise<IDBDatabase> {
    const opening = (this.#opening ??= this.#start())
    return opening.isOpen ? opening.done : patiently(this.#shape, opening)
  }

  get isOpen(): boolean {
    return this.#opening?.isOpen ?? false
  }

  /** Lets go of the connection, without waiting for one that is still being opened. */
  async close(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    const closed = opening?.done.then(close, () => undefined)
    if (opening?.isOpen) await closed
  }

  #start(): Opening {
    const blocked = notice()
    const forget = () => {
      if (this.#opening === opening) this.#opening = undefined
    }
    const done = this.#open({
      blocked: blocked.give,
      upgrading: () => {
        opening.begun = true
      },
      gone: forget,
      isWanted: () => this.#opening === opening,
    })
    const opening: Opening = { done, blocked: blocked.given, begun: false, isOpen: false }
    done.then(() => {
      opening.isOpen = true
    }, forget)
    return opening
  }
}
