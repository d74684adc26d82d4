import type { Operation } from './protocol.js'

const READS: ReadonlySet<Operation['verb']> = new Set([
  'get',
  'getMany',
  'expiresAt',
  'find',
  'count',
  'settings',
  'stats',
])

/** Whether an operation changes nothing, so that it may be asked a second time. */
export function isRead({ verb }: Operation): boolean {
  return READS.has(verb)
}

/** What an error about an operation names. */
export function placeOf(operation: Operation): { collection: string; id: string | undefined } {
  const { collection } = operation
  const id = 'id' in operation ? operation.id : 'doc' in operation ? operation.doc.id : undefined
  return { collection, id }
}
