import { fail, fromFailure } from '../errors.js'
import type { Link, Operation, Reply } from '../protocol.js'

interface Call {
  operation: Operation
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Work of several messages, for which everything asked later waits. */
export interface Job {
  start: (send: Send) => Promise<void>
}

/** Sends operations past the queue, for a job that has its turn. */
export type Send = (operations: Operation[]) => Promise<Reply[]>

/**
 * Keeps the calls of a page in the order in which they were made, and gathers those of one tick
 * into one message.
 */
export class Queue {
  readonly #link: Link
  readonly #items: (Call | Job)[] = []
  #scheduled = false
  #busy = false
  #ended: Promise<void> | undefined

  constructor(link: Link) {
    this.#link = link
  }

  checkOpen(): void {
    if (this.#ended) throw fail('closed', {}, 'the store is closed. Open it again with openStore().')
  }

  /** One operation. What `make` throws rejects the call, and so does a closed store before that. */
  call(make: () => Operation): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.checkOpen()
      this.#push({ operation: make(), resolve, reject })
    })
  }

  job<T>(work: (send: Send) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.add({ start: (send) => work(send).then(resolve, reject) })
    })
  }

  /** Work that begins in its turn, and for which nothing that is asked later waits. */
  async aside<T>(work: () => Promise<T>): Promise<T> {
    const { begun } = await this.job(async () => ({ begun: work() }))
    return begun
  }

  add(job: Job): void {
    this.checkOpen()
    this.#push(job)
  }

  /** Whether nothing was asked since, and the job has not begun. */
  isLast(job: Job): boolean {
    return this.#items.at(-1) === job
  }

  /** Ends the queue: what was asked finishes first, what is asked later is refused. */
  end(work: () => Promise<void>): Promise<void> {
    this.checkOpen()
    return (this.#ended = this.job(work))
  }

  /** Resolves when the queue has ended; undefined while it has not been asked to. */
  get ended(): Promise<void> | undefined {
    return this.#ended?.catch(() => undefined)
  }

  readonly #send: Send = (operations) => this.#link.run(operations)

  #push(item: Call | Job): void {
    this.#items.push(item)
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    while (!this.#busy && this.#items.length > 0) {
      const first = this.#items[0]!
      if ('start' in first) this.#start(this.#items.shift() as Job)
      else void this.#deliver(this.#takeCalls())
    }
  }

  #takeCalls(): Call[] {
    const end = this.#items.findIndex((item) => 'start' in item)
    return this.#items.splice(0, end === -1 ? this.#items.length : end) as Call[]
  }

  async #deliver(calls: Call[]): Promise<void> {
    const replies = await this.#send(calls.map((call) => call.operation))
    calls.forEach(({ resolve, reject }, at) => {
      const reply = replies[at]!
      if (reply.ok) resolve(reply.value)
      else reject(fromFailure(reply.failure))
    })
  }

  #start(job: Job): void {
    this.#busy = true
    void job.start(this.#send).finally(() => {
      this.#busy = false
      this.#flush()
    })
  }
}

/** The value of a reply, or its failure thrown. */
export function valueOf(reply: Reply | undefined): unknown {
  if (reply?.ok) return reply.value
  throw reply ? fromFailure(reply.failure) : new TypeError('The engine gave no reply.')
}
