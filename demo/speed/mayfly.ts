import { collection, openStore } from 'mayfly'
import type { Contender, Thing } from './contender.js'

const HOUR = 60 * 60
/** As short as a life can be, and a moment after which it is over. */
const MOMENT = 0.001

const open = () =>
  openStore('speed-mayfly', { things: collection<Thing>({ defaultTtl: -1 }).index('customer') }, { sweep: 'manual' })

let store: ReturnType<typeof open>

export const mayfly: Contender = {
  name: 'mayfly',
  async open() {
    store = open()
    await store.ready
  },
  putMany: (things) => store.things.upsertMany(things),
  put: (thing) => store.things.upsert(thing),
  get: (id) => store.things.get(id),
  count: () => store.things.query().count(),
  async prepare(dead, alive) {
    await store.things.upsertMany(alive.map((thing) => ({ ...thing, ttl: HOUR })))
    await store.things.upsertMany(dead.map((thing) => ({ ...thing, ttl: MOMENT })))
    while ((await store.things.stats()).expired < dead.length);
  },
  tidy: () => store.sweep(),
  clear: () => store.things.clear(),
  destroy: () => store.destroy(),
}
