import type { Operation } from '../protocol.js'
import { bury, heed, join, leave } from './attendance.js'
import type { Heard } from './attendance.js'
import { nextExpiry } from './census.js'
import { search } from './find.js'
import type { Shelf } from './shelf.js'
import type { Row } from './stream.js'

type Of<Name extends Operation['verb']> = Extract<Operation, { verb: Name }>

/** What a live query has found. */
export interface Seen extends Heard {
  rows: Row[]
}

/** What each operation of a tab that listens does in the collection. */
export const listens = {
  async watch(shelf: Shelf, { question, joining }: Of<'watch'>): Promise<Seen> {
    if (joining) await join(shelf, joining)
    const { rows } = await search(shelf, question)
    return { ...now(shelf), rows }
  },

  async follow(shelf: Shelf, { since, joining }: Of<'follow'>): Promise<Heard> {
    // Looked up before it joins, which may begin a new journal.
    const { entry } = shelf.setting
    const heard = since === undefined ? undefined : await heed(shelf, since, null)
    if (joining) await join(shelf, joining)
    return heard ?? { ...now(shelf), entry, next: await nextExpiry(shelf) }
  },

  unwatch: () => undefined,

  unfollow: () => undefined,

  heed: (shelf: Shelf, { since, due }: Of<'heed'>) => heed(shelf, since, due),

  /** Everything that writes begins with this, where anybody wants to hear of it. */
  bury: (shelf: Shelf) => (shelf.isFollowed ? nextExpiry(shelf) : null),

  leave: (shelf: Shelf, { tab, keeps }: Of<'leave'>) => leave(shelf, tab, keeps),
}

/** Announces what has expired, before anything is written where every change is wanted. */
export async function prepare(shelf: Shelf): Promise<void> {
  if (!shelf.writable || !shelf.isFollowed) return
  shelf.pin()
  await bury(shelf)
}

function now({ setting, edge }: Shelf): Heard {
  return { entry: setting.entry, setting, edge, entries: [], isGap: false, next: null }
}
