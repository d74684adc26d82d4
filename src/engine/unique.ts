import { fail } from '../errors.js'
import type { IndexShape } from '../protocol.js'
import { isTangled } from './kinds.js'
import { indexName } from './layout.js'
import { isDead } from './life.js'
import type { DocumentRecord } from './life.js'
import { at } from './path.js'
import { results } from './request.js'
import type { Shelf } from './shelf.js'
import { floorOf, versionOf } from './versions.js'

/**
 * Makes sure that a record may hold its unique values. IndexedDB's own `unique` would count the
 * dead, and its `ConstraintError` would abort everybody's transaction; a dead holder gives way here.
 */
export async function claim(shelf: Shelf, record: DocumentRecord): Promise<void> {
  for (const shape of shelf.shape.indexes.filter((index) => index.unique)) {
    const index = shelf.store.index(indexName(shape))
    const requests = keysOf(shape, record).map((key) => index.getAll(key))
    const holders = ((await results(requests)) as DocumentRecord[][]).flat()
    for (const holder of holders) {
      const { id } = holder.doc
      // What has not been migrated yet has to make its own claim.
      if (id === record.doc.id || versionOf(holder) < floorOf(shelf.shape)) continue
      if (!isDead(holder, shelf.edge)) {
        const place = { collection: shelf.shape.name, id: record.doc.id }
        throw fail(
          'conflict',
          place,
          `${shape.paths.join(' + ')} must be unique, and the document ${id} has the same value. Change one of them, or delete that document.`,
        )
      }
      shelf.discard(id)
    }
  }
}

/** The keys under which IndexedDB files the record: none for a value that cannot be a key. */
function keysOf({ paths }: IndexShape, { doc }: DocumentRecord): IDBKeyRange[] {
  const [first, ...others] = paths.map((path) => at(doc, path))
  const values = others.length > 0 ? [[first, ...others]] : Array.isArray(first) ? first : [first]
  return values.flatMap((value) => {
    if (isTangled(value)) return []
    try {
      return [IDBKeyRange.only(value)]
    } catch {
      return []
    }
  })
}
