import { createRxDatabase } from 'rxdb/plugins/core'
import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie'
import { future, past } from '../thing.js'

const schema = {
  version: 0,
  primaryKey: 'id',
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 40 },
    customer: { type: 'string' },
    total: { type: 'number', minimum: 0, maximum: 10_000_000, multipleOf: 1 },
    placedAt: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    text: { type: 'string' },
    expiresAt: { type: 'number', minimum: 0, maximum: 100_000_000_000_000, multipleOf: 1 },
  },
  required: ['total', 'expiresAt'],
  indexes: ['total', 'expiresAt'],
}

/** Dates become text, as everything does that is not JSON. */
const toDoc = (thing) => ({ ...thing, placedAt: thing.placedAt.toISOString() })
const toThing = (doc) => {
  const thing = doc.toMutableJSON()
  return { ...thing, placedAt: new Date(thing.placedAt) }
}

let database
let collection

export const contender = {
  async open(name) {
    database = await createRxDatabase({ name, storage: getRxStorageDexie(), multiInstance: false })
    ;({ things: collection } = await database.addCollections({ things: { schema } }))
  },
  put: (thing) => collection.upsert(toDoc(future(thing))),
  putMany: (things) => collection.bulkUpsert(things.map((thing) => toDoc(future(thing)))),
  async get(id) {
    const doc = await collection.findOne(id).exec()
    return doc ? toThing(doc) : undefined
  },
  async getMany(ids) {
    const docs = await collection.findByIds(ids).exec()
    return ids.map((id) => (docs.has(id) ? toThing(docs.get(id)) : undefined))
  },
  all: async () => (await collection.find().exec()).map(toThing),
  count: () => collection.count().exec(),
  range: async (from, to) => (await inRange(from, to).exec()).map(toThing),
  countRange: (from, to) => collection.count({ selector: { total: { $gte: from, $lt: to } } }).exec(),
  putExpired: (things) => collection.bulkUpsert(things.map((thing) => toDoc(past(thing)))),
  sweep: () => collection.find({ selector: { expiresAt: { $lte: Date.now() } } }).remove(),
  close: () => database.close(),
  destroy: () => database.remove(),
}

function inRange(from, to) {
  return collection.find({ selector: { total: { $gte: from, $lt: to } }, sort: [{ total: 'asc' }] })
}
