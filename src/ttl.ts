/** The longest ttl, in seconds: about 68 years, as in Cosmos DB. */
const LONGEST = 2_147_483_647

/** -1 (for ever) or a finite number of seconds in (0, 2147483647]. */
export function isTtl(value: unknown): value is number {
  return value === -1 || (typeof value === 'number' && value > 0 && value <= LONGEST)
}

export const TTL_RULE = 'a ttl is -1 (for ever) or a number of seconds above 0 and up to 2147483647'

/**
 * Seconds to whole milliseconds. The clock ticks in whole milliseconds, so a life that ends inside
 * one is over at the next; what a product like 0.069 * 1000 leaves behind the point is no part of it.
 */
export function toMilliseconds(ttl: number): number {
  const exact = ttl * 1000
  const nearest = Math.round(exact)
  return Math.max(1, Math.abs(exact - nearest) < 1e-6 ? nearest : Math.ceil(exact))
}
