import { toFailure } from '../errors.js'
import type { Place } from '../errors.js'
import type { Link, Operation, Reply, StoreShape, SweepSlice } from '../protocol.js'
import { Clock } from './clock.js'
import { Connection } from './connection.js'
import type { Hearing } from './connection.js'
import { deleteDatabase, openDatabase } from './database.js'
import { committed } from './request.js'
import { Session, writes } from './session.js'
import { applyDeclared, remember } from './settings.js'

/** How many documents are deleted at once to make room for a write. */
const ROOM = 1000

/** How often a transaction is begun anew because the connection was closed in between. */
const ATTEMPTS = 3

interface Batch {
  operations: Operation[]
  resolve: (replies: Reply[]) => void
}

/** Runs operations in order: whatever arrives while a transaction is running goes together into the next. */
export class Engine implements Link {
  readonly #shape: StoreShape
  readonly #clock: Clock
  readonly #connection: Connection
  readonly #waiting: Batch[] = []
  #working: Promise<void> | undefined
  #declared = false

  constructor(shape: StoreShape, now: () => number) {
    this.#shape = shape
    this.#clock = new Clock(now)
    this.#connection = new Connection(shape, (hearing) => this.#open(hearing))
  }

  open(): Promise<Reply> {
    return this.#connection.get().then(() => DONE, refusal)
  }

  run(operations: Operation[]): Promise<Reply[]> {
    return new Promise((resolve) => {
      this.#waiting.push({ operations, resolve })
      this.#working ??= this.#work()
    })
  }

  /** Lets what was asked finish first. */
  async close(): Promise<void> {
    await this.#working
    this.#connection.close()
  }

  async destroy(): Promise<Reply> {
    await this.close()
    return deleteDatabase(this.#shape).then(() => DONE, refusal)
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      // While the database is being opened, more operations may join the batch.
      const failure = await this.#connection.get().then(() => undefined, refusal)
      const batches = this.#waiting.splice(0)
      const operations = batches.flatMap((batch) => batch.operations)
      const replies = failure ? operations.map(() => failure) : await this.#perform(operations, true)
      let at = 0
      for (const { operations, resolve } of batches) resolve(replies.slice(at, (at += operations.length)))
    }
    this.#working = undefined
  }

  /** An aborted transaction has written nothing, so each operation is tried by itself: only the culprit fails. */
  async #perform(operations: Operation[], mayMakeRoom: boolean): Promise<Reply[]> {
    try {
      return await this.#transact(operations)
    } catch (error) {
      const isFull = toFailure(error).code === 'quota'
      if (isFull && mayMakeRoom && (await this.#makeRoom())) return this.#perform(operations, false)
      if (operations.length === 1) return [refusal(error, operations[0])]
      const replies: Reply[] = []
      for (const operation of operations) replies.push(...(await this.#perform([operation], false)))
      return replies
    }
  }

  async #transact(operations: Operation[]): Promise<Reply[]> {
    const names = new Set(operations.map((operation) => operation.collection))
    const shapes = this.#shape.collections.filter(({ name }) => names.has(name))
    const transaction = await this.#begin([...names], operations.some(writes))
    const session = new Session(transaction, shapes, this.#clock)
    const done = committed(transaction)
    try {
      const replies = await session.run(operations)
      transaction.commit()
      await done
      // What was told of the dead has to last; when the disk is full, telling it is more important.
      if (session.unsettled.length > 0) await this.#remember(session).catch(() => undefined)
      return replies
    } catch (error) {
      return await abort(transaction, done, error)
    }
  }

  async #remember({ unsettled }: Session): Promise<void> {
    await remember(await this.#connection.get(), unsettled, this.#clock)
  }

  async #begin(names: string[], writing: boolean): Promise<IDBTransaction> {
    for (let attempt = 1; ; attempt++) {
      const database = await this.#connection.get()
      try {
        const { durability } = this.#shape
        return database.transaction(names, writing ? 'readwrite' : 'readonly', { durability })
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
        this.#connection.close()
      }
    }
  }

  /** Deletes what has expired; true when that was anything. */
  async #makeRoom(): Promise<boolean> {
    let deleted = 0
    for (const { name: collection } of this.#shape.collections) {
      for (let more = true; more;) {
        const [reply] = await this.#perform([{ verb: 'sweep', collection, limit: ROOM }], false)
        const slice = reply?.ok ? (reply.value as SweepSlice) : { deleted: 0, more: false }
        deleted += slice.deleted
        more = slice.more
      }
    }
    return deleted > 0
  }

  /** Another tab that changes the database may take the connection away before it was of any use: then, again. */
  async #open(hearing: Hearing): Promise<IDBDatabase> {
    for (;;) {
      const state = { gone: false, inUse: false }
      const gone = () => {
        state.gone = true
        if (state.inUse) hearing.gone()
      }
      let database: IDBDatabase | undefined
      try {
        database = await openDatabase(this.#shape, { ...hearing, gone })
        await this.#declare(database)
        state.inUse = true
        if (!state.gone) return database
      } catch (error) {
        database?.close()
        if (!state.gone) throw error
      }
    }
  }

  /** Once: a tab that merely reconnects must not undo what another has set meanwhile. */
  async #declare(database: IDBDatabase): Promise<void> {
    if (this.#declared) return
    await applyDeclared(database, this.#shape.collections, this.#clock)
    this.#declared = true
  }
}

const DONE: Reply = { ok: true, value: undefined }

function refusal(error: unknown, place?: Place): Reply {
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
