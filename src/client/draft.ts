import { fail } from '../errors.js'
import type { Draft } from '../protocol.js'

/** Cosmos DB's limit, and long enough for any key. */
const LONGEST_ID = 1023

/** Fields that a patch must not set: the store's own, and the ways to a prototype. */
const UNTOUCHABLE = ['id', '_ts', '_etag', '__proto__', 'constructor']

export function checkId(id: unknown, collection: string): asserts id is string {
  if (typeof id !== 'string') {
    throw fail('invalid', { collection }, `an id is a string, and this one is ${kind(id)}.`)
  }
  if (id === '') throw fail('invalid', { collection, id }, 'the id is empty. An id has at least one character.')
  // No character takes more than three bytes for each of its UTF-16 units.
  if (id.length * 3 > LONGEST_ID && new TextEncoder().encode(id).length > LONGEST_ID) {
    throw fail('invalid', { collection, id: `${id.slice(0, 40)}…` }, `the id is longer than ${LONGEST_ID} bytes.`)
  }
}

export function checkIterable(items: unknown, collection: string): asserts items is Iterable<unknown> {
  if (typeof items !== 'string' && typeof Object(items)[Symbol.iterator] === 'function') return
  throw fail(
    'invalid',
    { collection },
    `this takes an array, or anything else that can be iterated, and not ${kind(items)}.`,
  )
}

export function toIds(ids: unknown, collection: string): string[] {
  checkIterable(ids, collection)
  return Array.from(ids, (id) => {
    checkId(id, collection)
    return id
  })
}

/**
 * Takes a snapshot of a document, so that what the caller does with it afterwards has no effect,
 * and so that whatever cannot be stored is refused here, before anything is written.
 */
export function toDraft(doc: unknown, collection: string, generate: boolean): Draft {
  if (typeof doc !== 'object' || doc === null) throw notADocument(collection, doc)
  const copy = snapshot(doc, collection)
  // A clone has lost its prototype: only an ordinary object, of whatever class, looks like this.
  if (Object.prototype.toString.call(copy) !== '[object Object]') throw notADocument(collection, doc)
  if (copy['id'] === undefined) {
    if (!generate) {
      throw fail('invalid', { collection }, 'the document has no id. Give it one, or use create(), which does.')
    }
    copy['id'] = newId()
  }
  checkId(copy['id'], collection)
  delete copy['_ts']
  delete copy['_etag']
  return copy as Draft
}

export function toFields(patch: unknown, collection: string, id: string): Record<string, unknown> {
  const place = { collection, id }
  if (typeof patch !== 'object' || patch === null || !isPlain(patch)) {
    throw fail('invalid', place, 'a patch is a plain object with the fields to change.')
  }
  const forbidden = UNTOUCHABLE.find((field) => Object.hasOwn(patch, field))
  if (forbidden !== undefined) {
    throw fail('invalid', place, `a patch cannot set ${forbidden}. Leave it out.`)
  }
  return snapshot(patch, collection, id)
}

function snapshot(value: object, collection: string, id?: string): Record<string, unknown> {
  try {
    const copy = structuredClone(value) as Record<string, unknown>
    readGetters(value)
    return copy
  } catch (cause) {
    const known = id ?? ownId(value)
    throw fail(
      'invalid',
      { collection, id: known },
      'this cannot be stored: it holds a function, a DOM node, a getter that throws or something else that cannot be cloned.',
      cause,
    )
  }
}

/**
 * Cloning passes over the getters of a class. One that throws says that the object is not in a
 * state to be read, so it is not stored as if it were.
 */
function readGetters(value: object): void {
  for (let proto = prototypeOf(value); proto && prototypeOf(proto); proto = prototypeOf(proto)) {
    for (const accessor of Object.values(Object.getOwnPropertyDescriptors(proto))) accessor.get?.call(value)
  }
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null
}

function ownId(value: object): string | undefined {
  try {
    const id: unknown = Object.getOwnPropertyDescriptor(value, 'id')?.value
    return typeof id === 'string' && id !== '' ? id : undefined
  } catch {
    // A proxy may refuse even this.
    return undefined
  }
}

/** A literal or a parsed object, of this window or another: its prototype, if it has one, is the last. */
function isPlain(value: object): boolean {
  const proto = prototypeOf(value)
  return proto === null || (prototypeOf(proto) === null && Object.hasOwn(proto, 'hasOwnProperty'))
}

function notADocument(collection: string, value: unknown) {
  return fail('invalid', { collection }, `a document is an object with an id, and this is ${kind(value)}.`)
}

function kind(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return `a ${Object.prototype.toString.call(value).slice(8, -1)}`
}

/** `crypto.randomUUID` exists in secure contexts only. */
function newId(): string {
  if (crypto.randomUUID) return crypto.randomUUID()
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte, at) => {
    const bits = at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte
    return bits.toString(16).padStart(2, '0')
  })
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
