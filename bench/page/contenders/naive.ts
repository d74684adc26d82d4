import { wrap } from 'comlink'
import type { Remote } from 'comlink'
import type { Contender } from '../contender.js'
import type { NaiveEngine } from './naive-worker.js'

let engine: Remote<NaiveEngine>
let worker: Worker

/** What one writes in an afternoon: idb in a worker, reached through Comlink, a transaction for each call. */
export const contender: Contender = {
  async open(name) {
    worker = new Worker(new URL('./naive-worker.js', import.meta.url), { type: 'module' })
    engine = wrap<NaiveEngine>(worker)
    await engine.open(name)
  },
  put: (thing) => engine.put(thing),
  putMany: (things) => engine.putMany(things),
  get: (id) => engine.get(id),
  getMany: (ids) => engine.getMany(ids),
  all: () => engine.all(),
  count: () => engine.count(),
  range: (from, to) => engine.range(from, to),
  countRange: (from, to) => engine.countRange(from, to),
  putExpired: (things) => engine.putExpired(things),
  sweep: () => engine.sweep(),
  async close() {
    await engine.close()
    worker.terminate()
  },
  async destroy() {
    await engine.destroy()
    worker.terminate()
  },
}
