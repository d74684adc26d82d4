import { fromFailure } from '../errors.js'
import type { Answer, CollectionShape, Listen } from '../protocol.js'
import type { Clock } from './clock.js'
import { begin as beginOn } from './closing.js'
import { pieces } from './cut.js'
import { newEtag } from './etag.js'
import type { DocumentRecord } from './life.js'
import { prepare } from './listen.js'
import { committed } from './request.js'
import { Shelf } from './shelf.js'
import { inTurn, Overtaken } from './turn.js'
import { Upgrade } from './upgrade.js'
import { isBehind, levelOf, versionOf } from './versions.js'

export interface MigrationTools {
  clock: Clock
  send: Listen
  /** Is told of each transaction before its commit and after it. */
  observer: Record<'committing' | 'committed', (session: { shelves: Shelf[] }) => void>
}

/** Begins a transaction on a collection. */
type Begin = (name: string, mode: IDBTransactionMode) => Promise<IDBTransaction>

interface Job {
  shape: CollectionShape
  begin: Begin
  isWanted: () => boolean
}

/**
 * Brings documents to the version that the code declares. The function that does it lives on the page, so the
 * documents go there and come back between two transactions; what has changed in between goes once more.
 */
export class Migrations {
  readonly #store: string
  readonly #tools: MigrationTools
  readonly #asked = new Map<string, (answer: Answer) => void>()
  readonly #running = new Map<string, Promise<void>>()

  constructor(store: string, tools: MigrationTools) {
    this.#store = store
    this.#tools = tools
  }

  /** While the store is being opened, however long it takes. */
  async open(
    shapes: CollectionShape[],
    database: IDBDatabase,
    hearing: { upgrading: () => void; isWanted: () => boolean },
  ): Promise<void> {
    const begin: Begin = async (name, mode) => beginOn(database, name, mode)
    for (const shape of shapes.filter(({ migrates }) => migrates)) {
      const job = { shape, begin, isWanted: hearing.isWanted }
      if ((await this.#place(job)) === undefined) continue
      hearing.upgrading()
      await this.#migrate(job)
    }
  }

  /** When a tab of an earlier version has written something. */
  async run(shapes: CollectionShape[], begin: Begin): Promise<void> {
    for (const shape of shapes) {
      const { name } = shape
      await (this.#running.get(name) ?? this.#start({ shape, begin, isWanted: () => true }))
    }
  }

  answer(call: string, answer: Answer): void {
    this.#asked.get(call)?.(answer)
    this.#asked.delete(call)
  }

  #start(job: Job): Promise<void> {
    const { name } = job.shape
    const running = this.#migrate(job).finally(() => this.#running.delete(name))
    this.#running.set(name, running)
    return running
  }

  #migrate(job: Job): Promise<void> {
    const name = `mayfly-migrate:${JSON.stringify([this.#store, job.shape.name])}`
    return inTurn(
      name,
      (isMine) => this.#pass(job, isMine),
      () => this.#place(job),
    )
  }

  async #pass(job: Job, isMine: () => boolean): Promise<void> {
    const { shape, isWanted } = job
    let { next, total } = await this.#step(job)
    let done = 0
    while (next.length > 0) {
      if (!isMine()) throw new Overtaken()
      if (!isWanted()) throw new Error('Nobody wants the connection any more.')
      const { migrated, failure } = await this.#ask(shape, next)
      const step = await this.#step(job, { migrated })
      done += step.passed
      const isOver = step.next.length === 0
      if (total > 0) this.#tell(shape, isOver ? total : Math.min(done, total), total)
      const reason = step.failure ?? failure
      if (reason) throw fromFailure(reason)
      next = step.next
    }
  }

  #tell({ name }: CollectionShape, done: number, total: number): void {
    this.#tools.send({ migration: name, progress: { done, total } })
  }

  #ask({ name }: CollectionShape, records: DocumentRecord[]): Promise<Answer> {
    const [documents = []] = pieces(records.map((record) => ({ doc: record.doc, from: versionOf(record) })))
    const call = newEtag()
    return new Promise((resolve) => {
      this.#asked.set(call, resolve)
      this.#tools.send({ migration: name, call, documents })
    })
  }

  async #step(job: Job, { migrated }: Answer = { migrated: [] }): Promise<Upgrade> {
    const { upgrade, shelf } = await this.#visit(job, 'readwrite', async (shelf) => {
      const upgrade = new Upgrade(shelf, migrated)
      await prepare(shelf)
      await upgrade.run()
      return { upgrade, shelf }
    })
    this.#tools.observer.committed({ shelves: [shelf] })
    return upgrade
  }

  /** How far the migration has come; undefined when it is done. */
  #place(job: Job): Promise<string | undefined> {
    return this.#visit(job, 'readonly', async ({ setting, shape }) =>
      isBehind(setting, shape) ? JSON.stringify(levelOf(setting.levels, shape.version)) : undefined,
    )
  }

  async #visit<T>({ shape, begin }: Job, mode: IDBTransactionMode, see: (shelf: Shelf) => Promise<T>): Promise<T> {
    const transaction = await begin(shape.name, mode)
    const done = committed(transaction)
    const shelf = new Shelf(shape, transaction.objectStore(shape.name), this.#tools.clock)
    const visit = async () => {
      await shelf.load()
      shelf.tick()
      const seen = await see(shelf)
      shelf.settle()
      if (shelf.writable) this.#tools.observer.committing({ shelves: [shelf] })
      return seen
    }
    try {
      // A transaction that has ended leaves no request to wait for.
      const [seen] = await Promise.race([Promise.all([visit(), done]), done.then(never)])
      return seen
    } catch (error) {
      abort(transaction)
      throw error
    }
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort()
  } catch {
    // It has ended already.
  }
}
