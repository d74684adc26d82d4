import { fail, toFailure } from '../errors.js'
import type { Accepting, Draft, Operation, Restored } from '../protocol.js'
import { newEtag } from './etag.js'
import { fullness } from './fullness.js'
import { isDead, stamp } from './life.js'
import type { DocumentRecord } from './life.js'
import { dismiss, leavingFor } from './limit.js'
import { result } from './request.js'
import type { Shelf } from './shelf.js'
import { claim } from './unique.js'
import { checkTtl } from './verbs.js'
import { ofVersion } from './versions.js'

type Of<Name extends Operation['verb']> = Extract<Operation, { verb: Name }>

/** Documents on their way in. */
type Part = Pick<Of<'stage'>, 'token' | 'docs' | 'times'>

/** What an import that was broken off has left behind is deleted after so many milliseconds, when the store is opened. */
const KEPT = 60 * 60 * 1000

/**
 * What an import does. Its documents lie in the collection's own object store until the last has come, under numbers
 * below that of the setting: no index has them, and no id is a number. Then one transaction takes them all.
 */
export const staging = {
  stage(shelf: Shelf, { token, part, docs, times }: Of<'stage'>) {
    if (part === 0) clearStage(shelf)
    shelf.alter({ ...shelf.setting, staged: shelf.now })
    shelf.store.put({ token, docs, times } satisfies Part, keyOf(part))
  },

  async unstage(shelf: Shelf, { token, parts, ...accepting }: Of<'unstage'>): Promise<Restored> {
    const restored: Restored = { imported: 0, expired: 0, kept: 0 }
    // What gives way in the end must not be in the way of a unique value before.
    if (accepting.onConflict === 'replace' && hasUnique(shelf)) {
      for (let part = 0; part < parts; part++) await clearWay(shelf, await partOf(shelf, part, token))
    }
    // None of it makes way for the rest, where a limit is kept.
    const taken = (shelf.together = new Set<string>())
    for (let part = 0; part < parts; part++) {
      await take(shelf, await partOf(shelf, part, token), accepting, restored, taken)
    }
    clearStage(shelf)
    return restored
  },

  async discard(shelf: Shelf, { token }: Of<'discard'>) {
    const part = (await result(shelf.store.get(keyOf(0)))) as Part | undefined
    if (part?.token === token) clearStage(shelf)
  },

  /** Takes documents at once, up to the first that is refused. */
  async restore(shelf: Shelf, { docs, times, ...accepting }: Of<'restore'>): Promise<Restored> {
    const restored: Restored = { imported: 0, expired: 0, kept: 0 }
    try {
      await take(shelf, { docs, times }, accepting, restored)
    } catch (error) {
      if (fullness(error)) throw error
      restored.failure = toFailure(error, { collection: shelf.shape.name })
    }
    return restored
  },
}

export function clearStage(shelf: Shelf): void {
  shelf.store.delete(IDBKeyRange.upperBound(0, true))
  const { staged: _, ...setting } = shelf.setting
  shelf.alter(setting)
}

/** Whether an import was broken off so long ago that nobody can go on with it. */
export function isAbandoned({ setting, now }: Shelf): boolean {
  return setting.staged !== undefined && Math.abs(now - setting.staged) > KEPT
}

function keyOf(part: number): number {
  return -1 - part
}

async function partOf(shelf: Shelf, number: number, token: string): Promise<Part> {
  const part = (await result(shelf.store.get(keyOf(number)))) as Part | undefined
  if (part?.token === token) return part
  const place = { collection: shelf.shape.name }
  throw fail('failed', place, 'another import has begun meanwhile. Wait for its end and import this again.')
}

async function take(
  shelf: Shelf,
  { docs, times }: Omit<Part, 'token'>,
  { onConflict, version }: Accepting,
  restored: Restored,
  ids?: Set<string>,
): Promise<void> {
  // So many changes are told one by one only to those who want to hear of every one.
  if (!shelf.isFollowed) shelf.shake()
  await shelf.fetch(docs.map((doc) => doc.id))
  for (const [at, doc] of docs.entries()) {
    checkTtl(shelf, doc.id, doc.ttl)
    const record = ofVersion(recordOf(shelf, doc, times[at]!), version)
    const there = !isDead(record, shelf.edge) && shelf.find(doc.id)
    if (there === false) restored.expired++
    else if (there && onConflict === 'keep') restored.kept++
    else if (there && onConflict === 'fail') throw occupied(shelf, doc.id)
    else {
      if (hasUnique(shelf)) await claim(shelf, record)
      const leaving = await leavingFor(shelf, doc.id)
      announceInTime(shelf, record)
      shelf.put(record)
      dismiss(shelf, leaving)
      if (shelf.shape.maxDocuments !== undefined) ids?.add(doc.id)
      restored.imported++
    }
  }
  shelf.forget()
}

/** It lives on from when it was written, which cannot have been later than now. */
function recordOf({ now }: Shelf, doc: Draft, time: number): DocumentRecord {
  return stamp(doc, Math.min(time, now), newEtag())
}

async function clearWay(shelf: Shelf, { docs, times }: Part): Promise<void> {
  const living = docs.filter((doc, at) => !isDead(recordOf(shelf, doc, times[at]!), shelf.edge))
  await shelf.fetch(living.map((doc) => doc.id))
  for (const { id } of living) shelf.discard(id)
  shelf.forget()
}

/** Its expiry may lie before one that has been announced under another setting. */
function announceInTime(shelf: Shelf, { expiresAt = Infinity, inheritsFrom = Infinity }: DocumentRecord): void {
  const { edge, setting } = shelf
  const { told } = setting
  if (expiresAt > told.expiresAt && inheritsFrom > told.inheritsFrom) return
  shelf.alter({
    ...setting,
    told: {
      expiresAt: Math.min(told.expiresAt, edge.expiresAt),
      inheritsFrom: Math.min(told.inheritsFrom, edge.inheritsFrom),
    },
  })
}

function hasUnique({ shape }: Shelf): boolean {
  return shape.indexes.some((index) => index.unique)
}

function occupied({ shape }: Shelf, id: string) {
  const place = { collection: shape.name, id }
  return fail('conflict', place, "there is a document with this id already. Say onConflict: 'replace' or 'keep'.")
}
