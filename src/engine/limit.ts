import { fail } from '../errors.js'
import { countDead } from './census.js'
import { everyId } from './layout.js'
import { isDead } from './life.js'
import type { DocumentRecord } from './life.js'
import { result } from './request.js'
import type { Shelf } from './shelf.js'
import { soonest } from './soonest.js'
import type { Expiring } from './soonest.js'

/**
 * What has to leave a collection with `maxDocuments` before a document may come; refused with `quota` when that is more
 * than can. How many documents there are is kept in the setting, so that far from the limit nothing is asked.
 */
export async function leavingFor(shelf: Shelf, id: string): Promise<Expiring[]> {
  const { shape, store } = shelf
  const { maxDocuments } = shape
  if (maxDocuments === undefined) return []
  shelf.held ??= await result(store.count(everyId()))
  const isThere = shelf.holds(id)
  let excess = shelf.held + (isThere ? 0 : 1) - maxDocuments
  if (excess <= 0) return []
  // What lies there may be dead, and comes back to life.
  const record = isThere ? ((await result(store.get(id))) as DocumentRecord) : undefined
  const isNew = !record || isDead(record, shelf.edge)
  // The dead make way first; those that may not be deleted yet are merely not counted.
  if (!shelf.mayBury) excess -= (await countDead(shelf)) - (record && isNew ? 1 : 0)
  const leaving: Expiring[] = []
  if (excess <= 0) return leaving
  for await (const expiring of soonest(shelf, shelf.mayBury)) {
    if (expiring.id === id || shelf.together.has(expiring.id)) continue
    leaving.push(expiring)
    if (leaving.length === excess) return leaving
  }
  if (!isNew) return leaving
  throw fail(
    'quota',
    { collection: shape.name, id },
    `the collection holds ${maxDocuments} documents, its maxDocuments, and none of them can make way. Delete some, give them a lifetime, or raise the limit.`,
  )
}

/** Those that live are told as deleted; the others were gone before. */
export function dismiss(shelf: Shelf, leaving: Expiring[]): void {
  for (const { id, isDead: wasDead } of leaving) {
    if (wasDead) shelf.discard(id)
    else shelf.remove(id)
  }
}
