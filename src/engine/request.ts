export function result<T>(request: IDBRequest<T>): Promise<T> {
  const promise = new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  // Of several that were asked for together one may fail before anybody waits for the others.
  promise.catch(() => undefined)
  return promise
}

/**
 * The results of requests of one transaction. They succeed in the order in which they were made,
 * so only the last needs a handler; when an earlier one fails, the transaction aborts and so does it.
 */
export async function results<T>(requests: IDBRequest<T>[]): Promise<T[]> {
  const last = requests.at(-1)
  if (last) await result(last)
  return requests.map((request) => request.result)
}

/** When the browser closes a connection by force it aborts the transactions; for so many milliseconds that is awaited. */
const FORCED = 1000

/** Resolves at the commit, and rejects with the cause: `AbortError` alone says nothing. */
export function committed(transaction: IDBTransaction): Promise<void> {
  const { db } = transaction
  const done = new Promise<void>((resolve, reject) => {
    const abort = () => reject(transaction.error ?? new DOMException('The transaction was aborted.', 'AbortError'))
    const close = () => setTimeout(abort, FORCED)
    db.addEventListener('close', close)
    // Chromium completes a transaction whose last request it has refused, as in memory a value of more than 127 MiB.
    let failure: DOMException | null = null
    transaction.onerror = (event) => {
      if (!event.defaultPrevented) failure = (event.target as IDBRequest).error
    }
    transaction.oncomplete = () => {
      db.removeEventListener('close', close)
      if (failure) reject(failure)
      else resolve()
    }
    transaction.onabort = () => {
      db.removeEventListener('close', close)
      abort()
    }
  })
  // It may fail before anybody waits for it.
  done.catch(() => undefined)
  return done
}

/** What work in a transaction gives, or why that ended: one that is aborted may leave a request that is never answered. */
export function within<T>(done: Promise<void>, work: Promise<T>): Promise<T> {
  return Promise.race([work, done.then(() => work)])
}
