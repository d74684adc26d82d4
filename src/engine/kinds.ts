import { elements } from '../dense.js'
import type { Document } from '../protocol.js'
import { everyId, SETTING } from './layout.js'
import { ARRAYS, BROKEN, GAPS, ODD, SCALARS, ZEROS } from './life.js'
import type { DocumentRecord, Kinds, Setting } from './life.js'
import { isSortable } from './order.js'
import { at, isPlain } from './path.js'

/**
 * What kinds of values there are at the paths that have an index. One on a single field has an array by its elements, so
 * only where there are none does it have the order of the values, and as many keys as documents.
 */
export function withKinds(kinds: Kinds, paths: string[], doc: Document): Kinds {
  let more = kinds
  for (const path of paths) {
    const known = more[path] ?? 0
    const value = at(doc, path)
    const kind =
      known |
      kindOf(value) |
      (path.includes('.') && isOdd(doc, path) ? ODD : 0) |
      ((known & GAPS) === 0 && !isSortable(value) ? GAPS : 0)
    if (kind !== known) more = { ...more, [path]: kind }
  }
  return more
}

function kindOf(value: unknown): number {
  if (Array.isArray(value)) {
    return ARRAYS | (isBroken(value, new Set()) ? BROKEN : hasMinusZero(value) ? ZEROS : 0)
  }
  if (Object.is(value, -0)) return SCALARS | ZEROS
  const isKey = ['number', 'string'].includes(typeof value) || value instanceof Date || isBinary(value)
  return isKey ? SCALARS : 0
}

/** Chromium leaves an array out of an index altogether where it has a hole, or contains itself. */
function isBroken(list: unknown[], seen: Set<unknown>): boolean {
  if (seen.has(list)) return true
  seen.add(list)
  for (let at = 0; at < list.length; at++) {
    if (!(at in list)) return true
    const element = list[at]
    if (Array.isArray(element) && isBroken(element, seen)) return true
  }
  return false
}

/** How many elements may be there again at an indexed path. */
const AGAIN = 100_000

/** The first of the paths with an index at which there is a value that no key can be made of in time. */
export function tangledPath(paths: string[], doc: Document): string | undefined {
  return paths.find((path) => isTangled(at(doc, path)))
}

/** Whether a browser that makes a key of it would take ages: it goes into an array each time that it is there. */
export function isTangled(value: unknown): boolean {
  const sizes = new Map<unknown, number>()
  let once = 0
  const size = (one: unknown): number => {
    if (!Array.isArray(one)) return 0
    let sum = sizes.get(one)
    if (sum !== undefined) return sum
    sizes.set(one, 0)
    const inner = elements(one)
    once += sum = inner.length
    for (const element of inner) sum += size(element)
    sizes.set(one, sum)
    return sum
  }
  return size(value) > once + AGAIN
}

/** For Firefox -0 comes before 0, and neither is found as the other. */
function hasMinusZero(list: unknown[]): boolean {
  return list.some((element) => Object.is(element, -0) || (Array.isArray(element) && hasMinusZero(element)))
}

function isBinary(value: unknown): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer
}

/** Whether IndexedDB may find something there where a path of ours ends before: the length of a string, say. */
function isOdd(doc: object, path: string): boolean {
  const steps = path.split('.')
  return steps.slice(1).some((_, step) => {
    const parent = at(doc, steps.slice(0, step + 1).join('.'))
    return typeof parent === 'string' || (typeof parent === 'object' && parent !== null && !isPlain(parent))
  })
}

/** How many documents are looked at at once. */
const CHUNK = 1000

/**
 * Finds that out for indexes that are being added, without reading a document: an index of whole values, for the
 * moment, has the arrays behind everything else, and what the other has beyond the rest comes from arrays too. Only
 * where some document is not in there need they be looked at, for what keeps an array out.
 */
export function survey(store: IDBObjectStore, added: IDBIndex[]): void {
  if (added.length === 0) return
  const singles = added.filter((index) => index.multiEntry)
  const counts = singles.map((index) => {
    const values = store.createIndex(`+values of ${index.name}`, index.keyPath)
    const scalars = values.count(IDBKeyRange.upperBound([], true))
    const arrays = values.count(IDBKeyRange.lowerBound([]))
    return { path: index.name, values, all: index.count(), scalars, arrays }
  })
  const compounds = added
    .filter(({ keyPath }) => Array.isArray(keyPath))
    .map((index) => ({ paths: pathsOf(index), all: index.count() }))
  const total = store.count(everyId())
  const request: IDBRequest<Setting> = store.get(SETTING)
  request.onsuccess = () => {
    const kinds: Record<string, number> = { ...request.result.kinds }
    const doubtful: string[] = []
    for (const { paths, all } of compounds) {
      const gaps = all.result < total.result ? GAPS : 0
      for (const path of paths) kinds[path] = (kinds[path] ?? 0) | gaps
    }
    for (const path of added.flatMap(pathsOf)) if (path.includes('.')) kinds[path] = (kinds[path] ?? 0) | ODD
    for (const { path, values, all, scalars, arrays } of counts) {
      store.deleteIndex(values.name)
      if (scalars.result > 0) kinds[path] = (kinds[path] ?? 0) | SCALARS
      if (arrays.result > 0 || all.result !== scalars.result) kinds[path] = (kinds[path] ?? 0) | ARRAYS
      if (scalars.result + arrays.result < total.result) doubtful.push(path)
    }
    const keep = (known: Kinds) => store.put({ ...request.result, kinds: known }, SETTING)
    if (doubtful.length > 0) inspect(store, doubtful, kinds, keep)
    else keep(kinds)
  }
}

function inspect(store: IDBObjectStore, paths: string[], kinds: Kinds, done: (kinds: Kinds) => void, after = ''): void {
  const request: IDBRequest<DocumentRecord[]> = store.getAll(IDBKeyRange.lowerBound(after, true), CHUNK)
  request.onsuccess = () => {
    const more = request.result.reduce((known, { doc }) => withKinds(known, paths, doc), kinds)
    const last = request.result.at(-1)
    if (last) inspect(store, paths, more, done, last.doc.id)
    else done(more)
  }
}

/** The paths that have an index, whoever declared it: it may have been another version of the app. */
export function indexedPaths(store: IDBObjectStore): string[] {
  return [...new Set([...store.indexNames].filter((name) => !name.startsWith('+')).flatMap((name) => name.split('+')))]
}

function pathsOf({ name }: IDBIndex): string[] {
  return name.split('+')
}
