import { toFailure } from '../errors.js'
import type { Place } from '../errors.js'
import type { Horizon, Operation, Reply, StoreShape, SweepSlice } from '../protocol.js'
import { isReadOnly, partsOf, placeOf } from '../operation.js'
import type { Clock } from './clock.js'
import type { Connection } from './connection.js'
import type { Ahead } from './find.js'
import { Knowledge } from './knowledge.js'
import { committed } from './request.js'
import { Session, Stale, Undone } from './session.js'
import { remember } from './settings.js'

/** How many documents are deleted at once to make room for a write. */
const ROOM = 1000

/** How often a transaction is begun anew because the connection was closed in between. */
const ATTEMPTS = 3

/** Is shown each session right before its transaction commits, and once it has. */
export interface Observer {
  committing: (session: Session) => void
  committed: (session: Session) => void
}

/** Performs operations in one transaction, and sees to it that one's failure is its own. */
export class Performer {
  readonly #shape: StoreShape
  readonly #clock: Clock
  readonly #connection: Connection
  readonly #observer: Observer
  readonly #knowledge = new Knowledge()

  constructor(shape: StoreShape, clock: Clock, connection: Connection, observer: Observer) {
    this.#shape = shape
    this.#clock = clock
    this.#connection = connection
    this.#observer = observer
  }

  /** Never rejects. Before storage is reported as full, what has expired is deleted to make room. */
  async perform(operations: Operation[], ahead?: Ahead): Promise<Reply[]> {
    if (operations.length === 0) return []
    return this.#try(operations, true, ahead)
  }

  /** One operation in a transaction of its own, which fails as a whole. */
  async one(operation: Operation): Promise<unknown> {
    const [reply] = await this.#transact([operation])
    if (reply?.ok) return reply.value
    throw new Error('The database refused.', { cause: reply?.failure })
  }

  /** An aborted transaction has written nothing, so each operation is tried by itself: only the culprit fails. */
  async #try(operations: Operation[], mayMakeRoom: boolean, ahead?: Ahead): Promise<Reply[]> {
    try {
      return await this.#transact(operations, ahead)
    } catch (error) {
      if (error instanceof Undone) return this.#around(operations, error, mayMakeRoom)
      const isFull = toFailure(error).code === 'quota'
      if (isFull && mayMakeRoom && (await this.#makeRoom())) return this.#try(operations, false)
      if (operations.length === 1) return [refusal(error, placeOf(operations[0]!))]
      const replies: Reply[] = []
      for (const operation of operations) replies.push(...(await this.#try([operation], false)))
      return replies
    }
  }

  /** What was undone with an operation is made without it; it has a transaction of its own. */
  async #around(operations: Operation[], { at, failure }: Undone, mayMakeRoom: boolean): Promise<Reply[]> {
    if (operations.length === 1) return [{ ok: false, failure }]
    const parts = [operations.slice(0, at), [operations[at]!], operations.slice(at + 1)]
    const replies: Reply[] = []
    for (const part of parts) if (part.length > 0) replies.push(...(await this.#try(part, mayMakeRoom)))
    return replies
  }

  async #transact(operations: Operation[], ahead?: Ahead): Promise<Reply[]> {
    const names = new Set(operations.flatMap(partsOf).map((operation) => operation.collection))
    const shapes = this.#shape.collections.filter(({ name }) => names.has(name))
    const mode = operations.every(isReadOnly) ? 'readonly' : 'readwrite'
    const transaction = await this.#begin([...names], mode)
    const session = new Session(transaction, shapes, this.#clock)
    const done = committed(transaction)
    const known = this.#knowledge.of(transaction.db)
    try {
      // A transaction that has ended leaves no request to wait for.
      const replies = await Promise.race([session.run(operations, known.assume(names), ahead), done.then(never)])
      this.#observer.committing(session)
      transaction.commit()
      // What was read is true already; what was written is not before it is committed.
      if (mode === 'readwrite') await done
      known.learn(session.shelves)
      // What was told of the dead has to last; when the disk is full, telling it is more important.
      if (session.unsettled.length > 0) await this.#remember(session).catch(() => undefined)
      this.#observer.committed(session)
      return replies
    } catch (error) {
      known.forget(names)
      if (!(error instanceof Stale)) return await abort(transaction, done, error)
      await abort(transaction, done, error).catch(() => undefined)
      return this.#transact(operations, ahead)
    }
  }

  async #remember({ unsettled }: Session): Promise<void> {
    await remember(await this.#connection.get(), unsettled, this.#clock)
  }

  async #begin(names: string[], mode: IDBTransactionMode): Promise<IDBTransaction> {
    for (let attempt = 1; ; attempt++) {
      const database = await this.#connection.get()
      try {
        return database.transaction(names, mode, { durability: this.#shape.durability })
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
        this.#connection.close()
      }
    }
  }

  /** Deletes what has expired; true when that was anything. */
  async #makeRoom(): Promise<boolean> {
    if (this.#clock.probation > 0) return false
    let deleted = 0
    for (const { name: collection } of this.#shape.collections) deleted += await this.#clean(collection)
    return deleted > 0
  }

  async #clean(collection: string): Promise<number> {
    let deleted = 0
    let from: Horizon | undefined
    try {
      for (;;) {
        const operation: Operation = { verb: 'sweep', collection, limit: ROOM, from, isWhole: true }
        const slice = (await this.one(operation)) as SweepSlice
        deleted += slice.deleted
        from = slice.reached
        if (!slice.more) return deleted
      }
    } catch {
      // What could be deleted may be enough.
      return deleted
    }
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}

export function refusal(error: unknown, place?: Place): Reply {
  return { ok: false, failure: toFailure(error, place) }
}

/** Undoes a transaction and throws the reason that says most: the transaction's own, where it has one. */
async function abort(transaction: IDBTransaction, done: Promise<void>, error: unknown): Promise<never> {
  try {
    transaction.abort()
  } catch {
    // It has ended already.
  }
  await done.catch((reason: Error) => {
    throw reason.name === 'AbortError' ? error : reason
  })
  throw error
}
