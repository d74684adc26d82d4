import type { Operation } from './protocol.js'

const READS: ReadonlySet<Operation['verb']> = new Set([
  'get',
  'getMany',
  'expiresAt',
  'find',
  'explain',
  'count',
  'settings',
  'stats',
  'watch',
  'unwatch',
  'follow',
  'unfollow',
  'heed',
  'witness',
])

/** Whether an operation changes no document, so that it may be asked a second time. */
export function isRead({ verb }: Operation): boolean {
  return READS.has(verb)
}

/** Whether an operation writes nothing at all. */
export function isReadOnly(operation: Operation): boolean {
  return isRead(operation) && !('joining' in operation && operation.joining)
}

/** The operations of one that is made of others, or itself. */
export function partsOf(operation: Operation): Operation[] {
  return operation.verb === 'atomic' ? operation.operations : [operation]
}

/** What an error about an operation names. */
export function placeOf(operation: Operation): { collection?: string; id?: string | undefined } {
  const { collection } = operation
  if (operation.verb === 'atomic') return {}
  const id = 'id' in operation ? operation.id : 'doc' in operation ? operation.doc?.id : undefined
  return { collection, id: typeof id === 'string' ? id : undefined }
}
