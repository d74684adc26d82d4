import { fail } from '../errors.js'
import type { MayflyError, Place } from '../errors.js'
import { isReadOnly, partsOf } from '../operation.js'
import type { Operation } from '../protocol.js'

/** Full storage has many faces, and some of them may be something else. */
export type Fullness = 'sure' | 'likely'

/**
 * What an error that IndexedDB gave says of the storage. Chromium fails the transaction, or to write blobs where the
 * disk is full, or closes the connection; Firefox lets the next transaction after that only delete; WebKit aborts
 * without an error. Here an abort without one is never the engine's own: that is thrown with its reason.
 */
export function fullness(error: unknown): Fullness | undefined {
  const { name, message = '' } = (error ?? {}) as Partial<Error>
  if (name === 'QuotaExceededError' || (name === 'DataError' && /write blobs/i.test(message))) return 'sure'
  return name === 'AbortError' || (name === 'InvalidStateError' && /mutation operation/i.test(message))
    ? 'likely'
    : undefined
}

export function full(place: Place, cause: unknown): MayflyError {
  return fail(
    'quota',
    place,
    'the storage is full and nothing was written. Delete documents, or give them a shorter life.',
    cause,
  )
}

const REMOVALS: ReadonlySet<Operation['verb']> = new Set(['delete', 'deleteMany', 'clear', 'sweep', 'evict'])

/** Whether operations take no room: they delete, and perhaps read. */
export function onlyRemove(operations: Operation[]): boolean {
  return operations.flatMap(partsOf).every((operation) => REMOVALS.has(operation.verb) || isReadOnly(operation))
}
