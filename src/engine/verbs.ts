import { blame, fail, MayflyError, toFailure } from '../errors.js'
import type { Document, Draft, Operation, Written } from '../protocol.js'
import { isTtl, TTL_RULE } from '../ttl.js'
import { newEtag } from './etag.js'
import { expiry, stamp } from './life.js'
import type { DocumentRecord } from './life.js'
import { dismiss, leavingFor } from './limit.js'
import type { Shelf } from './shelf.js'
import { claim } from './unique.js'
import { ofVersion, versionOf } from './versions.js'

type Of<Name extends Operation['verb']> = Extract<Operation, { verb: Name }>

/** What each operation on documents named by id does. The records were read ahead by `needs`. */
export const verbs = {
  get: (shelf: Shelf, { id }: Of<'get'>) => read(shelf, id),

  getMany: (shelf: Shelf, { ids }: Of<'getMany'>) => ids.map((id) => read(shelf, id)),

  expiresAt(shelf: Shelf, { id }: Of<'expiresAt'>) {
    const record = shelf.find(id)
    return record && expiry(record, shelf.setting)
  },

  create: async (shelf: Shelf, { doc }: Of<'create'>) => shelf.copy(await create(shelf, doc)),

  async upsert(shelf: Shelf, { doc, ifMatch }: Of<'upsert'>) {
    if (ifMatch !== undefined && !matching(shelf, doc.id, ifMatch)) {
      throw moved(shelf, doc.id, 'there is no such document')
    }
    return shelf.copy(await write(shelf, doc))
  },

  async replace(shelf: Shelf, { doc, ifMatch }: Of<'replace'>) {
    if (!matching(shelf, doc.id, ifMatch)) throw missing(shelf, doc.id)
    return shelf.copy(await write(shelf, doc))
  },

  async patch(shelf: Shelf, { id, fields, ifMatch }: Of<'patch'>) {
    const record = matching(shelf, id, ifMatch)
    if (!record) throw missing(shelf, id)
    checkTtl(shelf, id, fields['ttl'])
    return shelf.copy(await save(shelf, merge(structuredClone(record.doc), fields)))
  },

  async touch(shelf: Shelf, { id, ifMatch }: Of<'touch'>) {
    const record = matching(shelf, id, ifMatch)
    // The document is as it was, also where a newer version of the app wrote it, and has what it had.
    if (record) await save(shelf, structuredClone(record.doc), { version: versionOf(record), isOld: true })
    return record !== undefined
  },

  delete(shelf: Shelf, { id, ifMatch }: Of<'delete'>) {
    const record = matching(shelf, id, ifMatch)
    if (record) shelf.remove(id)
    return record !== undefined
  },

  createMany: (shelf: Shelf, { docs }: Of<'createMany'>) => many(shelf, docs, create),

  upsertMany: (shelf: Shelf, { docs }: Of<'upsertMany'>) => many(shelf, docs, write),

  deleteMany(shelf: Shelf, { ids }: Of<'deleteMany'>) {
    const found = ids.filter((id) => {
      const there = shelf.find(id) !== undefined
      if (there) shelf.remove(id)
      return there
    })
    return found.length
  },
}

export type KeyedOperation = Extract<Operation, { verb: keyof typeof verbs }>

export function isKeyed(operation: Operation): operation is KeyedOperation {
  return Object.hasOwn(verbs, operation.verb)
}

/** The ids whose records an operation has to see. An unconditional upsert needs none. */
export function needs(operation: KeyedOperation): string[] {
  switch (operation.verb) {
    case 'upsertMany':
      return []
    case 'createMany':
      return operation.docs.map((doc) => doc.id)
    case 'getMany':
    case 'deleteMany':
      return operation.ids
    case 'upsert':
      return operation.ifMatch === undefined ? [] : [operation.doc.id]
    case 'create':
    case 'replace':
      return [operation.doc.id]
    default:
      return [operation.id]
  }
}

/** The ids that an operation writes without seeing what is there. */
export function overwrites(operation: KeyedOperation): string[] {
  if (operation.verb === 'upsertMany') return operation.docs.map((doc) => doc.id)
  return operation.verb === 'upsert' && operation.ifMatch === undefined ? [operation.doc.id] : []
}

function read(shelf: Shelf, id: string): Document | undefined {
  const record = shelf.find(id)
  return record && shelf.copy(record)
}

async function create(shelf: Shelf, doc: Draft): Promise<DocumentRecord> {
  if (shelf.find(doc.id)) {
    const place = { collection: shelf.shape.name, id: doc.id }
    throw fail('conflict', place, 'there is a document with this id already. Use upsert() to overwrite it.')
  }
  return write(shelf, doc)
}

async function write(shelf: Shelf, draft: Draft): Promise<DocumentRecord> {
  checkTtl(shelf, draft.id, draft.ttl)
  return save(shelf, draft)
}

/**
 * With TTL on, a write must carry a valid ttl or none. One that came in while TTL was off counts as
 * absent: it does not stand in the way of a patch of another field, or of a touch.
 */
export function checkTtl({ setting, shape }: Shelf, id: string, ttl: unknown): void {
  if (setting.defaultTtl === null || ttl === undefined || isTtl(ttl)) return
  const place = { collection: shape.name, id }
  throw fail('invalid', place, `${TTL_RULE}. Leave it out to inherit the collection’s default.`)
}

/** Every write stamps the document anew, which starts its countdown. */
async function save(
  shelf: Shelf,
  draft: Draft,
  { version = shelf.shape.version, isOld = false } = {},
): Promise<DocumentRecord> {
  const record = ofVersion(stamp(draft, shelf.now, newEtag()), version)
  if (!isOld && shelf.shape.indexes.some((index) => index.unique)) await claim(shelf, record)
  const leaving = await leavingFor(shelf, draft.id)
  try {
    shelf.put(record)
  } catch (error) {
    throw blame(error, { collection: shelf.shape.name, id: draft.id })
  }
  dismiss(shelf, leaving)
  return record
}

/** Defines the fields instead of assigning them: assigning to `__proto__` would not make a field. */
function merge(doc: Draft, fields: Record<string, unknown>): Draft {
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) delete doc[field]
    else Object.defineProperty(doc, field, { value, writable: true, enumerable: true, configurable: true })
  }
  return doc
}

async function many(
  shelf: Shelf,
  docs: Draft[],
  one: (shelf: Shelf, doc: Draft) => Promise<unknown>,
): Promise<Written> {
  const failures = []
  for (const doc of docs) {
    try {
      await one(shelf, doc)
    } catch (error) {
      if (!(error instanceof MayflyError)) throw error
      failures.push(toFailure(error, { collection: shelf.shape.name, id: doc.id }))
    }
  }
  return { written: docs.length - failures.length, failures }
}

/** The live record, provided that nobody has written it since. */
function matching(shelf: Shelf, id: string, ifMatch: string | undefined): DocumentRecord | undefined {
  const record = shelf.find(id)
  if (record && ifMatch !== undefined && record.doc._etag !== ifMatch) {
    throw moved(shelf, id, 'the document has been written since')
  }
  return record
}

function moved({ shape }: Shelf, id: string, why: string) {
  const place = { collection: shape.name, id }
  return fail('precondition-failed', place, `${why}, so its _etag is not the one in ifMatch. Read it again and retry.`)
}

function missing({ shape }: Shelf, id: string) {
  const place = { collection: shape.name, id }
  return fail('not-found', place, 'there is no such document. Use upsert() to write it whether or not it exists.')
}
