import { fail, fromFailure, MayflyError } from '../errors.js'
import type { Draft, Operation, Written } from '../protocol.js'
import { checkIterable, toDraft, toIds } from './draft.js'
import { valueOf } from './queue.js'
import type { Queue, Send } from './queue.js'

export interface Progress {
  /** How many have been dealt with, committed or refused. */
  done: number
  /** How many there are, where that is known before the end. */
  total?: number
}

export interface ManyOptions {
  /** Called after each part has been committed. */
  onProgress?: ((progress: Progress) => void) | undefined
  /** Stops after the part that is being written. What has been committed stays. */
  signal?: AbortSignal | undefined
}

export interface WrittenMany {
  written: number
  /** Whether the signal stopped it before the end. */
  stopped: boolean
}

export interface DeletedMany {
  /** How many there were to delete. */
  deleted: number
  stopped: boolean
}

/** How many documents go into one transaction. */
const PART = 1000

export async function writeMany(
  queue: Queue,
  verb: 'createMany' | 'upsertMany',
  collection: string,
  docs: Iterable<unknown>,
  options: ManyOptions = {},
): Promise<WrittenMany> {
  queue.checkOpen()
  checkIterable(docs, collection)
  checkOptions(options, collection)
  const list = listOf(docs)
  return queue.job(async (send) => {
    const failures: MayflyError[] = []
    let written = 0
    const stopped = await inParts(list, options, async (part) => {
      const drafts = part.flatMap((doc): Draft[] => {
        try {
          return [toDraft(doc, collection, verb === 'createMany')]
        } catch (error) {
          failures.push(error as MayflyError)
          return []
        }
      })
      const reply = (await ask(send, { verb, collection, docs: drafts }, written)) as Written
      written += reply.written
      failures.push(...reply.failures.map(fromFailure))
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
  const list = toIds(ids, collection)
  checkOptions(options, collection)
  return queue.job(async (send) => {
    let deleted = 0
    const stopped = await inParts(list, options, async (part) => {
      deleted += (await ask(send, { verb: 'deleteMany', collection, ids: part }, deleted)) as number
    })
    return { deleted, stopped }
  })
}

/** The list as it is now: what the caller does with it afterwards has no effect. A generator is read as needed. */
function listOf<T>(items: Iterable<T>): Iterable<T> {
  return Array.isArray(items) ? [...items] : items
}

function checkOptions(options: unknown, collection: string): void {
  if (typeof options === 'object' && options !== null) return
  throw fail('invalid', { collection }, 'the options are an object with onProgress or signal.')
}

/** True when the signal stopped it. */
async function inParts<T>(
  items: Iterable<T>,
  { onProgress, signal }: ManyOptions,
  commit: (part: T[]) => Promise<void>,
): Promise<boolean> {
  const total = Array.isArray(items) ? items.length : undefined
  let done = 0
  for (const part of parts(items)) {
    if (signal?.aborted) return true
    await commit(part)
    done += part.length
    report(onProgress, total === undefined ? { done } : { done, total })
  }
  return false
}

function* parts<T>(items: Iterable<T>): Generator<T[]> {
  let part: T[] = []
  for (const item of items) {
    part.push(item)
    if (part.length === PART) {
      yield part
      part = []
    }
  }
  if (part.length > 0) yield part
}

/** What a listener throws is its own affair, and is reported as an uncaught error. */
function report(onProgress: ManyOptions['onProgress'], progress: Progress): void {
  try {
    onProgress?.(progress)
  } catch (error) {
    if (typeof reportError === 'function') reportError(error)
    else console.error(error)
  }
}

async function ask(send: Send, operation: Operation, before: number): Promise<unknown> {
  const [reply] = await send([operation])
  if (before === 0 || reply?.ok) return valueOf(reply)
  const failure = reply!.failure
  throw fromFailure({ ...failure, message: `${failure.message} The ${before} before were committed.` })
}

function refused(collection: string, failures: MayflyError[], written: number): MayflyError {
  const [first] = failures as [MayflyError]
  const message = `${collection}: refused ${failures.length} of ${failures.length + written} documents and committed the other ${written}. The first: ${first.message}`
  const cause = new AggregateError(failures, message)
  return new MayflyError(first.code, message, { collection, id: first.id, cause })
}
