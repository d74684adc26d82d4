import type { Link, StoreShape } from '../protocol.js'
import { Keepsake } from './keepsake.js'

/**
 * The link to an engine that has a database; where there is none, or it is forbidden, to another in memory. Decided
 * once, when the store is opened: what fails for a moment, or later, must not divide the data.
 */
export async function orInMemory(link: Link, { name }: StoreShape, load: () => Promise<Link>): Promise<Link> {
  const reply = await link.open()
  if (reply.ok || reply.failure.remedy !== 'memory') return link
  // Old versions of Firefox say this in private windows, but it may also be said of a database that is damaged.
  if (reply.failure.cause?.name === 'InvalidStateError' && new Keepsake(name).read() !== null) return link
  const inMemory = await load().catch(() => undefined)
  if (!inMemory) return link
  await link.close()
  return inMemory
}
