import { deleteDB, openDB } from 'idb'
import type { IDBPDatabase } from 'idb'
import type { Contender } from '../contender.js'
import { future, past } from '../thing.js'
import type { Thing } from '../thing.js'

let database: IDBPDatabase

/** idb on the page: a transaction for each call. */
export const contender: Contender = {
  async open(name) {
    database = await openDB(name, 1, {
      upgrade(upgraded) {
        const store = upgraded.createObjectStore('things', { keyPath: 'id' })
        store.createIndex('total', 'total')
        store.createIndex('expiresAt', 'expiresAt')
      },
    })
  },
  put: (thing) => database.put('things', future(thing)),
  putMany: (things) => putAll(things.map(future)),
  get: (id) => database.get('things', id),
  async getMany(ids) {
    const { store } = database.transaction('things')
    return (await Promise.all(ids.map((id) => store.get(id)))) as (Thing | undefined)[]
  },
  all: () => database.getAll('things'),
  count: () => database.count('things'),
  range: (from, to) => database.getAllFromIndex('things', 'total', between(from, to)),
  countRange: (from, to) => database.countFromIndex('things', 'total', between(from, to)),
  putExpired: (things) => putAll(things.map(past)),
  async sweep() {
    const transaction = database.transaction('things', 'readwrite')
    const dead = await transaction.store.index('expiresAt').getAllKeys(IDBKeyRange.upperBound(Date.now()))
    await Promise.all([...dead.map((id) => transaction.store.delete(id)), transaction.done])
  },
  close: async () => database.close(),
  async destroy() {
    database.close()
    await deleteDB(database.name)
  },
}

async function putAll(things: Thing[]): Promise<void> {
  const transaction = database.transaction('things', 'readwrite')
  await Promise.all([...things.map((thing) => transaction.store.put(thing)), transaction.done])
}

function between(from: number, to: number): IDBKeyRange {
  return IDBKeyRange.bound(from, to, false, true)
}
