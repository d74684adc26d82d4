import { clear, createStore, delMany, entries, get, keys, set, setMany } from 'idb-keyval'
import type { UseStore } from 'idb-keyval'
import { future, past } from './contender.js'
import type { Contender, Expiring, Thing } from './contender.js'

const NAME = 'speed-idb-keyval'
let store: UseStore | undefined

export const keyval: Contender = {
  name: 'idb-keyval',
  async open() {
    store ??= createStore(NAME, 'things')
    await keys(store)
  },
  putMany: (things) => setMany(pairs(things), store),
  put: (thing) => set(thing.id, thing, store),
  get: (id) => get<Thing>(id, store),
  count: async () => (await keys(store)).length,
  prepare: (dead, alive) => setMany(pairs([...dead.map(past), ...alive.map(future)]), store),
  async tidy() {
    const all = await entries<string, Expiring>(store)
    const now = Date.now()
    await delMany(
      all.filter(([, { expiresAt }]) => expiresAt <= now).map(([id]) => id),
      store,
    )
  },
  clear: () => clear(store),
  // Its connection stays open for as long as the page does, and so its database, which is empty.
  destroy: async () => undefined,
}

const pairs = (things: Thing[]) => things.map((thing): [string, Thing] => [thing.id, thing])
