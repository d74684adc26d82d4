import { forceCloseDatabase } from 'fake-indexeddb'

/** A place at which IndexedDB can fail. */
export type Point = 'open' | 'delete' | 'begin' | 'request' | 'commit'

interface Asked {
  source?: unknown
  request?: IDBRequest
  operation: () => unknown
}

/** What fake-indexeddb has inside. */
interface Inside {
  _execRequestAsync(asked: Asked): IDBRequest
  _abort(name: string | null): void
  _requests: { request: Settable }[]
  db: IDBDatabase & { _rawDatabase: { transactions: IDBTransaction[]; processTransactions(): void } }
}

type Settable = { -readonly [K in 'readyState' | 'error' | 'result']: IDBRequest[K] } & EventTarget

type Connections = { _connectionQueues: Map<string, Promise<void>> }

const prototypes = { transaction: IDBTransaction.prototype as unknown as Inside }
const original = {
  open: indexedDB.open.bind(indexedDB),
  deleteDatabase: indexedDB.deleteDatabase.bind(indexedDB),
  begin: IDBDatabase.prototype.transaction,
  request: prototypes.transaction._execRequestAsync,
  commit: IDBTransaction.prototype.commit,
}

const full = () => new DOMException('No space left', 'QuotaExceededError')
const blobs = () => new DOMException('Failed to write blobs.', 'DataError')
const mutation = () =>
  new DOMException(
    'A mutation operation was attempted on a database that did not allow mutations.',
    'InvalidStateError',
  )
const closing = () => new DOMException('The database connection is closing.', 'InvalidStateError')
const inactive = () => new DOMException('The transaction is not active.', 'TransactionInactiveError')
const backing = () => new DOMException('Internal error opening backing store for indexedDB.open.', 'UnknownError')
const unknown = () => new DOMException('Internal error.', 'UnknownError')
const aborted = () => new DOMException('The transaction was aborted.', 'AbortError')
const uncloneable = () => new DOMException('() => secret could not be cloned.', 'DataCloneError')
const taken = () => new DOMException('A key is there already.', 'ConstraintError')
const older = () => new DOMException('The requested version is less than the existing one.', 'VersionError')

const of = (transaction: IDBTransaction) => transaction as unknown as Inside

