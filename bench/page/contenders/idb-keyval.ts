import { createStore, delMany, entries, get, getMany, keys, set, setMany, values } from 'idb-keyval'
import type { UseStore } from 'idb-keyval'
import type { Contender } from '../contender.js'
import { future, past } from '../thing.js'
import type { Expiring, Thing } from '../thing.js'

let store: UseStore
let opened: string

/** By key alone: whatever needs an index reads everything. */
export const contender: Contender = {
  async open(name) {
    opened = name
    store = createStore(name, 'things')
  },
  put: (thing) => set(thing.id, future(thing), store),
  putMany: (things) => setMany(pairs(things.map(future)), store),
  get: (id) => get<Thing>(id, store),
  getMany: (ids) => getMany<Thing | undefined>(ids, store),
  all: () => values<Thing>(store),
  count: async () => (await keys(store)).length,
  range: (from, to) => filtered(from, to),
  countRange: async (from, to) => (await filtered(from, to)).length,
  putExpired: (things) => setMany(pairs(things.map(past)), store),
  async sweep() {
    const now = Date.now()
    const all = await entries<string, Expiring>(store)
    const dead = all.filter(([, { expiresAt }]) => expiresAt <= now).map(([id]) => id)
    await delMany(dead, store)
  },
  // Its connection stays open for as long as the page does, and steps aside when the database is deleted.
  close: async () => undefined,
  async destroy() {
    await store('readwrite', (things) => things.clear())
    indexedDB.deleteDatabase(opened)
  },
}

async function filtered(from: number, to: number): Promise<Thing[]> {
  return (await values<Thing>(store)).filter(({ total }) => total >= from && total < to)
}

function pairs(things: Thing[]): [string, Thing][] {
  return things.map((thing) => [thing.id, thing])
}
