import type { CollectionShape, Operation } from '../protocol.js'
import type { Behind, DocumentRecord, Setting } from './life.js'

/** Pure functions about which documents an earlier version of the app may have written. */

export const NOBODY: Behind = { after: null, ids: [] }

const EVERYBODY: Behind = { after: '', ids: [] }

/** More ids than this are not listed: everything is looked at again. */
const MANY = 64

/** A migration within so many milliseconds shows that a tab of a later version is at work. */
const RECENT = 1000

type Levels = Setting['levels']

export function versionOf({ version = 1 }: Pick<DocumentRecord, 'version'>): number {
  return version
}

export function ofVersion(record: DocumentRecord, version: number): DocumentRecord {
  if (version > 1) record.version = version
  return record
}

/** The version that this tab needs documents to be of. Without a migration every one counts as it is. */
export function floorOf({ version, migrates }: CollectionShape): number {
  return migrates ? version : 1
}

/** What may be of an earlier version than this. Whatever has come to a higher one has come to this. */
export function levelOf(levels: Levels, version: number): Behind {
  const known = Object.keys(levels)
    .map(Number)
    .filter((other) => other >= version)
  return levels[Math.min(...known)] ?? EVERYBODY
}

export function isDone({ after, ids }: Behind): boolean {
  return after === null && ids.length === 0
}

export function isBehind({ levels }: Setting, shape: CollectionShape): boolean {
  const floor = floorOf(shape)
  return floor > 1 && !isDone(levelOf(levels, floor))
}

/** The levels with another state of one. What has come to it makes the lower ones superfluous. */
export function withLevel(levels: Levels, version: number, behind: Behind): Levels {
  const others = Object.entries(levels).filter(([other]) => !isDone(behind) || Number(other) > version)
  return { ...Object.fromEntries(others), [version]: behind }
}

/** A record of an earlier version is noted for every later one that would not come by it anyway. */
export function noteBehind(levels: Levels, record: DocumentRecord): Levels {
  const { id } = record.doc
  let more = levels
  for (const [version, level] of Object.entries(levels)) {
    const { after, ids } = level
    const isComing = after !== null && id > after
    if (versionOf(record) >= Number(version) || isComing || ids.includes(id)) continue
    const known = ids.length < MANY ? { after, ids: [...ids, id] } : EVERYBODY
    more = { ...more, [version]: { ...level, ...known } }
  }
  return more
}

/** Whether a tab of a later version is migrating what those of this one write. */
export function isChased({ levels }: Setting, version: number, now: number): boolean {
  return Object.entries(levels).some(
    ([other, { at = -Infinity }]) => Number(other) > version && now >= at && now - at < RECENT,
  )
}

const INDIFFERENT: ReadonlySet<Operation['verb']> = new Set(['sweep', 'leave', 'witness'])

/** Whether an operation gives out no document and writes none. */
export function isIndifferent({ verb }: Operation): boolean {
  return INDIFFERENT.has(verb)
}
