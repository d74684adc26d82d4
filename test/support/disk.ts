import { vi } from 'vitest'

/** How browsers say that the storage is full. */
export const FACES = {
  'the transaction fails with QuotaExceededError': () => new DOMException('No space left', 'QuotaExceededError'),
  'the transaction fails with DataError: Failed to write blobs': () =>
    new DOMException('Failed to write blobs (IOError)', 'DataError'),
  'the transaction is aborted and the connection closed by force': () => null,
  'the next write throws InvalidStateError': () => new DOMException('No space left', 'QuotaExceededError'),
  'the transaction is aborted without an error': () => null,
}

export type Face = keyof typeof FACES

interface Work {
  documents: number
  notes: number
  deleted: number
  mayOnlyDelete: boolean
}

/** A disk on which there is room for so many documents more. It is real IndexedDB that fails. */
export class Disk {
  free: number
  /** Whether what is not a document needs room too. */
  isStrict = false
  /** Fails these commits, counted from 1, whatever there is room for. */
  failing: readonly number[] = []
  commits = 0
  failed = 0
  readonly #face: Face
  readonly #work = new WeakMap<IDBTransaction, Work>()
  #mayOnlyDelete = false

  constructor(face: Face, free = Infinity) {
    this.#face = face
    this.free = free
    const begun = (transaction: IDBTransaction) => this.#begin(transaction)
    const workOf = (transaction: IDBTransaction) => this.#work.get(transaction)
    const end = (transaction: IDBTransaction) => this.#end(transaction)
    const gain = (documents: number) => (this.free += documents)
    const { put, delete: remove } = IDBObjectStore.prototype
    const { commit } = IDBTransaction.prototype
    const begin = IDBDatabase.prototype.transaction
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
      return begun(begin.apply(this, args))
    })
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, value, key) {
      note(workOf(this.transaction), key)
      return put.call(this, value, key)
    })
    vi.spyOn(IDBObjectStore.prototype, 'delete').mockImplementation(function (this: IDBObjectStore, key) {
      const work = workOf(this.transaction)
      if (work && typeof key === 'string') work.deleted++
      if (key instanceof IDBKeyRange && typeof key.lower === 'string') {
        const stretch = this.count(key)
        stretch.addEventListener('success', () => gain(stretch.result))
      }
      return remove.call(this, key)
    })
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      if (end(this)) commit.call(this)
    })
  }

  #begin(transaction: IDBTransaction): IDBTransaction {
    const isWriting = transaction.mode === 'readwrite'
    const mayOnlyDelete = isWriting && this.#mayOnlyDelete
    this.#work.set(transaction, { documents: 0, notes: 0, deleted: 0, mayOnlyDelete })
    if (isWriting) this.#mayOnlyDelete = false
    return transaction
  }

  /** Whether the transaction may be committed; it has failed otherwise. */
  #end(transaction: IDBTransaction): boolean {
    if (transaction.mode === 'readonly' || this.#takes(this.#work.get(transaction)!)) return true
    this.#fail(transaction)
    return false
  }

  #takes({ documents, notes, deleted }: Work): boolean {
    if (this.failing.includes(++this.commits)) return false
    const isFull = documents > Math.max(0, this.free) || (this.isStrict && notes > 0 && this.free <= 0)
    // What is deleted in the same transaction gives no room for it.
    if (!isFull) this.free += deleted - documents
    return !isFull
  }

  #fail(transaction: IDBTransaction): void {
    this.failed++
    Object.defineProperty(transaction, 'error', { value: FACES[this.#face]() })
    transaction.abort()
    this.#mayOnlyDelete = this.#face === 'the next write throws InvalidStateError'
    if (this.#face !== 'the transaction is aborted and the connection closed by force') return
    transaction.db.close()
    // Of this kind because there are such events in fake-indexeddb too.
    transaction.db.dispatchEvent(new IDBVersionChangeEvent('close'))
  }
}

function note(work: Work | undefined, key: unknown): void {
  if (work?.mayOnlyDelete) {
    const text = 'A mutation operation was attempted on a database that did not allow mutations.'
    throw new DOMException(text, 'InvalidStateError')
  }
  if (work && typeof key === 'string') work.documents++
  else if (work) work.notes++
}
