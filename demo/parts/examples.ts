import type { Writable } from 'mayfly'
import type { Name, Order } from '../store.js'

export const CUSTOMERS = ['Ada', 'Alan', 'Barbara', 'Dennis', 'Edsger', 'Grace', 'Linus', 'Margaret']

const HOUR = 60 * 60 * 1000
const MONTH = 30 * 24 * HOUR

/** The lifetimes of the generated documents are spread between these, in seconds. */
const SHORTEST = 5
const LONGEST = 95

/** A few documents of every kind: with a ttl of their own, with none, and for ever. */
export function few(name: Name): Writable<Order>[] {
  const ttls = [undefined, 20, undefined, 45, -1, 120, undefined, 300]
  return CUSTOMERS.map((customer, n) => {
    const ttl = ttls[n]
    const placedAt = new Date(Date.now() - n * 5 * HOUR)
    return {
      id: `${name}-${n}`,
      customer,
      total: 12 + ((n * 37) % 90),
      placedAt,
      ...(ttl === undefined ? {} : { ttl }),
    }
  })
}

/** So many documents, each with a ttl of its own. */
export function* spread(size: number): Generator<Writable<Order>> {
  const batch = Date.now().toString(36)
  for (let n = 0; n < size; n++) {
    yield {
      id: `${batch}-${n}`,
      customer: CUSTOMERS[Math.floor(Math.random() * CUSTOMERS.length)]!,
      total: Math.round(Math.random() * 20_000) / 100,
      placedAt: new Date(Date.now() - Math.random() * MONTH),
      ttl: Math.round(SHORTEST + Math.random() * (LONGEST - SHORTEST)),
    }
  }
}
