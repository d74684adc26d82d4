import type { StoreOptions } from 'mayfly'

/**
 * Where a project's tests have the engine: on this thread, there over a database in memory, in the package's own worker,
 * in one that the test makes.
 */
export type Place = 'here' | 'memory' | 'worker' | 'own worker'

const workers = new Set<Worker>()
let clock: number | undefined

export function engineOptions(place: Place): StoreOptions {
  if (place === 'here') return { worker: false }
  if (place === 'memory') return { worker: false, fallback: 'memory' }
  return place === 'worker' ? {} : { worker: ownWorker }
}

let ownWorkerUrl = ''

function ownWorker(): Worker {
  return new Worker(ownWorkerUrl, { type: 'module' })
}

/** Tells every worker the time, ahead of whatever is asked next: a worker's messages come in order. */
export function setWorkerClocks(now: number): void {
  clock = now
  for (const worker of workers) worker.postMessage({ clock: now })
}

/** Has every worker begin with a clock that tests can move. The script that it then loads is the real one. */
export function moveClocksOfWorkers(clockUrl: string, ownUrl: string): void {
  ownWorkerUrl = ownUrl
  const Real = globalThis.Worker
  globalThis.Worker = class extends Real {
    constructor(url: string | URL, options?: WorkerOptions) {
      const real = new URL(url, location.href).href
      super(`${clockUrl}#${encodeURIComponent(real)}`, { ...options, type: 'module' })
      workers.add(this)
      if (clock !== undefined) this.postMessage({ clock })
    }

    override terminate(): void {
      workers.delete(this)
      super.terminate()
    }
  }
}
