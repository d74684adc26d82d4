import { fail, toFailure } from '../errors.js'
import type { Answer, Link, Listen, Operation, Reply, StoreShape, Tidied } from '../protocol.js'
import { isRead, placeOf } from '../operation.js'
import type { Started } from './start.js'
import { LOST, Thread } from './thread.js'

/** How many workers may die over one call before it is given up. */
const ATTEMPTS = 3

/** Starts a worker; in another way when one, whose address is given, was cut off from the database for good. */
export type Start = (stranded: Pick<Thread, 'url'> | undefined) => Promise<Started>

/** An engine in a worker. When the worker dies, another takes its place. */
export class Remote implements Link {
  readonly #shape: StoreShape
  readonly #start: Start
  readonly #listen: Listen
  #current: Promise<Thread> | undefined
  #retiring: Promise<unknown> = Promise.resolve()
  #stranded: Thread | undefined
  #closed = false
  readonly #running = new Set<Promise<unknown>>()

  constructor(shape: StoreShape, start: Start, listen: Listen) {
    this.#shape = shape
    this.#start = start
    this.#listen = listen
  }

  open(): Promise<Reply> {
    return this.#insist((thread) => thread.open())
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
        const answer = answers === LOST ? undefined : answers[index]!
        const isUnknown = !answer || (!answer.ok && answer.failure.code === 'lost')
        const mayRepeat = isUnknown ? isRead(one.operation) : isStranded(answer)
        if (attempt < ATTEMPTS && mayRepeat) again.push(one)
        else replies[one.at] = answer ?? lost(one.operation)
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

  /** Another worker than the one that asked does not know the call. */
  answer(call: string, answer: Answer): void {
    this.#current?.then((thread) => thread.answer(call, answer)).catch(() => undefined)
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
        const thread = await this.#thread()
        const reply = await ask(thread)
        if (!isStranded(reply) || attempt === ATTEMPTS) return reply
        this.#abandon(thread)
      } catch (error) {
        if (error === LOST && attempt < ATTEMPTS && !this.#closed) continue
        return error === LOST ? lost() : { ok: false, failure: toFailure(error) }
      }
    }
  }

  async #attempt(operations: Operation[]): Promise<Reply[] | typeof LOST> {
    try {
      const thread = await this.#thread()
      const replies = await thread.run(operations)
      if (replies.some(isStranded)) this.#abandon(thread)
      return replies
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
      if (forget() && !this.#closed) this.#succeed()
    }, forget)
    return beginning
  }

  /** A worker that is cut off from the database for good finishes what it was asked, and goes. */
  #abandon(thread: Thread): void {
    if (this.#stranded === thread || this.#closed) return
    this.#stranded = thread
    this.rest()
    this.#succeed()
  }

  /** The next worker starts by itself, and goes on where the last one was deleting. */
  #succeed(): void {
    this.#listen({ due: 0 })
    this.#listen({ isNew: true })
  }

  async #begin(): Promise<Thread> {
    // What the last worker was still doing comes first.
    await this.#retiring
    return new Thread(await this.#start(this.#stranded), this.#shape, this.#listen)
  }
}

function isStranded(reply: Reply): boolean {
  return !reply.ok && reply.failure.remedy === 'another worker'
}

function lost(operation?: Operation): Reply {
  const sentence =
    'the worker died before the answer came, so nobody knows whether this was done. Read, and do it again if need be.'
  return { ok: false, failure: toFailure(fail('lost', operation ? placeOf(operation) : {}, sentence)) }
}
