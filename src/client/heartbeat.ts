import { vigil } from './vigil.js'

/** For how many seconds a worker may be silent that keeps somebody waiting, while it is asked whether it lives. */
const SILENCE = 20

/** The same while nothing shows that it lives at all. */
const DOUBT = 3

/**
 * Listens to a worker for as long as it keeps somebody waiting. One that is merely busy answers in between; one that
 * does not, in all that time, is in an endless loop, or dead where no lock tells.
 */
export class Heartbeat {
  readonly #ask: () => void
  readonly #giveUp: () => void
  #waiting = 0
  #patience = SILENCE
  #isHeard = false
  #isAsked = false
  #end: (() => void) | undefined

  constructor(ask: () => void, giveUp: () => void) {
    this.#ask = ask
    this.#giveUp = giveUp
  }

  /** Somebody waits. */
  begin(): void {
    this.#waiting++
    if (!this.#end) this.#start()
  }

  /** Somebody has an answer. */
  done(): void {
    if (--this.#waiting === 0) this.stop()
  }

  /** It has said something. */
  heard(): void {
    this.#isHeard = true
    this.#patience = SILENCE
  }

  /** It may be dead already. */
  doubt(): void {
    this.#patience = DOUBT
  }

  stop(): void {
    this.#end?.()
    this.#end = undefined
  }

  #start(): void {
    this.#isHeard = this.#isAsked = false
    this.#end = vigil((seconds) => {
      if (this.#isHeard) {
        this.stop()
        this.#start()
      } else if (seconds >= this.#patience) {
        this.stop()
        this.#giveUp()
      } else if (!this.#isAsked) {
        this.#isAsked = true
        this.#ask()
      }
    })
  }
}
