import { openStore } from 'mayfly'
import type { Schema, Store, StoreOptions } from 'mayfly'
import { inject } from 'vitest'
import { engineOptions } from './workers.js'

const opened: Store<object>[] = []
let names = 0

export const DAY = 24 * 60 * 60

/** A store name that nobody has. */
export function newName(): string {
  return `test-${++names}-${crypto.randomUUID()}`
}

/** Opens a store with its engine where the project wants it, and closes it after the test. */
export function open<S extends Schema<keyof S>>(schema: S, name = newName(), options: StoreOptions = {}): Store<S> {
  const all: StoreOptions = { ...engineOptions(inject('engine')), sweep: 'manual', ...options }
  const store = openStore(name, schema as never, all) as unknown as Store<S>
  opened.push(store)
  return store
}

export async function closeStores(): Promise<void> {
  // Those that the test has closed may have left their database behind: every name is random.
  await Promise.all(opened.splice(0).map((store) => store.close()))
}
