import { result } from './request.js'

/**
 * What to delete so that documents are gone: those that lie beside each other go as one stretch, which takes the
 * browser a fraction of the time. All of them are there. Where too many others lie between, they are named one by one.
 */
export async function stretches(store: IDBObjectStore, ids: string[]): Promise<(string | IDBKeyRange)[]> {
  if (ids.length < 2) return ids
  const sorted = ids.toSorted()
  const keys = await result(store.getAllKeys(IDBKeyRange.bound(sorted[0], sorted.at(-1)), 2 * ids.length))
  const found: (string | IDBKeyRange)[] = []
  let at = 0
  for (let from = 0, to = 1; from < sorted.length; from = to++) {
    while (at < keys.length && keys[at] !== sorted[from]) at++
    at++
    while (to < sorted.length && keys[at] === sorted[to]) [at, to] = [at + 1, to + 1]
    found.push(to === from + 1 ? sorted[from]! : IDBKeyRange.bound(sorted[from], sorted[to - 1]))
  }
  return found
}
