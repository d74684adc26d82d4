import type { Contender } from '../contender.js'
import { future, past } from '../thing.js'
import type { Expiring, Thing } from '../thing.js'

let database: IDBDatabase

/** IndexedDB without a wrapper, and without a thread to cross; a transaction for each call. */
export const each: Contender = {
  async open(name) {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore('things', { keyPath: 'id' })
      store.createIndex('total', 'total')
      store.createIndex('expiresAt', 'expiresAt')
    }
    database = await result(request)
  },
  put: (thing) => write((store) => void store.put(future(thing))),
  putMany: (things) => write((store) => things.forEach((thing) => store.put(future(thing)))),
  get: (id) => result(reading().get(id)),
  getMany: (ids) => gets(ids),
  all: () => result(reading().getAll()),
  count: () => result(reading().count()),
  range: (from, to) => result(reading().index('total').getAll(between(from, to))),
  countRange: (from, to) => result(reading().index('total').count(between(from, to))),
  putExpired: (things) => write((store) => things.forEach((thing) => store.put(past(thing)))),
  async sweep() {
    await write(async (store) => {
      const dead = await result(store.index('expiresAt').getAllKeys(IDBKeyRange.upperBound(Date.now())))
      for (const id of dead) store.delete(id)
    })
  },
  close: async () => database.close(),
  async destroy() {
    database.close()
    await result(indexedDB.deleteDatabase(database.name))
  },
}

/** The limit: IndexedDB written as well as can be, with one transaction for the lot. */
export const contender: Contender = {
  ...each,
  async putsInTurn(things) {
    await write(async (store) => {
      for (const thing of things) await result(store.put(future(thing)))
    })
  },
  putsAtOnce: (things) => write((store) => things.forEach((thing) => store.put(future(thing)))),
  async getsInTurn(ids) {
    const store = reading()
    const found: (Thing | undefined)[] = []
    for (const id of ids) found.push(await result<Expiring | undefined>(store.get(id)))
    return found
  },
  getsAtOnce: (ids) => gets(ids),
}

function reading(): IDBObjectStore {
  return database.transaction('things').objectStore('things')
}

async function write(work: (store: IDBObjectStore) => Promise<void> | void): Promise<void> {
  const transaction = database.transaction('things', 'readwrite', { durability: 'relaxed' })
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error)
  })
  await work(transaction.objectStore('things'))
  transaction.commit()
  await done
}

async function gets(ids: string[]): Promise<(Thing | undefined)[]> {
  const store = reading()
  const requests = ids.map((id) => store.get(id) as IDBRequest<Thing | undefined>)
  const last = requests.at(-1)
  if (last) await result(last)
  return requests.map((request) => request.result)
}

function between(from: number, to: number): IDBKeyRange {
  return IDBKeyRange.bound(from, to, false, true)
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
