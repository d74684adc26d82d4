import localforage from 'localforage'
import type { Contender } from '../contender.js'
import { future, past } from '../thing.js'
import type { Expiring, Thing } from '../thing.js'

let store: LocalForage
let opened: string

/** By key alone, one at a time: whatever needs an index reads everything. */
export const contender: Contender = {
  async open(name) {
    opened = name
    store = localforage.createInstance({ name, driver: localforage.INDEXEDDB })
    await store.ready()
  },
  put: (thing) => store.setItem(thing.id, future(thing)),
  putMany: (things) => putAll(things.map(future)),
  get: async (id) => (await store.getItem<Thing>(id)) ?? undefined,
  getMany: (ids) => Promise.all(ids.map(async (id) => (await store.getItem<Thing>(id)) ?? undefined)),
  all: () => filtered(() => true),
  count: () => store.length(),
  range: (from, to) => filtered(({ total }) => total >= from && total < to),
  countRange: async (from, to) => (await filtered(({ total }) => total >= from && total < to)).length,
  putExpired: (things) => putAll(things.map(past)),
  async sweep() {
    const now = Date.now()
    const dead = await filtered(({ expiresAt }) => expiresAt <= now)
    await Promise.all(dead.map(({ id }) => store.removeItem(id)))
  },
  close: async () => undefined,
  destroy: () => store.dropInstance({ name: opened }),
}

async function putAll(things: Thing[]): Promise<void> {
  await Promise.all(things.map((thing) => store.setItem(thing.id, thing)))
}

async function filtered(matches: (thing: Expiring) => boolean): Promise<Expiring[]> {
  const found: Expiring[] = []
  await store.iterate<Expiring, void>((thing) => {
    if (matches(thing)) found.push(thing)
  })
  return found
}
