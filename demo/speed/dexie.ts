import { Dexie } from 'dexie'
import type { Table } from 'dexie'
import { future, past } from './contender.js'
import type { Contender, Expiring, Thing } from './contender.js'

const NAME = 'speed-dexie'
let database: Dexie & { things: Table<Thing | Expiring, string> }

export const dexie: Contender = {
  name: 'Dexie',
  async open() {
    database = new Dexie(NAME) as typeof database
    database.version(1).stores({ things: 'id, customer, expiresAt' })
    await database.open()
  },
  putMany: (things) => database.things.bulkPut(things),
  put: (thing) => database.things.put(thing),
  get: (id) => database.things.get(id),
  count: () => database.things.count(),
  prepare: (dead, alive) => database.things.bulkPut([...dead.map(past), ...alive.map(future)]),
  tidy: () => database.things.where('expiresAt').belowOrEqual(Date.now()).delete(),
  clear: () => database.things.clear(),
  async destroy() {
    database.close()
    indexedDB.deleteDatabase(NAME)
  },
}
