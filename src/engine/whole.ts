import { fail } from '../errors.js'
import type { Operation, Settings, SweepSlice } from '../protocol.js'
import { nextExpiry, stats } from './census.js'
import { count, find } from './find.js'
import { everyId, NEEDS_INDEX } from './layout.js'
import { change, NOTHING, remembers } from './life.js'
import type { DocumentRecord } from './life.js'
import { result, results } from './request.js'
import type { Shelf } from './shelf.js'

type Of<Name extends Operation['verb']> = Extract<Operation, { verb: Name }>

/** What each operation on a whole collection does. */
export const wholes = {
  find: (shelf: Shelf, { question, after }: Of<'find'>) => find(shelf, question, after),

  count: (shelf: Shelf, { question }: Of<'count'>) => count(shelf, question),

  stats,

  settings({ setting, shape }: Shelf): Settings {
    return { defaultTtl: setting.defaultTtl, indexing: shape.indexing }
  },

  setDefaultTtl(shelf: Shelf, { defaultTtl }: Of<'setDefaultTtl'>) {
    const { setting, shape, now } = shelf
    if (shape.indexing === 'none' && defaultTtl !== null) {
      throw fail('invalid', { collection: shape.name }, NEEDS_INDEX)
    }
    shelf.alter(change(setting, defaultTtl, now))
    // Anything may have expired by this, or be about to.
    shelf.due = -Infinity
  },

  clear({ store }: Shelf) {
    store.delete(everyId())
  },

  /** Deletes at most so many documents that have expired. */
  async sweep(shelf: Shelf, { limit, from = NOTHING, isWhole }: Of<'sweep'>): Promise<SweepSlice> {
    const graves = shelf.graves(from)
    // One more than may be deleted shows that there are more.
    const found = await results(graves.map(({ index, range }) => index.getAllKeys(range, limit + 1)))
    const reached = { ...from }
    let deleted = 0
    for (const [at, { field }] of graves.entries()) {
      const ids = found[at]!.slice(0, limit - deleted)
      if (ids.length === 0) continue
      const last = (await result(shelf.store.get(ids.at(-1)!))) as DocumentRecord
      reached[field] = last[field]!
      for (const id of ids) shelf.store.delete(id)
      deleted += ids.length
    }
    const more = found.flat().length > deleted
    // With the last of the dead gone there is nothing left to remember.
    if (!more && isWhole && remembers(shelf.setting)) shelf.alter({ ...shelf.setting, dead: NOTHING })
    return { deleted, more, reached, next: more ? null : await nextExpiry(shelf) }
  },
}
