import { Dexie } from 'dexie'
import type { Table } from 'dexie'
import type { Contender } from '../contender.js'
import { future, past } from '../thing.js'
import type { Expiring } from '../thing.js'

let database: Dexie & { things: Table<Expiring, string> }

export const contender: Contender = {
  async open(name) {
    database = new Dexie(name) as typeof database
    database.version(1).stores({ things: 'id, total, expiresAt' })
    await database.open()
  },
  put: (thing) => database.things.put(future(thing)),
  putMany: (things) => database.things.bulkPut(things.map(future)),
  get: (id) => database.things.get(id),
  getMany: (ids) => database.things.bulkGet(ids),
  all: () => database.things.toArray(),
  count: () => database.things.count(),
  range: (from, to) => database.things.where('total').between(from, to).toArray(),
  countRange: (from, to) => database.things.where('total').between(from, to).count(),
  putExpired: (things) => database.things.bulkPut(things.map(past)),
  sweep: () => database.things.where('expiresAt').belowOrEqual(Date.now()).delete(),
  close: async () => database.close(),
  destroy: () => database.delete(),
}
