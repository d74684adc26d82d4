import { collection, openStore } from 'mayfly'
import type { Contender } from '../contender.js'
import type { Thing } from '../thing.js'

const DAY = 24 * 60 * 60
/** As short as a life can be. */
const MOMENT = 0.001

const open = (name: string, sweep: 'idle' | 'manual') =>
  openStore(name, { things: collection<Thing>({ defaultTtl: DAY }).index('total') }, { sweep })

let store: ReturnType<typeof open>

/** mayfly as published, worker and all, with time to live on. */
export const contender: Contender = {
  // Returns at once: calls wait for the opening.
  open: async (name, expired) => void (store = open(name, expired ? 'manual' : 'idle')),
  put: (thing) => store.things.upsert(thing),
  putMany: (things) => store.things.upsertMany(things),
  get: (id) => store.things.get(id),
  getMany: (ids) => store.things.getMany(ids),
  all: () => store.things.query().get(),
  async count() {
    const { live, expired } = await store.things.stats()
    return live + expired
  },
  range: (from, to) => store.things.query({ where: { total: { gte: from, lt: to } }, orderBy: 'total' }).get(),
  countRange: (from, to) => store.things.query({ where: { total: { gte: from, lt: to } } }).count(),
  async putExpired(things) {
    await store.things.upsertMany(things.map((thing) => ({ ...thing, ttl: MOMENT })))
    while ((await store.things.stats()).expired < things.length);
  },
  sweep: () => store.sweep(),
  close: () => store.close(),
  destroy: () => store.destroy(),
}
