import { fail } from '../errors.js'
import type { Operation, Settings, SweepSlice } from '../protocol.js'
import { nextExpiry, stats } from './census.js'
import { count, find } from './find.js'
import { everyId, NEEDS_INDEX } from './layout.js'
import { change, NOTHING, remembers } from './life.js'
import { results } from './request.js'
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

  /** Deletes at most `limit` documents that have expired. */
  async sweep(shelf: Shelf, { limit, ahead = false }: Of<'sweep'>): Promise<SweepSlice> {
    const graves = shelf.graves()
    // One more than may be deleted shows that there are more.
    const requests = graves.map(({ index, range }) => index.getAllKeys(range, limit + 1))
    const dead = (await results(requests)).flat()
    const slice = dead.slice(0, limit)
    for (const id of slice) shelf.store.delete(id)
    const more = dead.length > slice.length
    // With the last of them gone there is nothing left to remember.
    if (!more && remembers(shelf.setting)) shelf.alter({ ...shelf.setting, dead: NOTHING })
    return { deleted: slice.length, more, next: ahead && !more ? await nextExpiry(shelf) : null }
  },
}
