import { collection, openStore } from 'mayfly'
import type { Collection, Stored } from 'mayfly'
import type { CachedResponse } from 'mayfly/fetch'
import { tab } from './lib/tab.js'

export interface Order {
  id: string
  customer: string
  total: number
  placedAt: Date
}

export type Document = Stored<Order>

const orders = (defaultTtl: number | null) =>
  collection<Order>({ defaultTtl }).index('customer', 'placedAt').index('placedAt').index('total')

/** The worker is the package's own, in a file that also tells of every slice of deletion. */
const worker = () =>
  new Worker(new URL('./engine.ts', import.meta.url), { type: 'module', name: `mayfly-demo ${tab.letter}` })

export const store = openStore(
  'mayfly-demo',
  {
    baskets: orders(60),
    orders: orders(-1),
    invoices: orders(null),
    /** What is written to be deleted, while the main thread is blocked. */
    scraps: collection<Order>({ defaultTtl: -1 }),
    responses: collection<CachedResponse>({ defaultTtl: -1 }),
  },
  // Where somebody has forbidden sites to save data, there is still something to try.
  { worker, fallback: 'memory' },
)

export const NAMES = ['baskets', 'orders', 'invoices'] as const
export type Name = (typeof NAMES)[number]

export const collections: Record<Name, Collection<Order>> = {
  baskets: store.baskets,
  orders: store.orders,
  invoices: store.invoices,
}
