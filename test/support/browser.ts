import { AsyncLocalStorage } from 'node:async_hooks'
import { forceCloseDatabase } from 'fake-indexeddb'

/** Numbers that look random and follow from a seed. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0 up to, and without, this. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}

/** What a browser knows of a tab. Whatever runs inside `run` is the tab's, with all that follows from it. */
export class Process {
  readonly dice: Dice
  state: 'runs' | 'frozen' | 'dead' = 'runs'
  readonly databases = new Set<IDBDatabase>()
  /** What happens to it while it is frozen, and is told when it thaws. */
  readonly #held: (() => void)[] = []

  constructor(dice: Dice) {
    this.dice = dice
  }

  run<T>(work: () => T): T {
    return running.run(this, work)
  }

  /** Lets something happen to the tab: now, later if it is frozen, or never. */
  tell(work: () => void): void {
    if (this.state === 'frozen') this.#held.push(work)
    else if (this.state === 'runs') this.run(work)
  }

  freeze(): void {
    this.state = 'frozen'
  }

  thaw(): void {
    this.state = 'runs'
    for (const work of this.#held.splice(0)) this.run(work)
  }

  /** It is gone without a word: what it had under way is aborted, what it held is free. */
  crash(): void {
    this.state = 'dead'
    for (const database of this.databases) {
      const { transactions, processTransactions } = (database as unknown as Inside)._rawDatabase
      for (const one of transactions) if (one.db === database && one._state !== 'finished') one._abort(null)
      // What hears of it is the tab's own, and is refused whatever it asks for.
      this.run(() => forceCloseDatabase(database as never))
      processTransactions()
    }
    for (const channel of channels) if (channel.process === this) channels.delete(channel)
    for (const [name, line] of lines) {
      lines.set(
        name,
        line.filter(({ process }) => process !== this),
      )
      grant(name)
    }
  }
}

interface Inside {
  _rawDatabase: {
    transactions: { db: IDBDatabase; _state: string; _abort(name: null): void }[]
    processTransactions(): void
  }
}

const running = new AsyncLocalStorage<Process>()

/** A notice may be late, come twice, or never; one that is late comes after those that were posted later. */
class Channel extends EventTarget {
  readonly name: string
  readonly process = running.getStore()!

  constructor(name: string) {
    super()
    this.name = name
    channels.add(this)
  }

  postMessage(data: unknown): void {
    const { dice } = this.process
    for (const other of channels) {
      if (other === this || other.name !== this.name) continue
      const times = dice.of([0, 1, 1, 1, 2])
      for (let time = 0; time < times; time++) {
        const pass = () => other.process.tell(() => channels.has(other) && other.#hear(structuredClone(data)))
        setTimeout(pass, dice.of([0, 0, 1, 5, 20]))
      }
    }
  }

  close(): void {
    channels.delete(this)
  }

  #hear(data: unknown): void {
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
}

const channels = new Set<Channel>()

interface Waiting {
  process: Process
  work: (lock: { name: string } | null) => unknown
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  isHeld: boolean
}

/** Who holds each lock, and who waits for it. */
const lines = new Map<string, Waiting[]>()

interface Options {
  ifAvailable?: boolean
  steal?: boolean
  signal?: AbortSignal
}

type Work = Waiting['work']

/** Locks that are granted late, and to the frozen too. */
const locks = {
  request(name: string, ...rest: [Work] | [Options, Work]): Promise<unknown> {
    const process = running.getStore()!
    const work = rest.at(-1) as Work
    const { ifAvailable, steal, signal } = rest.length === 2 ? rest[0] : ({} as Options)
    if (process.state === 'dead') return new Promise(() => undefined)
    return new Promise((resolve, reject) => {
      const line = lines.get(name) ?? []
      const waiting: Waiting = { process, work, resolve, reject, isHeld: false }
      if (ifAvailable && line.length > 0) return begin(waiting, null)
      if (steal) {
        for (const one of line.filter(({ isHeld }) => isHeld)) {
          leave(name, one)
          one.process.tell(() => one.reject(new DOMException('It was stolen.', 'AbortError')))
        }
      }
      const rest = lines.get(name) ?? []
      lines.set(name, steal ? [waiting, ...rest] : [...rest, waiting])
      signal?.addEventListener('abort', () => {
        if (waiting.isHeld) return
        leave(name, waiting)
        process.tell(() => reject(signal.reason as Error))
      })
      grant(name)
    })
  },

  async query(): Promise<{ held: { name: string }[] }> {
    const held = [...lines].filter(([, line]) => line[0]?.isHeld)
    return { held: held.map(([name]) => ({ name })) }
  },
}

function grant(name: string): void {
  const [first] = lines.get(name) ?? []
  if (!first || first.isHeld) return
  first.isHeld = true
  setTimeout(() => begin(first, { name }), first.process.dice.of([0, 0, 2, 10]))
}

function begin(waiting: Waiting, lock: { name: string } | null): void {
  const { process, work, resolve, reject } = waiting
  const end = (settle: () => void) => () =>
    process.tell(() => {
      if (lock) leave(lock.name, waiting)
      settle()
    })
  process.tell(() => {
    Promise.resolve(work(lock)).then(
      (value) => end(() => resolve(value))(),
      (error: unknown) => end(() => reject(error))(),
    )
  })
}

function leave(name: string, gone: Waiting): void {
  const line = lines.get(name) ?? []
  lines.set(
    name,
    line.filter((one) => one !== gone),
  )
  grant(name)
}

/** Puts this browser in the place of the real one. Returns its own undo. */
export function installBrowser(): () => void {
  const { timeout } = AbortSignal
  const { BroadcastChannel: RealChannel } = globalThis
  const { open } = indexedDB
  const { transaction } = IDBDatabase.prototype
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
  Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })
  globalThis.BroadcastChannel = Channel as unknown as typeof BroadcastChannel
  // Whoever is frozen here will be for long enough.
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, Math.ceil(ms / 20))
  indexedDB.open = function (...args) {
    const process = running.getStore()
    refuseDead(process)
    const request = open.apply(indexedDB, args)
    request.addEventListener('success', () => {
      if (process?.state === 'dead') request.result.close()
      else process?.databases.add(request.result)
    })
    return request
  }
  IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...args) {
    refuseDead(running.getStore())
    return transaction.apply(this, args)
  }
  return () => {
    if (before) Object.defineProperty(globalThis, 'navigator', before)
    else Reflect.deleteProperty(globalThis, 'navigator')
    globalThis.BroadcastChannel = RealChannel
    AbortSignal.timeout = timeout
    indexedDB.open = open
    IDBDatabase.prototype.transaction = transaction
  }
}

function refuseDead(process: Process | undefined): void {
  if (process?.state === 'dead') throw new DOMException('The tab is gone.', 'InvalidStateError')
}
