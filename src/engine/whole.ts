import { fail } from '../errors.js'
import type { Evicted, Explained, Operation, Settings, SweepSlice } from '../protocol.js'
import { bury } from './attendance.js'
import { countDead, nextExpiry, stats } from './census.js'
import { count, deadIds } from './count.js'
import { find, search } from './find.js'
import type { Ahead } from './find.js'
import { everyId, NEEDS_INDEX } from './layout.js'
import { change, NOTHING, remembers } from './life.js'
import type { DocumentRecord } from './life.js'
import { dismiss } from './limit.js'
import { listens } from './listen.js'
import { result, results } from './request.js'
import type { Shelf } from './shelf.js'
import { soonest } from './soonest.js'
import { weight } from '../weight.js'
import { clearStage, staging } from './staging.js'

type Of<Name extends Operation['verb']> = Extract<Operation, { verb: Name }>

/** What each operation on a whole collection does. */
export const wholes = {
  ...listens,

  ...staging,

  find: (shelf: Shelf, { question, after }: Of<'find'>, ahead?: Ahead) => find(shelf, question, after, ahead),

  async explain(shelf: Shelf, { question }: Of<'explain'>): Promise<Explained> {
    const { rows, read, index, isSorted } = await search(shelf, question)
    return { index, read, returned: rows.length, sorted: isSorted }
  },

  count: (shelf: Shelf, { question }: Of<'count'>) => count(shelf, question),

  stats,

  /** Takes note of what has expired. */
  witness: (shelf: Shelf) => countDead(shelf),

  settings({ setting, shape }: Shelf): Settings {
    return { defaultTtl: setting.defaultTtl, indexing: shape.indexing }
  },

  async setDefaultTtl(shelf: Shelf, { defaultTtl }: Of<'setDefaultTtl'>) {
    const { setting, shape, now } = shelf
    if (shape.indexing === 'none' && defaultTtl !== null) {
      throw fail('invalid', { collection: shape.name }, NEEDS_INDEX)
    }
    shelf.alter(change(setting, defaultTtl, now))
    // Anything may have expired by this, or be about to.
    shelf.due = -Infinity
    shelf.shake()
    // What comes next in this transaction may take the place of what has just died.
    if (shelf.isFollowed) await bury(shelf)
  },

  async clear(shelf: Shelf) {
    if (shelf.isFollowed) {
      const [ids, dead] = await Promise.all([result(shelf.store.getAllKeys(everyId())), deadIds(shelf)])
      const gone = new Set(dead)
      for (const id of ids as string[]) if (!gone.has(id)) shelf.note({ type: 'delete', id })
    }
    shelf.store.delete(everyId())
    shelf.held &&= 0
    if (shelf.setting.staged !== undefined) clearStage(shelf)
    shelf.shake()
  },

  /**
   * Deletes at most so many documents that have expired. Chromium leaves their entries in the indexes, where each reader
   * trips over them, until one that may write comes by: here the next slice, which begins where this one began.
   */
  async sweep(shelf: Shelf, { limit, from = NOTHING, isWhole }: Of<'sweep'>): Promise<SweepSlice> {
    const graves = shelf.graves(from)
    // One more than may be deleted shows that there are more.
    const found = await results(graves.map(({ index, range }) => index.getAllKeys(range, limit + 1)))
    const reached = { ...from }
    let deleted = 0
    for (const [at, { field }] of graves.entries()) {
      const ids = found[at]!.slice(0, limit - deleted) as string[]
      if (ids.length === 0) continue
      // Asked for before it is deleted, and not waited for: that would be one more round trip.
      const first = result(shelf.store.get(ids[0]!)) as Promise<DocumentRecord>
      await shelf.discardAll(ids)
      deleted += ids.length
      reached[field] = (await first)[field]!
    }
    const more = found.flat().length > deleted
    // With the last of the dead gone there is nothing left to remember.
    if (!more && isWhole && remembers(shelf.setting)) shelf.alter({ ...shelf.setting, dead: NOTHING })
    return { deleted, more, reached, next: more ? null : await nextExpiry(shelf) }
  },

  /**
   * Deletes what would expire soonest, at or before a moment, until about so many bytes are free. They have to be read
   * for that: documents are as different as can be.
   */
  async evict(shelf: Shelf, { goal, until, kept }: Of<'evict'>): Promise<Evicted> {
    const named = new Set(kept)
    let freed = 0
    for await (const expiring of soonest(shelf, true)) {
      if (named.has(expiring.id)) continue
      if (freed >= goal || expiring.at > until) return { freed, next: expiring.at }
      freed += weight(await result(shelf.store.get(expiring.id)))
      dismiss(shelf, [expiring])
    }
    return { freed, next: null }
  },
}