/** How each point can fail, by the names that failures of the test show. */
const KINDS = {
  open: {
    'fails: backing store': () => failing(backing()),
    'fails: full': () => failing(full()),
    'fails: aborted': () => failing(aborted()),
    'fails: version': () => failing(older()),
    'fails: no mutations': () => failing(mutation()),
    'throws: unknown': () => thrown(unknown()),
    'is blocked for a moment': (go: () => IDBOpenDBRequest) => {
      const request = go()
      queueMicrotask(() => request.dispatchEvent(new IDBVersionChangeEvent('blocked')))
      return request
    },
    'is blocked for long': (go: () => IDBOpenDBRequest, name: string) => {
      hold(name)
      const request = go()
      queueMicrotask(() => request.dispatchEvent(new IDBVersionChangeEvent('blocked')))
      return request
    },
    'is closed by force at once': (go: () => IDBOpenDBRequest) => {
      const request = go()
      // After whoever asked has heard of it.
      request.addEventListener('success', () => setImmediate(() => close(request.result)))
      return request
    },
  },
  delete: {
    'fails: unknown': () => failing(unknown()),
    'throws: unknown': () => thrown(unknown()),
    'is blocked for long': (go: () => IDBOpenDBRequest, name: string) => {
      hold(name)
      const request = go()
      queueMicrotask(() => request.dispatchEvent(new IDBVersionChangeEvent('blocked')))
      return request
    },
  },
  begin: {
    'throws: closing': () => thrown(closing()),
    'throws: unknown': () => thrown(unknown()),
    'is closed by force': (go: () => IDBTransaction, database: IDBDatabase) => {
      close(database)
      return go()
    },
    'aborts: unknown': (go: () => IDBTransaction) => abortSoon(go(), unknown()),
    'aborts: null': (go: () => IDBTransaction) => abortSoon(go(), null),
    'aborts: full': (go: () => IDBTransaction) => abortSoon(go(), full()),
  },
  request: {
    'throws: inactive': () => thrown(inactive()),
    'throws: no mutations': () => thrown(mutation()),
    'throws: uncloneable': () => thrown(uncloneable()),
    'throws: unknown': () => thrown(unknown()),
    'fails: full': failedRequest(full),
    'fails: taken': failedRequest(taken),
    'fails: blobs': failedRequest(blobs),
    'fails: unknown': failedRequest(unknown),
    'fails: aborted': failedRequest(aborted),
    'never fires, and the transaction aborts: null': silent(() => null),
    'never fires, and the transaction aborts: full': silent(full),
    'never fires, and the transaction aborts: unknown': silent(unknown),
    'is closed by force': (go: () => IDBRequest, transaction: IDBTransaction) => {
      const request = go()
      setImmediate(() => close(transaction.db))
      return request
    },
    'is closed by force without a word to the transaction': (go: () => IDBRequest, transaction: IDBTransaction) => {
      const request = go()
      setImmediate(() => closeSilently(transaction))
      return request
    },
  },
  commit: {
    'aborts: full': (_: () => void, transaction: IDBTransaction) => abort(transaction, full()),
    'aborts: blobs': (_: () => void, transaction: IDBTransaction) => abort(transaction, blobs()),
    'aborts: null': (_: () => void, transaction: IDBTransaction) => abort(transaction, null),
    'aborts: unknown': (_: () => void, transaction: IDBTransaction) => abort(transaction, unknown()),
    'aborts: no mutations': (_: () => void, transaction: IDBTransaction) => abort(transaction, mutation()),
    'throws: closing': () => thrown(closing()),
    'is closed by force': (_: () => void, transaction: IDBTransaction) => close(transaction.db),
    'is closed by force without a word to the transaction': (_: () => void, transaction: IDBTransaction) =>
      closeSilently(transaction),
  },
} satisfies Record<Point, Record<string, (...args: never[]) => unknown>>

/** Which call of IndexedDB fails, and which of the ways in which it can, counted too. */
export interface Fault {
  nth: number
  way: number
}

/** Lets the N-th call of IndexedDB about one database fail. */
export class Injector {
  readonly #fault: Fault
  #calls = 0
  #isArmed = false
  /** What failed, and how; undefined: nothing has yet. */
  fired: string | undefined

  constructor(fault: Fault) {
    this.#fault = fault
  }

  arm(): void {
    this.#isArmed = true
  }

  disarm(): void {
    this.#isArmed = false
  }

