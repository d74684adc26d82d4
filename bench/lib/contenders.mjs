/**
 * Who takes part, in the order of the table. `code` is the least that an app takes from the package: its size is
 * measured. `only` and `not` name workloads, or groups of them; what would take minutes is left out.
 */
export const CONTENDERS = {
  raw: { title: 'raw IndexedDB', short: 'raw', code: '' },
  mayfly: {
    title: 'mayfly',
    short: 'mayfly',
    code: `import { collection, openStore } from 'mayfly'
      const store = openStore('sizes', { things: collection({ defaultTtl: 60 }).index('total') })
      await store.things.get('x')`,
  },
  'raw-each': {
    title: 'raw, a transaction per operation',
    short: 'raw, one by one',
    only: ['put-turn', 'put-once', 'get-turn', 'get-once'],
  },
  naive: {
    title: 'idb in a worker, through Comlink',
    short: 'idb + Comlink',
    not: ['growth'],
    code: `import { wrap } from 'comlink'
      globalThis.store = wrap(new Worker(new URL('./sizes-worker.js', import.meta.url), { type: 'module' }))
      await store.open('sizes')`,
    worker: `import { expose } from 'comlink'
      import { openDB } from 'idb'
      expose({ open: async (name) => void (await openDB(name)) })`,
  },
  idb: { title: 'idb', short: 'idb', not: ['growth'], code: `import { openDB } from 'idb'; await openDB('sizes')` },
  dexie: {
    title: 'Dexie',
    short: 'Dexie',
    code: `import { Dexie } from 'dexie'; globalThis.store = new Dexie('sizes')`,
  },
  'idb-keyval': {
    title: 'idb-keyval',
    short: 'idb-keyval',
    not: ['growth'],
    code: `import * as store from 'idb-keyval'; globalThis.store = [store.get, store.set, store.getMany, store.setMany,
      store.delMany, store.values, store.entries, store.keys, store.createStore]`,
  },
  localforage: {
    title: 'localForage',
    short: 'localForage',
    not: ['growth', 'delete'],
    code: `import store from 'localforage'; globalThis.store = store`,
  },
  pouchdb: {
    title: 'PouchDB',
    short: 'PouchDB',
    not: ['growth', 'delete'],
    code: `import PouchDB from 'pouchdb-browser'; import find from 'pouchdb-find'; PouchDB.plugin(find)`,
  },
  rxdb: {
    title: 'RxDB on Dexie',
    short: 'RxDB',
    not: ['growth', 'delete'],
    code: `import { createRxDatabase } from 'rxdb/plugins/core'; import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie'
      globalThis.store = [createRxDatabase, getRxStorageDexie]`,
  },
}

/** Everything is compared to this one, so it takes part in every run. */
export const LIMIT = 'raw'

/** Whether a contender does a workload. */
export function takesPart(contender, workload) {
  const { only, not = [] } = CONTENDERS[contender]
  const names = (list) => list.some((name) => workload === name || workload.startsWith(`${name}-`))
  return (!only || names(only)) && !names(not)
}
