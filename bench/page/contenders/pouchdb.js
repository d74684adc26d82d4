import PouchDB from 'pouchdb-browser'
import find from 'pouchdb-find'
import { future, past } from '../thing.js'

PouchDB.plugin(find)

/** Dates become text, as everything does that is not JSON. */
const toDoc = ({ id, ...rest }) => ({ _id: id, ...rest, placedAt: rest.placedAt.toISOString() })
const toThing = ({ _id, _rev, ...rest }) => ({ id: _id, ...rest, placedAt: new Date(rest.placedAt) })

let database

export const contender = {
  async open(name) {
    database = new PouchDB(name, { auto_compaction: true, revs_limit: 1 })
    const { total_rows: rows } = await database.allDocs({ limit: 1, startkey: '_design/', endkey: '_design/\uffff' })
    if (rows > 0) return
    await database.createIndex({ index: { fields: ['total'] } })
    await database.createIndex({ index: { fields: ['expiresAt'] } })
  },
  put: (thing) => database.put(toDoc(future(thing))),
  putMany: (things) => database.bulkDocs(things.map((thing) => toDoc(future(thing)))),
  get: (id) => database.get(id).then(toThing, () => undefined),
  async getMany(ids) {
    const { rows } = await database.allDocs({ keys: ids, include_docs: true })
    return rows.map(({ doc }) => doc && toThing(doc))
  },
  async all() {
    const { rows } = await database.allDocs({ include_docs: true, startkey: 't' })
    return rows.map(({ doc }) => toThing(doc))
  },
  count: async () => (await database.allDocs({ startkey: 't' })).rows.length,
  range: (from, to) => found({ total: { $gte: from, $lt: to } }).then((docs) => docs.map(toThing)),
  countRange: async (from, to) => (await found({ total: { $gte: from, $lt: to } }, ['_id'])).length,
  putExpired: (things) => database.bulkDocs(things.map((thing) => toDoc(past(thing)))),
  async sweep() {
    const dead = await found({ expiresAt: { $lte: Date.now() } }, ['_id', '_rev'])
    await database.bulkDocs(dead.map((doc) => ({ ...doc, _deleted: true })))
  },
  close: () => database.close(),
  destroy: () => database.destroy(),
}

async function found(selector, fields) {
  return (await database.find({ selector, fields, limit: 1e9 })).docs
}
