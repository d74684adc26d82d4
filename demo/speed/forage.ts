import localforage from 'localforage'
import { future, past } from './contender.js'
import type { Contender, Expiring, Thing } from './contender.js'

const NAME = 'speed-localforage'
let store: LocalForage

export const forage: Contender = {
  name: 'localForage',
  async open() {
    store = localforage.createInstance({ name: NAME, driver: localforage.INDEXEDDB })
    await store.ready()
  },
  putMany: (things) => Promise.all(things.map((thing) => store.setItem(thing.id, thing))),
  put: (thing) => store.setItem(thing.id, thing),
  get: async (id) => (await store.getItem<Thing>(id)) ?? undefined,
  count: () => store.length(),
  prepare: (dead, alive) =>
    Promise.all([...dead.map(past), ...alive.map(future)].map((thing) => store.setItem(thing.id, thing))),
  async tidy() {
    const now = Date.now()
    const dead: string[] = []
    await store.iterate<Expiring, void>(({ expiresAt }, id) => {
      if (expiresAt <= now) dead.push(id)
    })
    await Promise.all(dead.map((id) => store.removeItem(id)))
  },
  clear: () => store.clear(),
  destroy: () => store.dropInstance({ name: NAME }),
}
