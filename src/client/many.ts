import { fail, fromFailure, MayflyError, readable } from '../errors.js'
import type { Operation, Written } from '../protocol.js'
import { MESSAGE, weight } from '../weight.js'
import { checkIterable, toDraft, toIds } from './draft.js'
import { valueOf } from './queue.js'
import type { Queue, Send } from './queue.js'
import { call } from './report.js'

/** How far a call for many documents has come. */
export interface Progress {
  /** How many have been dealt with, committed or refused. */
  done: number
  /** How many there are, where that is known before the end. */
  total?: number
}

/** What a call for many documents may be given. */
export interface ManyOptions {
  /** Called after each part has been committed. */
  onProgress?: ((progress: Progress) => void) | undefined
  /** Stops after the part that is being written. What has been committed stays. */
  signal?: AbortSignal | undefined
}

/** What came of `createMany` or `upsertMany`. */
export interface WrittenMany {
  /** How many were committed. */
  written: number
  /** Whether the signal stopped it before the end. */
  stopped: boolean
}

/** What came of `deleteMany`. */
export interface DeletedMany {
  /** How many there were to delete. */
  deleted: number
  /** Whether the signal stopped it before the end. */
  stopped: boolean
}

/** How many documents go into one transaction at most. */
const PART = 1000

export async function writeMany(
  queue: Queue,
  verb: 'createMany' | 'upsertMany',
  collection: string,
  docs: Iterable<unknown>,
  options: ManyOptions = {},
): Promise<WrittenMany> {
  queue.checkOpen()
  const checked = readable(() => checkOptions(options, collection), { collection })
  const list = readable(() => listOf(docs, collection), { collection })
  return queue.job(async (send) => {
    const failures: MayflyError[] = []
    let written = 0
    const prepare = (doc: unknown) => readable(() => toDraft(doc, collection, verb === 'createMany'), { collection })
    const committed = () => written
    const stopped = await inParts(list, prepare, checked, committed, async ({ ready, refused }) => {
      const reply = (await ask(send, { verb, collection, docs: ready })) as Written
      written += reply.written
      failures.push(...refused, ...reply.failures.map(fromFailure))
    })
    if (failures.length > 0) throw refused(collection, failures, written)
    return { written, stopped }
  })
}

export async function deleteMany(
  queue: Queue,
  collection: string,
  ids: Iterable<string>,
  options: ManyOptions = {},
): Promise<DeletedMany> {
  queue.checkOpen()
  const list = readable(() => toIds(ids, collection), { collection })
  const checked = readable(() => checkOptions(options, collection), { collection })
  return queue.job(async (send) => {
    let deleted = 0
    const committed = () => deleted
    const stopped = await inParts(
      list,
      (id) => id,
      checked,
      committed,
      async ({ ready }) => {
        const found = (await ask(send, { verb: 'deleteMany', collection, ids: ready })) as number
        deleted += found
      },
    )
    return { deleted, stopped }
  })
}

/** The list as it is now: what the caller does with it afterwards has no effect. A generator is read as needed. */
function listOf<T>(items: Iterable<T>, collection: string): Iterable<T> {
  checkIterable(items, collection)
  return Array.isArray(items) ? [...items] : items
}

function checkOptions(options: ManyOptions, collection: string): ManyOptions {
  const { onProgress, signal } = options ?? {}
  const isOne = typeof options === 'object' && options !== null
  if (isOne && isCallable(onProgress) && isSignal(signal)) return { onProgress, signal }
  throw fail('invalid', { collection }, 'the options are an object with onProgress, a function, or signal.')
}

export function isCallable(value: unknown): boolean {
  return value === undefined || typeof value === 'function'
}

export function isSignal(value: unknown): boolean {
  return value === undefined || typeof Object(value).aborted === 'boolean'
}

/** As many as make one message. */
interface Part<P> {
  ready: P[]
  refused: MayflyError[]
}

/** So many parts are under way at once, where nobody may want to stop between two of them. */
const ABREAST = 3

/** True when the signal stopped it. */
async function inParts<T, P>(
  items: Iterable<T>,
  prepare: (item: T) => P,
  { onProgress, signal }: ManyOptions,
  committed: () => number,
  commit: (part: Part<P>) => Promise<void>,
): Promise<boolean> {
  const total = Array.isArray(items) ? items.length : undefined
  let done = 0
  let failure: unknown
  const underWay: Promise<void>[] = []
  const settle = async (part: Part<P>) => {
    try {
      await commit(part)
      done += part.ready.length + part.refused.length
      call(onProgress, total === undefined ? { done } : { done, total })
    } catch (error) {
      failure ??= error
    }
  }
  let stopped = false
  for (const part of parts(items, prepare)) {
    if (signal?.aborted) stopped = true
    if (stopped || failure) break
    underWay.push(settle(part))
    // While one is being written the next is on its way.
    if (signal || underWay.length === ABREAST) await underWay.shift()
  }
  await Promise.all(underWay)
  if (failure instanceof MayflyError && committed() > 0) throw counted(failure, committed())
  if (failure) throw failure
  return stopped
}

function counted(failure: MayflyError, committed: number): MayflyError {
  return new MayflyError(failure.code, `${failure.message} The ${committed} before were committed.`, failure)
}

function* parts<T, P>(items: Iterable<T>, prepare: (item: T) => P): Generator<Part<P>, void, undefined> {
  let part: Part<P> = { ready: [], refused: [] }
  let size = 0
  for (const item of items) {
    try {
      const ready = prepare(item)
      size += weight(ready)
      part.ready.push(ready)
    } catch (error) {
      part.refused.push(error as MayflyError)
    }
    if (part.ready.length + part.refused.length === PART || size >= MESSAGE) {
      yield part
      part = { ready: [], refused: [] }
      size = 0
    }
  }
  if (part.ready.length + part.refused.length > 0) yield part
}

async function ask(send: Send, operation: Operation): Promise<unknown> {
  const [reply] = await send([operation])
  return valueOf(reply)
}

function refused(collection: string, failures: MayflyError[], written: number): MayflyError {
  const [first] = failures as [MayflyError]
  const message = `${collection}: refused ${failures.length} of ${failures.length + written} documents and committed the other ${written}. The first: ${first.message}`
  const cause = new AggregateError(failures, message)
  return new MayflyError(first.code, message, { collection, id: first.id, cause })
}
