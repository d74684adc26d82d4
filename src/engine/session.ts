import { MayflyError, toFailure } from '../errors.js'
import { placeOf } from '../operation.js'
import type { CollectionShape, Document, Failure, Operation, Reply } from '../protocol.js'
import type { Clock } from './clock.js'
import type { Ahead } from './find.js'
import type { Setting } from './life.js'
import { prepare } from './listen.js'
import { Shelf } from './shelf.js'
import type { Owed } from './shelf.js'
import { isKeyed, needs, overwrites, verbs } from './verbs.js'
import type { KeyedOperation } from './verbs.js'
import { isBehind, isIndifferent } from './versions.js'
import { wholes } from './whole.js'

/** Says that a transaction has to be undone, because one of its operations could be made in part only. */
export class Undone extends Error {
  readonly at: number
  readonly failure: Failure

  constructor(at: number, failure: Failure) {
    super(failure.message)
    this.at = at
    this.failure = failure
  }
}

/** Says that a setting was not the one that was assumed: everything has to be done again. */
export class Stale extends Error {}

/** What else holds for the operations of a transaction. */
export interface Terms {
  /** There is room for nothing but to delete. */
  isBare: boolean
  /** What those who listen have still to be told, by collection. */
  owed: ReadonlyMap<string, Owed>
}

/** Says that documents have to be migrated before anything else. */
export class Outdated extends Error {
  readonly shapes: CollectionShape[]

  constructor(shapes: CollectionShape[]) {
    super('There are documents of an earlier version.')
    this.shapes = shapes
  }
}

/** Operations in one transaction, in order, each with a reply of its own. */
export class Session {
  readonly #shelves = new Map<string, Shelf>()

  constructor(transaction: IDBTransaction, shapes: CollectionShape[], clock: Clock, { isBare, owed }: Terms) {
    for (const shape of shapes) {
      const shelf = new Shelf(shape, transaction.objectStore(shape.name), clock)
      shelf.isBare = isBare
      shelf.owed = owed.get(shape.name)
      this.#shelves.set(shape.name, shelf)
    }
  }

