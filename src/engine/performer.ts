import { fail, toFailure } from '../errors.js'
import type { Place } from '../errors.js'
import type { Operation, Reply, StoreShape } from '../protocol.js'
import { isRead, isReadOnly, partsOf, placeOf } from '../operation.js'
import type { Clock } from './clock.js'
import { begin, closed } from './closing.js'
import type { Connection } from './connection.js'
import { Debts } from './debts.js'
import type { Ahead } from './find.js'
import { full, fullness, onlyRemove } from './fullness.js'
import { Knowledge } from './knowledge.js'
import type { Migrations } from './migrations.js'
import type { DocumentRecord } from './life.js'
import { committed, result } from './request.js'
import { Room } from './room.js'
import { Outdated, Session, Stale, Undone } from './session.js'
import { remember } from './settings.js'
import { isSevered, Severed } from './severed.js'
import type { Owed } from './shelf.js'

/** How often a transaction is begun anew because the connection was closed in between, or during it. */
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
  readonly #migrations: Migrations
  readonly #observer: Observer
  readonly #knowledge = new Knowledge()
  readonly #debts = new Debts()

  constructor(shape: StoreShape, clock: Clock, connection: Connection, migrations: Migrations, observer: Observer) {
    this.#shape = shape
    this.#clock = clock
    this.#connection = connection
    this.#migrations = migrations
    this.#observer = observer
  }

  /** Never rejects. Before storage is reported as full, room is made. */
  async perform(operations: Operation[], ahead?: Ahead): Promise<Reply[]> {
    if (operations.length === 0) return []
    const { collections } = this.#shape
    const one = (operation: Operation) => this.one(operation)
    return this.#try(operations, new Room(operations, { collections, clock: this.#clock, one }), ahead)
  }

  /** One operation in a transaction of its own, which fails as a whole. */
  async one(operation: Operation): Promise<unknown> {
    const transact = (isBare: boolean) => this.#repeatedly([operation], isBare)
    const [reply] = await transact(false).catch((error: unknown) => {
      if (fullness(error) && onlyRemove([operation])) return transact(true)
      throw error
    })
    if (reply?.ok) return reply.value
    throw new Error('The database refused.', { cause: reply?.failure })
  }

  /** An aborted transaction has written nothing, so each operation is tried by itself: only the culprit fails. */
  async #try(operations: Operation[], room: Room, ahead?: Ahead): Promise<Reply[]> {
    const isRead = operations.every(isReadOnly)
    const removes = onlyRemove(operations)
    let isBare = false
    let steps: AsyncGenerator<void> | undefined
    for (;;) {
      try {
        return await this.#repeatedly(operations, isBare, ahead)
      } catch (error) {
        if (error instanceof Undone) return this.#around(operations, error, room)
        if (error instanceof Severed && error.isUncertain) return this.#afterwards(operations, error)
        const face = isRead ? undefined : fullness(error)
        if (face && removes && !isBare) {
          isBare = true
          continue
        }
        if (face) {
          steps ??= room.steps(operations, face)
          if (!(await steps.next()).done) continue
        }
        if (operations.length === 1) return [give(operations[0]!, face && !removes, error)]
      }
      const replies: Reply[] = []
      for (const operation of operations) replies.push(...(await this.#try([operation], room)))
      return replies
    }
  }

  /** What was undone with an operation is made without it; it has a transaction of its own. */
  async #around(operations: Operation[], { at, failure }: Undone, room: Room): Promise<Reply[]> {
    if (operations.length === 1) return [{ ok: false, failure }]
    const parts = [operations.slice(0, at), [operations[at]!], operations.slice(at + 1)]
    const replies: Reply[] = []
    for (const part of parts) if (part.length > 0) replies.push(...(await this.#try(part, room)))
    return replies
  }

  /** What was severed before its commit has written nothing, and what only deletes what has expired may do it twice. */
  async #repeatedly(operations: Operation[], isBare: boolean, ahead?: Ahead): Promise<Reply[]> {
    const mayRepeat = operations.every((operation) => isRead(operation) || operation.verb === 'sweep')
    let isGiven = false
    const give: Ahead | undefined =
      ahead &&
      ((items) => {
        isGiven = true
        ahead(items)
      })
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transact(operations, isBare, give)
      } catch (error) {
        if (!(error instanceof Severed) || (error.isUncertain && !mayRepeat)) throw error
        // What was given ahead must not be given twice: whoever has it asks again.
        if (isGiven) throw new Severed(true, error.cause)
        if (attempt === ATTEMPTS) throw error.isUncertain ? error : error.cause
      }
    }
  }

  /** Nothing is done before the documents are of this app's version; a tab of an earlier one may write more at any time. */
  async #transact(operations: Operation[], isBare: boolean, ahead?: Ahead): Promise<Reply[]> {
    for (;;) {
      try {
        return await this.#attempt(operations, isBare, ahead)
      } catch (error) {
        if (!(error instanceof Outdated)) throw error
        await this.#migrations.run(error.shapes, (name, mode) => this.#begin([name], mode))
      }
    }
  }

  /** Nobody knows what became of a commit: what only reads is asked again. */
  async #afterwards(operations: Operation[], { cause }: Severed): Promise<Reply[]> {
    const reads = operations.filter(isRead)
    const answers = reads.length < operations.length ? await this.perform(reads) : []
    const sentence = 'the browser closed the database before the answer came: read, and do it again if need be.'
    return operations.map((operation) => {
      const answer = isRead(operation) ? answers[reads.indexOf(operation)] : undefined
      return answer ?? refusal(fail('lost', placeOf(operation), sentence, cause), placeOf(operation))
    })
  }

  async #attempt(operations: Operation[], isBare: boolean, ahead?: Ahead): Promise<Reply[]> {
    const names = new Set(operations.flatMap(partsOf).map((operation) => operation.collection))
    const shapes = this.#shape.collections.filter(({ name }) => names.has(name))
    const mode = operations.every(isReadOnly) ? 'readonly' : 'readwrite'
    const transaction = await this.#begin([...names], mode)
    const owed = mode === 'readonly' || isBare ? new Map<string, Owed>() : this.#debts.take(names)
    const session = new Session(transaction, shapes, this.#clock, { isBare, owed })
    const done = committed(transaction)
    const known = this.#knowledge.of(transaction.db)
    let isCommitting = false
    let replies: Reply[] = []
    try {
      // A transaction that has ended leaves no request to wait for.
      replies = await Promise.race([session.run(operations, known.assume(names), ahead), done.then(never)])
      this.#observer.committing(session)
      if (mode === 'readwrite') {
        transaction.commit()
        isCommitting = true
        await done
        isCommitting = false
      }
      known.learn(session.shelves)
      // What was told of the dead has to last; when the disk is full, telling it is more important.
      if (session.unsettled.length > 0) await this.#remember(session).catch(() => undefined)
      this.#observer.committed(session)
      if (isBare) await this.#owe(session)
      return replies
    } catch (error) {
      known.forget(names)
      if (isSevered(transaction, error)) {
        const isMade = isCommitting ? await this.#isMade(session) : false
        if (!isMade) this.#debts.add(owed)
        if (!isMade) throw new Severed(isMade === undefined, error)
        this.#observer.committed(session)
        return replies
      }
      this.#debts.add(owed)
      if (!(error instanceof Stale)) return await abort(transaction, done, error)
      await abort(transaction, done, error).catch(() => undefined)
      return this.#attempt(operations, isBare, ahead)
    }
  }

  /** Looks whether a commit that nobody has answered for was made: all of it was when anything was; undefined: who knows. */
  async #isMade({ shelves }: Session): Promise<boolean | undefined> {
    const shelf = shelves.find(({ written, removed }) => written ?? removed)
    const { written, removed } = shelf ?? {}
    const looked = written ?? removed
    if (!shelf || !looked) return undefined
    const { name } = shelf.shape
    try {
      const transaction = await this.#begin([name], 'readonly')
      const { doc } = ((await result(transaction.objectStore(name).get(looked.doc.id))) ??
        {}) as Partial<DocumentRecord>
      const isThere = doc?._etag === looked.doc._etag
      if (removed === looked) return isThere ? false : doc ? undefined : true
      // Somebody may have written over it since.
      return isThere || (doc && doc._ts > looked.doc._ts ? undefined : false)
    } catch {
      return undefined
    }
  }

  /** What could not be noted with what was deleted is noted now, where there is room for it, or with the next write. */
  async #owe({ shelves }: Session): Promise<void> {
    this.#debts.add(new Map(shelves.flatMap(({ shape, untold }) => (untold ? [[shape.name, untold]] : []))))
    for (const { shape } of shelves) {
      await this.#transact([{ verb: 'bury', collection: shape.name }], false).catch(() => undefined)
    }
  }

  async #remember({ unsettled }: Session): Promise<void> {
    await remember(await this.#connection.get(), unsettled, this.#clock)
  }

  async #begin(names: string[], mode: IDBTransactionMode): Promise<IDBTransaction> {
    for (let attempt = 1; ; attempt++) {
      const database = await this.#connection.get()
      try {
        return begin(database, names, mode, { durability: this.#shape.durability })
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
        if (!(await closed(database))) void this.#connection.close()
      }
    }
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}

function give(operation: Operation, isFull: boolean | undefined, error: unknown): Reply {
  const place = placeOf(operation)
  return refusal(isFull ? full(place, error) : error, place)
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
