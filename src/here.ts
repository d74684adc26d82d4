import * as carrier from './client/carrier.js'
import type { Store } from './client/store.js'
import { hear } from './client/migrator.js'
import { Engine } from './engine/engine.js'
import { open } from './open.js'
import type { Allowed, StoreOptions } from './open.js'
import type { Schema } from './schema.js'

/** As in `mayfly`, with the engine on board and, unless told otherwise, on this thread. */
export function openStore<S extends Schema<keyof S>>(
  name: string,
  schema: S & Allowed<S>,
  options: StoreOptions = {},
): Store<S> {
  const parts = { engine: async () => Engine, carrier: async () => carrier, migrator: async () => ({ hear }) }
  return open(name, schema, { worker: false, ...options }, parts)
}