  /** The way in which this call fails; undefined: it does not. */
  way(point: Point, detail: string): ((...args: unknown[]) => unknown) | undefined {
    if (!this.#isArmed || ++this.#calls !== this.#fault.nth) return undefined
    const ways = Object.entries(KINDS[point])
    const [name, fail] = ways[this.#fault.way % ways.length]!
    this.fired = `${point} ${detail} ${name}`
    return fail as (...args: unknown[]) => unknown
  }
}

/** The most ways in which any point can fail. */
export const WAYS = Math.max(...Object.values(KINDS).map((ways) => Object.keys(ways).length))

const injectors = new Map<string, Injector>()

/** From now on an injector decides what becomes of the calls about a database. */
export function inject(name: string, injector: Injector): () => void {
  injectors.set(name, injector)
  return () => injectors.delete(name)
}

/** Puts the injectors between IndexedDB and whoever calls it. Returns its own undo. */
export function install(): () => void {
  indexedDB.open = function (name, version) {
    const go = () => original.open(name, version)
    return (injectors.get(name)?.way('open', '')?.(go, name) as IDBOpenDBRequest | undefined) ?? go()
  }
  indexedDB.deleteDatabase = function (name) {
    const go = () => original.deleteDatabase(name)
    return (injectors.get(name)?.way('delete', '')?.(go, name) as IDBOpenDBRequest | undefined) ?? go()
  }
  IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...args) {
    const go = () => original.begin.apply(this, args)
    // An upgrade begins within fake-indexeddb.
    if ((args[1] as string | undefined) === 'versionchange') return go()
    const way = injectors.get(this.name)?.way('begin', String(args[1] ?? 'readonly'))
    return way ? (way(go, this) as IDBTransaction) : go()
  }
  prototypes.transaction._execRequestAsync = function (this: Inside, asked) {
    const go = () => original.request.call(this, asked)
    if (!asked.source || asked.request) return go()
    const way = injectors.get(this.db.name)?.way('request', (this as unknown as IDBTransaction).mode)
    return way ? (way(go, this) as IDBRequest) : go()
  }
  IDBTransaction.prototype.commit = function (this: IDBTransaction) {
    const go = () => original.commit.call(this)
    const way = injectors.get(this.db.name)?.way('commit', this.mode)
    if (way) way(go, this)
    else go()
  }
  return () => {
    indexedDB.open = original.open
    indexedDB.deleteDatabase = original.deleteDatabase
    IDBDatabase.prototype.transaction = original.begin
    prototypes.transaction._execRequestAsync = original.request
    IDBTransaction.prototype.commit = original.commit
  }
}

function thrown(error: DOMException): never {
  throw error
}

/** A request to open or delete that fails. */
function failing(error: DOMException): IDBOpenDBRequest {
  const request = new IDBOpenDBRequest()
  setImmediate(() => {
    Object.assign(request as unknown as Settable, { readyState: 'done', error, result: undefined })
    request.dispatchEvent(new IDBVersionChangeEvent('error'))
  })
  return request
}

function failedRequest(error: () => DOMException) {
  return (_: () => IDBRequest, transaction: IDBTransaction) =>
    original.request.call(of(transaction), { source: transaction, operation: () => thrown(error()) })
}

function silent(error: () => DOMException | null) {
  return (_: () => IDBRequest, transaction: IDBTransaction) => {
    const operation = () => abort(transaction, error())
    const request = original.request.call(of(transaction), { source: transaction, operation })
    request.dispatchEvent = () => true
    return request
  }
}

function abort(transaction: IDBTransaction, error: DOMException | null): void {
  if (isOver(transaction)) return
  of(transaction)._abort(null)
  Object.defineProperty(transaction, 'error', { value: error })
  of(transaction).db._rawDatabase.processTransactions()
}

function abortSoon(transaction: IDBTransaction, error: DOMException | null): IDBTransaction {
  setImmediate(() => abort(transaction, error))
  return transaction
}

function isOver(transaction: IDBTransaction): boolean {
  return (transaction as unknown as { _state: string })._state === 'finished'
}

/** As when the user clears the site's data: what is under way is aborted. */
function close(database: IDBDatabase): void {
  const { transactions } = (database as Inside['db'])._rawDatabase
  for (const one of transactions) if (one.db === database) abort(one, null)
  forceCloseDatabase(database as never)
}

/** As some browsers do: what is under way never hears of its end. */
function closeSilently(transaction: IDBTransaction): void {
  // Whoever opens is always answered; in fake-indexeddb nobody could open again otherwise.
  if (isOver(transaction) || transaction.mode === 'versionchange') return close(transaction.db)
  const mute = () => true
  transaction.dispatchEvent = mute
  for (const { request } of of(transaction)._requests) request.dispatchEvent = mute
  close(transaction.db)
}

/** For how many milliseconds somebody is in the way. */
const LONG = 700

function hold(name: string): void {
  const { _connectionQueues: queues } = indexedDB as unknown as Connections
  const before = queues.get(name) ?? Promise.resolve()
  queues.set(
    name,
    before.then(() => new Promise((resolve) => setTimeout(resolve, LONG))),
  )
}
