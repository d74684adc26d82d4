import type { Store } from './client/store.js'
import { fail } from './errors.js'
import { open } from './open.js'
import type { Allowed, StoreOptions } from './open.js'
import type { Schema } from './schema.js'

/**
 * Opens a store, making it when there is none. Returns at once: calls wait for the opening.
 * Collections and indexes may be added at any time; what is not declared any more is left alone.
 */
export function openStore<S extends Schema<keyof S>>(
  name: string,
  schema: S & Allowed<S>,
  options: StoreOptions = {},
): Store<S> {
  const migrator = () => import('./client/migrator.js')
  return open(name, schema, options, { engine: loadEngine, carrier: loadCarrier, migrator })
}

/** The engine is no part of what a page loads unless it is asked to this thread. */
async function loadEngine() {
  try {
    return (await import('./engine/engine.js')).Engine
  } catch (cause) {
    const remedy = 'A service worker cannot load it later: import from mayfly/service-worker there.'
    throw fail('unavailable', {}, `the engine could not be loaded to this thread. ${remedy}`, cause)
  }
}

async function loadCarrier() {
  try {
    return await import('./client/carrier.js')
  } catch (cause) {
    const remedy = 'A service worker cannot load it later: import from mayfly/service-worker there.'
    throw fail('unavailable', {}, `what export and import need could not be loaded. ${remedy}`, cause)
  }
}
