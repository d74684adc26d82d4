import { begin } from './closing.js'
import { MARKER } from './layout.js'
import { committed, result, within } from './request.js'

/** The key, in the object store that marks the database, of a name that no other database ever has. */
const GENERATION = 'generation'

/** Marks a database that is being made. A browser that has lost one puts an empty one in its place, and says nothing. */
export function mark(database: IDBDatabase): void {
  const name = crypto.getRandomValues(new Uint32Array(4)).join('-')
  database.createObjectStore(MARKER).put(name, GENERATION)
}

/** What tells a database from the one that was there before. */
export async function generationOf(database: IDBDatabase): Promise<string> {
  const transaction = begin(database, MARKER)
  const done = committed(transaction)
  const name = await within(done, result(transaction.objectStore(MARKER).get(GENERATION)))
  return (name as string | undefined) ?? ''
}
