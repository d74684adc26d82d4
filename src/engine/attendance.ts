import type { Horizon, Joining } from '../protocol.js'
import { nextExpiry } from './census.js'
import { entriesSince, forgetEntries } from './journal.js'
import type { Entry } from './journal.js'
import type { Attention, DocumentRecord, Setting } from './life.js'
import { results } from './request.js'
import type { Shelf } from './shelf.js'
import { floorOf, versionOf } from './versions.js'

/** More documents than this are not fetched one by one. */
const MANY = 200

/** What a tab that listens learns of a collection. */
export interface Heard {
  /** The journal's last entry. */
  entry: number
  setting: Setting
  edge: Horizon
  entries: Entry[]
  /** Something may be missing among the entries. */
  isGap: boolean
  /** When the next document expires, where every change is wanted. */
  next: number | null
}

/** Puts a tab on the list of those who listen, and takes those off that are not there any more. */
export async function join(shelf: Shelf, joining: Joining): Promise<void> {
  const { tab, isFollowing, others, opened, told } = joining
  const { audience, entry, keptFrom } = shelf.setting
  const present = Object.entries(audience).filter(([name]) => name === tab || (others?.includes(name) ?? true))
  const isAlone = others ? others.length === 0 : present.every(([name]) => name === tab)
  const isFirst = !present.some(([, attention]) => attention === 'changes')
  // A live query that begins in the same tick must not take back what a listener has just said.
  const attention: Attention = isFollowing || audience[tab] === 'changes' ? 'changes' : 'results'
  shelf.alter({
    ...shelf.setting,
    audience: { ...Object.fromEntries(present), [tab]: attention },
    keptFrom: present.length === 0 ? entry + 1 : keptFrom,
  })
  // What follows in this transaction must not pass over anything that dies meanwhile.
  if (isFollowing) shelf.pin()
  if (!isFollowing || !isFirst) return
  // What has expired while no tab was open is announced now; what did so while one was, but nobody listened, is not.
  // Since the opening it may have been announced to a tab that was not there any more.
  if (isAlone) await announce(shelf, opened, earlier(told, shelf.setting.told))
  shelf.alter({ ...shelf.setting, told: shelf.edge })
}

/** Takes a tab off the list, or keeps it there for what changes do to results. */
export function leave(shelf: Shelf, tab: string, keeps: boolean): void {
  const { [tab]: _, ...others } = shelf.setting.audience
  shelf.alter({ ...shelf.setting, audience: keeps ? { ...others, [tab]: 'results' } : others })
  if (!shelf.isHeard) forgetEntries(shelf.store)
}

/** Announces what has expired and has not been announced: once, whichever tab comes first. */
export async function bury(shelf: Shelf): Promise<void> {
  const { edge, now } = shelf
  const { told } = shelf.setting
  // A clock that was ahead has announced what lies in the future now.
  const isAhead = told.expiresAt > now || told.inheritsFrom > now
  if (!isAhead) await announce(shelf, edge)
  if (isAhead || edge.expiresAt > told.expiresAt || edge.inheritsFrom > told.inheritsFrom) {
    shelf.alter({ ...shelf.setting, told: isAhead ? edge : later(edge, told) })
  }
}

async function announce(shelf: Shelf, upTo: Horizon, told = shelf.setting.told): Promise<void> {
  const fresh = shelf.graves().filter(({ field }) => upTo[field] > told[field])
  const requests = fresh.map(({ field, index }) =>
    index.getAllKeys(IDBKeyRange.bound(told[field], upTo[field], true, false)),
  )
  const ids = ((await results(requests)) as string[][]).flat()
  for (const id of ids) shelf.note({ type: 'expire', id })
  if (ids.length > 0) shelf.witness(shelf.now)
}

/** When the next document expires that has not been announced: one that has died meanwhile must not be passed over. */
function nextToTell(shelf: Shelf): Promise<number | null> {
  return nextExpiry(shelf, earlier(shelf.edge, shelf.setting.told))
}

function earlier(a: Horizon, b: Horizon): Horizon {
  return { expiresAt: Math.min(a.expiresAt, b.expiresAt), inheritsFrom: Math.min(a.inheritsFrom, b.inheritsFrom) }
}

function later(a: Horizon, b: Horizon): Horizon {
  return { expiresAt: Math.max(a.expiresAt, b.expiresAt), inheritsFrom: Math.max(a.inheritsFrom, b.inheritsFrom) }
}

/** What has happened since an entry. Whoever asks at the moment of an expiry is about to tell of it. */
export async function heed(shelf: Shelf, since: number, due: number | null): Promise<Heard> {
  const { setting, store, isFollowed } = shelf
  const [entries, next] = await Promise.all([
    setting.entry > since ? entriesSince(store, since).then((all) => all.map((one) => current(one, shelf))) : [],
    isFollowed ? nextToTell(shelf) : null,
  ])
  const isGap = since > setting.entry || setting.entry - since > entries.length || since + 1 < setting.keptFrom
  const isKnown = isGap || (await supply(shelf, entries))
  shelf.witness(due)
  return { entry: setting.entry, setting, edge: shelf.edge, entries, isGap: !isKnown || isGap, next }
}

/** What a tab of an earlier version wrote has been migrated since, which is told by itself. */
function current(entry: Entry, { shape }: Shelf): Entry {
  const floor = floorOf(shape)
  return { ...entry, changes: entry.changes.filter(({ record }) => !record || versionOf(record) >= floor) }
}

/** Adds the records to entries that have none; false when they are too many. */
async function supply({ store }: Shelf, entries: Entry[]): Promise<boolean> {
  const bare = entries.flatMap(({ changes }) => changes.filter(({ type, record }) => type === 'upsert' && !record))
  const ids = [...new Set(bare.map(({ id }) => id))]
  if (ids.length > MANY) return false
  const records = await results<DocumentRecord | undefined>(ids.map((id) => store.get(id)))
  const known = new Map(ids.map((id, at) => [id, records[at]]))
  for (const change of bare) {
    const record = known.get(change.id)
    if (record) change.record = record
  }
  return true
}
