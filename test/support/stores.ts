import { openStore } from 'mayfly'
import type { Schema, Store, StoreOptions } from 'mayfly'

const opened: Store<object>[] = []
let names = 0

export const DAY = 24 * 60 * 60

/** A store name that nobody has. */
export function newName(): string {
  return `test-${++names}-${crypto.randomUUID()}`
}

/** Opens a store on this thread, and destroys it after the test. */
export function open<S extends Schema>(schema: S, name = newName(), options: StoreOptions = {}): Store<S> {
  const store = openStore(name, schema as never, { worker: false, ...options }) as unknown as Store<S>
  opened.push(store)
  return store
}

export async function closeStores(): Promise<void> {
  // Those that the test has closed may have left their database behind: every name is random.
  await Promise.all(opened.splice(0).map((store) => store.close()))
}
