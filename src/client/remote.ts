import { fail, toFailure } from '../errors.js'
import type { Link, Listen, Operation, Reply, StoreShape, Tidied } from '../protocol.js'
import { isRead, placeOf } from '../operation.js'
import type { Started } from './start.js'
import { LOST, Thread } from './thread.js'

/** How many workers may die over one call before it is given up. */
const ATTEMPTS = 3

/** An engine in a worker. When the worker dies, another takes its place. */
export class Remote implements Link {
  readonly #shape: StoreShape
  readonly #start: () => Promise<Started>
  readonly #listen: Listen
  #current: Promise<Thread> | undefined
  #retiring: Promise<unknown> = Promise.resolve()
  #closed = false
  readonly #running = new Set<Promise<unknown>>()

  constructor(shape: StoreShape, start: () => Promise<Started>, listen: Listen) {
    this.#shape = shape
    this.#start = start
    this.#listen = listen
  }

  open(): Promise<Reply> {
    return this.#insist((thread) => thread.opened)
  }

  run(operations: Operation[]): Promise<Reply[]> {
    const running = this.#run(operations)
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
    return running
  }

  /** Reads are repeated by themselves; of a write nobody knows whether it was committed. */
  async #run(operations: Operation[]): Promise<Reply[]> {
    const replies: Reply[] = Array.from({ length: operations.length })
    let pending = operations.map((operation, at) => ({ operation, at }))
    for (let attempt = 1; pending.length > 0; attempt++) {
      const answers = await this.#attempt(pending.map(({ operation }) => operation))
      const again: typeof pending = []
      pending.forEach((one, index) => {
        if (answers !== LOST) replies[one.at] = answers[index]!
        else if (attempt < ATTEMPTS && isRead(one.operation)) again.push(one)
        else replies[one.at] = lost(one.operation)
      })
      pending = again
    }
    return replies
  }

  async tidy(budget: number): Promise<Tidied> {
    return (await this.#thread()).tidy(budget)
  }

  sweep(): Promise<Reply> {
    return this.#insist((thread) => thread.sweep())
  }

  rest(): void {
    const current = this.#current
    this.#current = undefined
    if (current) this.#retiring = current.then((thread) => thread.retire()).catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#running)
    const current = this.#current
    this.#current = undefined
    const thread = await current?.catch(() => undefined)
    await thread?.close().catch(() => undefined)
    thread?.stop()
    await this.#retiring
  }

  async destroy(): Promise<Reply> {
    const reply = await this.#insist((thread) => thread.destroy())
    await this.close()
    return reply
  }

  /** Asks again when a worker dies over something that may be done twice. */
  async #insist(ask: (thread: Thread) => Promise<Reply>): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(await this.#thread())
      } catch (error) {
        if (error === LOST && attempt < ATTEMPTS && !this.#closed) continue
        return error === LOST ? lost() : { ok: false, failure: toFailure(error) }
      }
    }
  }

  async #attempt(operations: Operation[]): Promise<Reply[] | typeof LOST> {
    try {
      return await (await this.#thread()).run(operations)
    } catch (error) {
      if (error === LOST) return LOST
      // A message that cannot be sent, or answered, has a culprit, which fails alone.
      if (operations.length > 1 && toFailure(error).code !== 'unavailable') return this.#singly(operations)
      return operations.map((operation) => ({ ok: false, failure: toFailure(error, placeOf(operation)) }))
    }
  }

  async #singly(operations: Operation[]): Promise<Reply[]> {
    return (await Promise.all(operations.map((operation) => this.run([operation])))).flat()
  }

  #thread(): Promise<Thread> {
    if (this.#current) return this.#current
    const beginning = this.#begin()
    this.#current = beginning
    const forget = () => {
      if (this.#current !== beginning) return
      this.#current = undefined
      return true
    }
    beginning.then(async (thread) => {
      await thread.died
      // The next worker starts by itself, and goes on where this one was deleting.
      if (!forget() || this.#closed) return
      this.#listen({ due: 0 })
      this.#listen({ isNew: true })
    }, forget)
    return beginning
  }

  async #begin(): Promise<Thread> {
    // What the last worker was still doing comes first.
    await this.#retiring
    return new Thread(await this.#start(), this.#shape, this.#listen)
  }
}

function lost(operation?: Operation): Reply {
  const sentence =
    'the worker died before the answer came, so nobody knows whether this was done. Read, and do it again if need be.'
  return { ok: false, failure: toFailure(fail('lost', operation ? placeOf(operation) : {}, sentence)) }
}
