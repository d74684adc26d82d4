import { wrap } from 'comlink'
import type { Notice, Operation, Page, Piece, Reply, StoreShape, Tidied, Wire } from '../protocol.js'
import type { Listen } from '../protocol.js'
import type { Started } from './start.js'

/** What a call rejects with when its worker died before the answer came. */
export const LOST = Symbol('lost')

/** A worker, from its hello to its death. */
export class Thread {
  /** Resolves when the worker has died, by itself or because it was stopped. */
  readonly died: Promise<void>
  readonly opened: Promise<Reply>
  readonly #worker: Worker
  readonly #wire: Wire
  readonly #pieces = new Map<number, Piece[]>()
  /** What to do about each call that has no answer yet when the worker dies. */
  readonly #unanswered = new Set<() => void>()
  #isDead = false
  #bury!: () => void
  #forget: () => void
  #calls = 0
  #pending = 0

  constructor({ worker, hello }: Started, shape: StoreShape, listen: Listen) {
    this.#worker = worker
    this.died = new Promise((resolve) => {
      this.#bury = resolve
    })
    this.#forget = whenDead(hello.alive, () => this.#die())
    worker.addEventListener('message', ({ data }: MessageEvent<Notice | undefined>) => {
      if (data?.mayfly === 'event') listen(data.event)
      else if (data?.mayfly === 'piece') this.#collect(data)
    })
    // A message that cannot be read would leave a call without its answer.
    worker.addEventListener('messageerror', () => this.stop())
    // Each look at a method of what Comlink wraps makes a new proxy, so there is one look.
    const { open, run, tidy, sweep, close, destroy } = wrap<Wire>(worker)
    this.#wire = { open, run, tidy, sweep, close, destroy }
    this.opened = this.#ask<Reply>(() => open(shape))
    this.opened.catch(() => undefined)
  }

  async run(operations: Operation[]): Promise<Reply[]> {
    const call = ++this.#calls
    try {
      const replies = await this.#ask(() => this.#wire.run(call, operations))
      for (const { reply, items } of this.#pieces.get(call) ?? []) append(replies[reply], items)
      return replies
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
    this.#worker.terminate()
    this.#die()
  }

  async #ask<T>(call: () => Promise<T>): Promise<T> {
    this.#pending++
    try {
      return await this.#race(call())
    } finally {
      this.#pending--
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

function append(reply: Reply | undefined, items: unknown[]): void {
  if (!reply?.ok) return
  const list = Array.isArray(reply.value) ? (reply.value as unknown[]) : (reply.value as Page).items
  for (const item of items) list.push(item)
}

/** No event tells that a worker has died; but the lock that it held is free then. */
function whenDead(alive: string | undefined, tell: () => void): () => void {
  const locks = globalThis.navigator?.locks
  if (alive === undefined || !locks) return () => undefined
  const waiting = new AbortController()
  locks.request(alive, { signal: waiting.signal }, tell).catch(() => undefined)
  return () => waiting.abort()
}
