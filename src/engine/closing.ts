import { MARKER } from './layout.js'

/** A connection that the browser has cut off may never tell how its transactions ended; for so many milliseconds. */
const LONGEST = 1000

const underWay = new WeakMap<IDBDatabase, Set<IDBTransaction>>()

/** Of those that are closed here no event tells. */
const ours = new WeakSet<IDBDatabase>()

/** Begins a transaction that `close` waits for. */
export function begin(
  database: IDBDatabase,
  names: string | string[],
  mode?: IDBTransactionMode,
  options?: IDBTransactionOptions,
): IDBTransaction {
  const transaction = database.transaction(names, mode, options)
  const others = underWay.get(database) ?? new Set()
  underWay.set(database, others.add(transaction))
  const end = () => others.delete(transaction)
  transaction.addEventListener('complete', end)
  transaction.addEventListener('abort', end)
  return transaction
}

/**
 * Closes a connection once its transactions have ended. When one is closed before, and then its worker ends, WebKit
 * keeps the connection for ever, and every change of the database stays blocked.
 */
export async function close(database: IDBDatabase): Promise<void> {
  ours.add(database)
  const transactions = underWay.get(database)
  const last = performance.now() + LONGEST
  while (transactions && transactions.size > 0 && performance.now() < last) await ended([...transactions], LONGEST)
  database.close()
}

function ended(transactions: IDBTransaction[], longest: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, longest)
    for (const transaction of transactions) {
      transaction.addEventListener('complete', () => resolve())
      transaction.addEventListener('abort', () => resolve())
    }
  })
}

/**
 * Waits for the end of a connection that the browser has begun to close, which tells of it a little later: whoever opened
 * another before would not know what has become of the data. False when there was none to wait for, or none came.
 */
export async function closed(database: IDBDatabase): Promise<boolean> {
  if (ours.has(database) || !isClosing(database)) return false
  return new Promise((resolve) => {
    setTimeout(resolve, LONGEST, false)
    database.addEventListener('close', () => resolve(true))
  })
}

/** Nothing says so, but that a connection refuses to begin anything. */
export function isClosing(database: IDBDatabase): boolean {
  try {
    database.transaction(MARKER)
    return false
  } catch (error) {
    return (error as Error).name === 'InvalidStateError'
  }
}
