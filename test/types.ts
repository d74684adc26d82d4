/** What must compile, and what must not: `tsc` is the judge, and an expected error that is missing is an error. */
import { collection, MayflyError, openStore } from 'mayfly'
import type { Collection, Stored } from 'mayfly'

interface Order {
  id: string
  customer: string
  total: number
  placedAt: Date
  tags: string[]
  paid: boolean
  note?: string
  status: 'open' | 'sent'
  address?: { city: string; geo: { lat: number } }
}

const orders = collection<Order>({ defaultTtl: 60 })
const store = openStore('types', {
  orders: orders
    .index('customer')
    .index('customer', 'placedAt')
    .index('address.city')
    .uniqueIndex('note')
    .index('_ts')
    .index('address.geo.lat'),
  blobs: collection<{ id: string; data: Blob }>({ indexing: 'none' }),
})

// An index is on fields that are there.
// @ts-expect-error
orders.index('custommer')
// @ts-expect-error
orders.index('customer', 'placed')
// @ts-expect-error
orders.index('address.street')
// @ts-expect-error
orders.index('tags.length')
// @ts-expect-error
orders.index('placedAt.getTime')
// @ts-expect-error
orders.index()
// @ts-expect-error
orders.uniqueIndex('nothing')

// A document has a string id.
// @ts-expect-error
collection<{ id: number }>()
// @ts-expect-error
collection<{ name: string }>()
// @ts-expect-error
collection<Order>({ defaultTtl: '60' })
// @ts-expect-error
collection<Order>({ indexing: 'lazy' })

// A collection cannot be called like a method of the store.
// @ts-expect-error
openStore('bad', { close: collection<Order>() })
// @ts-expect-error
openStore('bad', { ready: collection<Order>() })
// @ts-expect-error
openStore('bad', { sweep: orders, orders })
// @ts-expect-error
openStore('bad', { atomic: orders })
// @ts-expect-error
openStore('bad', { then: orders })
// @ts-expect-error
openStore(5, { orders })
// @ts-expect-error
openStore('bad', { orders: {} })

// Unknown collections.
// @ts-expect-error
void store.order
// @ts-expect-error
void store.blobs.get(5)

export async function documents(): Promise<void> {
  const order: Order = { id: 'a', customer: 'c', total: 1, placedAt: new Date(), tags: [], paid: false, status: 'open' }
  const { id, ...rest } = order
  const stored: Stored<Order> = await store.orders.create(rest)
  await store.orders.create(order)
  await store.orders.create({ ...rest, id: undefined })
  await store.orders.upsert({ ...order, ttl: 5 })
  await store.orders.upsert(stored)
  await store.orders.replace({ ...stored, total: 2 }, { ifMatch: stored._etag })
  await store.orders.patch(id, { total: 2, ttl: -1, note: undefined })
  await store.orders.update(id, (doc) => ({ ...doc, total: doc.total + 1 }))
  const { written, stopped }: { written: number; stopped: boolean } = await store.orders.upsertMany([order])
  await store.orders.createMany(new Set([rest]))
  const found: Stored<Order> | undefined = await store.orders.get(id)
  const many: (Stored<Order> | undefined)[] = await store.orders.getMany([id])
  const time: number | undefined = found?._ts
  const when: Date | null | undefined = await store.orders.expiresAt(id)
  const typed: Collection<Order> = store.orders
  await store.orders.setDefaultTtl(null)
  const { defaultTtl, indexing }: { defaultTtl: number | null; indexing: 'consistent' | 'none' } =
    await store.orders.settings()
  void [written, stopped, many, time, when, typed, defaultTtl, indexing]
  if (new MayflyError('conflict', 'x').code === 'conflict') return

  // @ts-expect-error
  await store.orders.get(5)
  // @ts-expect-error
  await store.orders.getMany([5])
  // @ts-expect-error
  await store.orders.delete({ id })
  // @ts-expect-error
  await store.orders.upsert(rest)
  // @ts-expect-error
  await store.orders.upsert({ ...order, total: '1' })
  // @ts-expect-error
  await store.orders.upsert({ ...order, ttl: '5' })
  // @ts-expect-error
  await store.orders.upsert({ ...order, colour: 'red' })
  // @ts-expect-error
  await store.orders.create({ customer: 'c' })
  // @ts-expect-error
  await store.orders.patch(id, { id: 'b' })
  // @ts-expect-error
  await store.orders.patch(id, { _etag: 'b' })
  // @ts-expect-error
  await store.orders.patch(id, { totl: 1 })
  // @ts-expect-error
  await store.orders.patch(id, { total: 'x' })
  // @ts-expect-error
  await store.orders.update(id, (doc) => doc.total)
  // @ts-expect-error
  await store.orders.update(id, async (doc) => doc)
  // @ts-expect-error
  await store.orders.setDefaultTtl('5')
  // @ts-expect-error
  stored._ts = 5
  // @ts-expect-error
  if (new MayflyError('conflict', 'x').code === 'confict') return
}

export async function queries(): Promise<void> {
  const all: Stored<Order>[] = await store.orders.query().get()
  const recent = store.orders.query({
    where: {
      customer: 'CO1',
      total: { gte: 10, lt: 20 },
      tags: { contains: 'gift' },
      placedAt: { gt: new Date() },
      paid: true,
      status: { in: ['open'] },
      note: { exists: false },
      'address.city': { startsWith: 'B' },
      or: [{ total: 1 }, { 'address.geo.lat': { lt: 3 } }],
      _ts: { gt: 5 },
    },
    orderBy: 'placedAt',
    order: 'desc',
    limit: 20,
  })
  const { items, next }: { items: Stored<Order>[]; next?: string } = await recent.page()
  for await (const order of recent) void order.placedAt.getTime()
  void [all, items, next]

  // @ts-expect-error
  store.orders.query({ where: { custommer: 'CO1' } })
  // @ts-expect-error
  store.orders.query({ where: { total: '10' } })
  // @ts-expect-error
  store.orders.query({ where: { total: { startsWith: '1' } } })
  // @ts-expect-error
  store.orders.query({ where: { total: { contains: 1 } } })
  // @ts-expect-error
  store.orders.query({ where: { customer: { gt: 5 } } })
  // @ts-expect-error
  store.orders.query({ where: { status: 'lost' } })
  // @ts-expect-error
  store.orders.query({ where: { tags: { contains: 5 } } })
  // @ts-expect-error
  store.orders.query({ where: { paid: { gt: false } } })
  // @ts-expect-error
  store.orders.query({ where: { 'address.street': 'x' } })
  // @ts-expect-error
  store.orders.query({ orderBy: 'colour' })
  // @ts-expect-error
  store.orders.query({ order: 'up' })
}

// A field that may hold anything can be compared with anything, and a document may have further fields.
interface Loose {
  id: string
  n: number
  value?: unknown
  [field: string]: unknown
}
const loose = openStore('loose', { all: collection<Loose>() }).all
void loose.query({ where: { n: 5, value: { gt: 5 } } }).get()
void loose.query({ where: { value: 'x' } }).get()

// One kind of several can be patched by the fields that it has.
type Shape = { id: string; kind: 'circle'; radius: number } | { id: string; kind: 'square'; side: number }
const shapes = openStore('shapes', { all: collection<Shape>() }).all
void shapes.patch('a', { radius: 1 })
// @ts-expect-error
void shapes.patch('a', { height: 1 })

// A schema may be given a name.
interface Shop {
  orders: typeof orders
}
const shop: Shop = { orders }
void openStore('shop', shop).orders.get('a')