  /**
   * Where the settings are known from the last transaction they are taken for granted while they are being read: what
   * needs them is asked for in the same round trip. When they turn out to be others, it is all thrown away.
   */
  async run(operations: Operation[], assumed?: Map<string, Setting>, ahead?: Ahead): Promise<Reply[]> {
    const stretches = split(operations)
    const loaded = Promise.all(this.shelves.map((shelf) => shelf.load(assumed?.get(shelf.shape.name))))
    loaded.catch(() => undefined)
    const first = Promise.all(this.#fetch(stretches[0]!))
    first.catch(() => undefined)
    if (!assumed) await loaded
    const isStale = () => loaded.then((each) => each.includes(false))
    try {
      await first
      const replies = await this.#answerAll(stretches, ahead)
      if (!(await isStale())) return replies
    } catch (error) {
      if (!(await isStale().catch(() => false))) throw error
    }
    throw new Stale()
  }

  async #answerAll(stretches: Operation[][], ahead?: Ahead): Promise<Reply[]> {
    if (!stretches.flat().every(isIndifferent)) this.#checkVersions()
    for (const shelf of this.#shelves.values()) await prepare(shelf)
    const replies: Reply[] = []
    for (const [at, stretch] of stretches.entries()) {
      if (at > 0) await Promise.all(this.#fetch(stretch))
      for (const operation of stretch) replies.push(await this.#answer(operation, replies.length, ahead))
    }
    for (const shelf of this.#shelves.values()) shelf.settle()
    return replies
  }

  get shelves(): Shelf[] {
    return [...this.#shelves.values()]
  }

  /** What must still be stored before the replies may go out, when the transaction could only read. */
  get unsettled(): Shelf[] {
    return this.shelves.filter((shelf) => shelf.dirty)
  }

  #checkVersions(): void {
    const behind = this.shelves.filter(({ setting, shape }) => isBehind(setting, shape))
    if (behind.length > 0) throw new Outdated(behind.map(({ shape }) => shape))
  }

  #fetch(stretch: Operation[]): Promise<void>[] {
    const wanted = new Map<Shelf, string[]>()
    for (const operation of stretch.filter(isKeyed)) {
      const shelf = this.#shelf(operation)
      if (!wanted.has(shelf)) wanted.set(shelf, [])
      const ids = wanted.get(shelf)!
      for (const id of needs(operation)) ids.push(id)
    }
    return [...wanted].map(async ([shelf, ids]) => {
      shelf.forget()
      const fetching = shelf.fetch(ids)
      if (shelf.shape.maxDocuments !== undefined) {
        const keyed = stretch.filter(isKeyed).filter((operation) => this.#shelf(operation) === shelf)
        await shelf.probe(keyed.flatMap(overwrites))
      }
      await fetching
    })
  }

  async #answer(operation: Operation, at: number, ahead?: Ahead): Promise<Reply> {
    if (operation.verb === 'atomic') return this.#together(operation.operations, at)
    const shelf = this.#shelf(operation)
    shelf.tick()
    const give = ahead && ((items: Document[]) => (shelf.isSound ? ahead(items) : stale()))
    try {
      return { ok: true, value: await perform(shelf, operation, give) }
    } catch (error) {
      // Where the database fails, part of the operation may have been made: all has to be undone.
      if (!(error instanceof MayflyError)) throw error
      return { ok: false, failure: toFailure(error, placeOf(operation)) }
    }
  }

  /** All, or none: when one of them fails, what those before it have written is undone with the transaction. */
  async #together(operations: Operation[], at: number): Promise<Reply> {
    await Promise.all(this.#fetch(operations))
    this.#keep(operations)
    const values: unknown[] = []
    for (const [step, operation] of operations.entries()) {
      const reply = await this.#answer(operation, at)
      if (reply.ok) {
        values.push(reply.value)
        continue
      }
      const which =
        operation.verb === 'unstage'
          ? 'Nothing was imported.'
          : `It is number ${step + 1} of ${operations.length}, ${operation.verb}, of an atomic write: none of them was made.`
      const failure = { ...reply.failure, message: `${reply.failure.message} ${which}` }
      // Only an import writes something before it fails.
      if (step > 0 || operation.verb === 'unstage') throw new Undone(at, failure)
      this.#keep([])
      return { ok: false, failure }
    }
    this.#keep([])
    return { ok: true, value: values }
  }

  /** While these are made, nothing that they write makes way for another of them. */
  #keep(operations: Operation[]): void {
    for (const shelf of this.shelves) {
      const own = operations.filter((operation) => operation.verb !== 'delete' && this.#shelf(operation) === shelf)
      shelf.together = new Set(own.map((operation) => placeOf(operation).id!))
    }
  }

  #shelf({ collection }: Operation): Shelf {
    return this.#shelves.get(collection)!
  }
}

function stale(): never {
  throw new Stale()
}

function perform(shelf: Shelf, operation: Operation, ahead?: Ahead): unknown {
  // The operation's type says which of its verbs' handlers it fits; a table lookup cannot show that.
  type Handler = (shelf: Shelf, operation: Operation, ahead?: Ahead) => unknown
  const handlers: Record<string, unknown> = isKeyed(operation) ? verbs : wholes
  return (handlers[operation.verb] as Handler)(shelf, operation, ahead)
}

/**
 * Cuts a batch into stretches of operations by id, whose records can be read ahead together, and
 * single operations on a whole collection, which have to see what went before on the disk.
 */
function split(operations: Operation[]): Operation[][] {
  const stretches: Operation[][] = []
  let open: KeyedOperation[] | undefined
  for (const operation of operations) {
    if (!isKeyed(operation)) {
      stretches.push([operation])
      open = undefined
    } else if (open) {
      open.push(operation)
    } else {
      stretches.push((open = [operation]))
    }
  }
  return stretches
}
