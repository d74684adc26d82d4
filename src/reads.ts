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
