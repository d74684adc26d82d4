import { wrap } from 'comlink'
import type { Answer, Listen, Notice, Operation, Page, Piece, Reply, StoreShape, Tidied, Wire } from '../protocol.js'
import { fill } from '../receipt.js'
import { Heartbeat } from './heartbeat.js'
import type { Started } from './start.js'

/** What a call rejects with when its worker died before the answer came. */
export const LOST = Symbol('lost')

/** A worker, from its hello to its death. */
export class Thread {
  /** Resolves when the worker has died, by itself or because it was stopped. */
  readonly died: Promise<void>
  /** Where its script was loaded from, if it has said so. */
  readonly url: string | undefined
  readonly #started: Started
  readonly #shape: StoreShape
  readonly #wire: Wire
  readonly #pieces = new Map<number, Piece[]>()
  /** What to do about each call that has no answer yet when the worker dies. */
  readonly #unanswered = new Set<() => void>()
  #isDead = false
  #bury!: () => void
  #forget: () => void
  readonly #heartbeat: Heartbeat
  /** The answer to the opening that comes first, until somebody asks for it. */
  #opened: Promise<Reply> | undefined
  #calls = 0
  #pending = 0

  constructor(started: Started, shape: StoreShape, listen: Listen) {
    this.#started = started
    this.#shape = shape
    const { worker, hello } = started
    this.url = hello.url
    this.died = new Promise((resolve) => {
      this.#bury = resolve
    })
    this.#forget = whenDead(
      hello.alive,
      () => this.stop(),
      () => this.#heartbeat.doubt(),
    )
    worker.addEventListener('message', ({ data }: MessageEvent<Notice | undefined>) => {
      this.#heartbeat.heard()
      if (data?.mayfly === 'event') listen(data.event)
      else if (data?.mayfly === 'piece') this.#collect(data)
    })
    // A message that cannot be read would leave a call without its answer.
    worker.addEventListener('messageerror', () => this.stop())
    // Each look at a method of what Comlink wraps makes a new proxy, so there is one look.
    const { ping, open, run, tidy, sweep, answer, close, destroy } = wrap<Wire>(worker)
    this.#wire = { ping, open, run, tidy, sweep, answer, close, destroy }
    const ask = () => void ping().catch(() => undefined)
    this.#heartbeat = new Heartbeat(ask, () => this.stop())
    this.#opened = this.open()
    this.#opened.catch(() => undefined)
  }

  open(): Promise<Reply> {
    const opened = this.#opened
    this.#opened = undefined
    return opened ?? this.#ask(() => this.#wire.open(this.#shape))
  }

  async run(operations: Operation[]): Promise<Reply[]> {
    const call = ++this.#calls
    try {
      const last = await this.#ask(() => this.#wire.run(call, operations))
      const replies = join(this.#pieces.get(call) ?? [], last)
      return operations.map((operation, at) => fill(operation, replies[at]!))
    } finally {
      this.#pieces.delete(call)
    }
  }

  /** Not worth waiting for when the page is about to sleep. */
  tidy(budget: number): Promise<Tidied> {
    return this.#race(this.#wire.tidy(budget))
  }

  sweep(): Promise<Reply> {
    return this.#ask(() => this.#wire.sweep())
  }

  answer(call: string, answer: Answer): Promise<void> {
    return this.#race(this.#wire.answer(call, answer))
  }

  close(): Promise<void> {
    return this.#ask(() => this.#wire.close())
  }

  destroy(): Promise<Reply> {
    return this.#ask(() => this.#wire.destroy())
  }

  /** Stops when what was asked is done: at once when there is nothing. */
  async retire(): Promise<void> {
    if (this.#pending > 0) await this.close().catch(() => undefined)
    this.stop()
  }

  stop(): void {
    this.#forget()
    this.#started.worker.terminate()
    this.#die()
  }

  async #ask<T>(call: () => Promise<T>): Promise<T> {
    this.#pending++
    this.#heartbeat.begin()
    try {
      return await this.#race(call())
    } finally {
      this.#pending--
      this.#heartbeat.done()
    }
  }

  #race<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const lose = () => reject(LOST)
      if (this.#isDead) lose()
      this.#unanswered.add(lose)
      answer.then(resolve, reject).finally(() => this.#unanswered.delete(lose))
    })
  }

  #die(): void {
    this.#isDead = true
    this.#heartbeat.stop()
    this.#started.end?.()
    for (const lose of this.#unanswered) lose()
    this.#unanswered.clear()
    this.#bury()
  }

  #collect(piece: Piece): void {
    const pieces = this.#pieces.get(piece.call)
    if (pieces) pieces.push(piece)
    else this.#pieces.set(piece.call, [piece])
  }
}

function join(pieces: Piece[], last: Reply[]): Reply[] {
  if (pieces.length === 0) return last
  const replies = [...pieces.flatMap((piece) => ('replies' in piece ? piece.replies : [])), ...last]
  for (const piece of pieces) if ('items' in piece) append(replies[piece.reply], piece.items)
  return replies
}

function append(reply: Reply | undefined, items: unknown[]): void {
  if (!reply?.ok) return
  const list = Array.isArray(reply.value) ? (reply.value as unknown[]) : (reply.value as Page).items
  for (const item of items) list.push(item)
}

/** No event tells that a worker has died; but the lock that it held is free then. */
function whenDead(alive: string | undefined, tell: () => void, doubt: () => void): () => void {
  const locks = globalThis.navigator?.locks
  if (alive === undefined || !locks) return () => undefined
  const waiting = new AbortController()
  const watch = async () => {
    // One that is free already was the worker's, which has died since, or is out of the page's sight all along.
    const isSeen = await locks.request(alive, { ifAvailable: true }, (lock) => lock === null)
    if (isSeen) await locks.request(alive, { signal: waiting.signal }, tell)
    else doubt()
  }
  watch().catch(() => undefined)
  return () => waiting.abort()
}
