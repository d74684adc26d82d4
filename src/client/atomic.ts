import type { Creatable, Identified, Patch, Writable } from '../document.js'
import { fail, readable } from '../errors.js'
import type { Operation } from '../protocol.js'
import { make } from './make.js'
import type { WriteOptions } from './make.js'
import type { Queue } from './queue.js'

/** The writes of a collection inside `atomic`: each is noted, and all are made together when the function returns. */
export interface AtomicCollection<T extends Identified> {
  /** Gives back the document's id. */
  create(doc: Creatable<T>): T['id']
  /** Writes a document, over the one with its id if there is one. */
  upsert(doc: Writable<T>, options?: WriteOptions): void
  /** Writes a document over the one with its id; without one, everything fails with `not-found`. */
  replace(doc: Writable<T>, options?: WriteOptions): void
  /** Changes the given fields and removes those that are `undefined`; without a document, everything fails with `not-found`. */
  patch(id: T['id'], fields: Patch<T>, options?: WriteOptions): void
  /** Starts the document's countdown again, if there is one. */
  touch(id: T['id'], options?: WriteOptions): void
  /** Deletes the document, if there is one. */
  delete(id: T['id'], options?: WriteOptions): void
}

/** Notes the writes that a function makes, and has them made all or not at all. */
export async function atomic(queue: Queue, names: string[], work: (collections: never) => unknown): Promise<unknown[]> {
  queue.checkOpen()
  if (typeof work !== 'function') throw fail('invalid', {}, 'atomic() takes a function that makes the writes.')
  const operations: Operation[] = []
  let isOver = false
  const note: Note = (collection, make) => {
    if (isOver) throw fail('closed', {}, 'this atomic write is over: make all its writes before the function returns.')
    const operation = readable(make, { collection })
    operations.push(operation)
    return operation
  }
  const collections = Object.fromEntries(names.map((name) => [name, noting(name, note)]))
  const given: unknown = work(Object.freeze(collections) as never)
  isOver = true
  if (typeof (given as PromiseLike<unknown> | undefined)?.then === 'function') {
    // It would go on, and write, after everything was made.
    Promise.resolve(given).catch(() => undefined)
    throw fail('invalid', {}, 'the function of atomic() must not be async: read first, then make the writes in it.')
  }
  if (operations.length === 0) return []
  const { collection } = operations[0]!
  return (await queue.call(() => ({ verb: 'atomic', collection, operations }))) as unknown[]
}

type Note = <O extends Operation>(collection: string, make: () => O) => O

function noting(collection: string, note: Note): AtomicCollection<Identified> {
  const write = (operation: () => Operation) => void note(collection, operation)
  return Object.freeze({
    create: (doc: unknown) => note(collection, () => make.create(collection, doc)).doc.id,
    upsert: (doc: unknown, options?: WriteOptions) => write(() => make.upsert(collection, doc, options)),
    replace: (doc: unknown, options?: WriteOptions) => write(() => make.replace(collection, doc, options)),
    patch: (id: string, fields: unknown, options?: WriteOptions) =>
      write(() => make.patch(collection, id, fields, options)),
    touch: (id: string, options?: WriteOptions) => write(() => make.touch(collection, id, options)),
    delete: (id: string, options?: WriteOptions) => write(() => make.delete(collection, id, options)),
  })
}
