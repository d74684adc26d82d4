/** What must compile, and what must not: `tsc` is the judge, and an expected error that is missing is an error. */
import { collection, MayflyError, openStore } from 'mayfly'
import type { Collection, Former, MigrationProgress, Stored, Where } from 'mayfly'

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
collection<Order>({ evict: 'soonest', maxDocuments: 100 })
// @ts-expect-error
collection<Order>({ evict: 'latest' })
// @ts-expect-error
collection<Order>({ maxDocuments: '100' })
// @ts-expect-error
collection<Order>({ indexing: 'lazy' })

// What an earlier version wrote is looked at before it is believed; what is given is a document of this one.
interface Short {
  id: string
  total: number
}
const toShort = (old: Former, from: number): Short => ({ id: old.id, total: Number(old['total']) + from + old._ts })
const onMigrate = ({ done, total }: MigrationProgress): void => void (done / total)
collection<Short>({ version: 2, migrate: toShort, onMigrate }).index('total')
collection<Short>({ version: 2, migrate: (old) => (old['gone'] === true ? null : { id: old.id, total: 1, ttl: 5 }) })
collection<Short>({ version: 2, migrate: (old) => ({ ...old, total: 1 }) })
// @ts-expect-error
collection<Short>({ version: '2' })
// @ts-expect-error
collection<Short>({ version: 2, migrate: (old) => old })
// @ts-expect-error
collection<Short>({ version: 2, migrate: (old) => ({ id: old.id, total: old['total'] }) })
// @ts-expect-error
collection<Short>({ version: 2, migrate: (old) => ({ id: old.id, total: old.total.length }) })
// @ts-expect-error
collection<Short>({ version: 2, migrate: async (old) => ({ id: old.id, total: 1 }) })
// @ts-expect-error
collection<Short>({ version: 2, migrate: () => undefined })
// @ts-expect-error
collection<Short>({ version: 2, migrate: (old) => ({ id: old.id, total: 1, ttl: '5' }) })
// @ts-expect-error
collection<Short>({ version: 2, migrate: toShort, onMigrate: (done: number) => void done })

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

// Every field takes its own conditions.
interface Parcel {
  id: string
  name: string
  weight: number
  sentAt: Date
  arrivedAt: Date | null
  fragile: boolean
  insured?: boolean | null
  label?: string
  kind: 'box' | 'tube'
  floor: 1 | 2 | 3
  code: number | string
  stamps: string[]
  route: readonly (string | number)[]
  size: [number, number]
  grid: number[][]
  lines: { sku: string }[]
  to?: { city: string; geo: { lat: number; seenAt?: Date } }
  photo: Blob
  extra: Map<string, number>
}

export function conditions(): void {
  const { parcels } = openStore('conditions', { parcels: collection<Parcel>() })
  const where = (where: Where<Parcel>) => parcels.query({ where })

  where({})
  where({ weight: { gt: 1, gte: 2, lt: 3, lte: 4, in: [5], exists: true } })
  where({ arrivedAt: null })
  where({ arrivedAt: { lt: new Date(), exists: true } })
  where({ insured: null, fragile: { in: [true] } })
  where({ code: 5 })
  where({ code: { gt: 5, startsWith: 'x', in: [1, 'x'] } })
  where({ kind: { gte: 'm', startsWith: 'b', in: ['box'] }, floor: { gt: 1.5 } })
  where({ stamps: ['a'], size: [1, 2] })
  where({ stamps: { gt: ['a'], in: [['a'], []] } })
  where({ stamps: { contains: 'a' }, route: { contains: 5 }, grid: { contains: [1] } })
  where({ to: { exists: true }, 'to.geo': { exists: false }, 'to.geo.seenAt': { gte: new Date() } })
  where({ photo: { exists: true }, extra: { exists: true }, lines: { exists: true } })
  where({ id: { startsWith: 'x' }, _etag: 'x', _ts: { gte: 1 }, ttl: -1 })
  where({ or: [] })
  where({ or: [{ or: [{ weight: 1 }, { 'to.city': { in: ['a'] } }] }, {}] })
  const constant = { where: { weight: { in: [1, 2] }, or: [{ weight: 1 }] }, orderBy: 'to.geo.lat' } as const
  parcels.query(constant)

  // A field that is not there.
  // @ts-expect-error
  where({ nmae: 'x' })
  // @ts-expect-error
  where({ and: [{ weight: 1 }] })
  // @ts-expect-error
  where([{ weight: 1 }])
  // @ts-expect-error
  parcels.query({ orderby: 'weight' })
  // @ts-expect-error
  parcels.query({ skip: 5 })

  // A value of another type.
  // @ts-expect-error
  where({ weight: '10' })
  // @ts-expect-error
  where({ name: 5 })
  // @ts-expect-error
  where({ name: null })
  // @ts-expect-error
  where({ name: undefined })
  // @ts-expect-error
  where({ fragile: 'true' })
  // @ts-expect-error
  where({ insured: 'yes' })
  // @ts-expect-error
  where({ kind: 'bag' })
  // @ts-expect-error
  where({ floor: 4 })
  // @ts-expect-error
  where({ code: true })
  // @ts-expect-error
  where({ stamps: 'a' })
  // @ts-expect-error
  where({ id: 5 })
  // @ts-expect-error
  where({ _ts: 'x' })
  // @ts-expect-error
  where({ ttl: '5' })

  // A Date is compared with Dates.
  // @ts-expect-error
  where({ sentAt: 5 })
  // @ts-expect-error
  where({ sentAt: '2030-01-01' })
  // @ts-expect-error
  where({ sentAt: { gt: 5 } })
  // @ts-expect-error
  where({ sentAt: { lte: '2030-01-01' } })
  // @ts-expect-error
  where({ sentAt: { in: [5] } })
  // @ts-expect-error
  where({ sentAt: { startsWith: '2030' } })
  // @ts-expect-error
  where({ sentAt: { contains: new Date() } })
  // @ts-expect-error
  where({ arrivedAt: { gt: null } })
  // @ts-expect-error
  where({ weight: { gt: new Date() } })
  // @ts-expect-error
  where({ _ts: { gt: new Date() } })

  // An operator that does not fit the field, or is none.
  // @ts-expect-error
  where({ weight: { startsWith: '1' } })
  // @ts-expect-error
  where({ weight: { gte: '1', lt: 2 } })
  // @ts-expect-error
  where({ weight: { between: [1, 2] } })
  // @ts-expect-error
  where({ weight: { exists: true, contains: 1 } })
  // @ts-expect-error
  where({ name: { contains: 'x' } })
  // @ts-expect-error
  where({ name: { like: 'x' } })
  // @ts-expect-error
  where({ name: { startsWith: 5 } })
  // @ts-expect-error
  where({ name: { gt: undefined } })
  // @ts-expect-error
  where({ name: { exists: 'yes' } })
  // @ts-expect-error
  where({ fragile: { gte: true } })
  // @ts-expect-error
  where({ fragile: { contains: true } })
  // @ts-expect-error
  where({ stamps: { startsWith: 'a' } })
  // @ts-expect-error
  where({ stamps: { gt: 'a' } })
  // @ts-expect-error
  where({ to: { gt: 5 } })
  // @ts-expect-error
  where({ photo: { contains: 1 } })
  // @ts-expect-error
  where({ extra: { contains: 'x' } })

  // The elements of `in` and `contains`.
  // @ts-expect-error
  where({ weight: { in: ['1'] } })
  // @ts-expect-error
  where({ weight: { in: [1, undefined] } })
  // @ts-expect-error
  where({ weight: { in: 1 } })
  // @ts-expect-error
  where({ name: { in: 'abc' } })
  // @ts-expect-error
  where({ kind: { in: ['bag'] } })
  // @ts-expect-error
  where({ fragile: { in: [1] } })
  // @ts-expect-error
  where({ stamps: { in: ['a'] } })
  // @ts-expect-error
  where({ stamps: { contains: 5 } })
  // @ts-expect-error
  where({ stamps: { contains: ['a'] } })
  // @ts-expect-error
  where({ stamps: { contains: undefined } })
  // @ts-expect-error
  where({ route: { contains: true } })
  // @ts-expect-error
  where({ size: { contains: 'a' } })
  // @ts-expect-error
  where({ grid: { contains: 1 } })
  // @ts-expect-error
  where({ lines: { contains: 'x' } })

  // A field that may be missing.
  // @ts-expect-error
  where({ label: 5 })
  // @ts-expect-error
  where({ label: null })
  // @ts-expect-error
  where({ label: { startsWith: 5 } })

  // Paths lead through plain objects.
  // @ts-expect-error
  where({ 'to.street': 'x' })
  // @ts-expect-error
  where({ 'to.city': 5 })
  // @ts-expect-error
  where({ 'to.city': { contains: 'B' } })
  // @ts-expect-error
  where({ 'to.geo.lat': { startsWith: '3' } })
  // @ts-expect-error
  where({ 'to.geo.seenAt': { lt: 5 } })
  // @ts-expect-error
  where({ 'to.geo.lng': 3 })
  // @ts-expect-error
  where({ to: { city: 'Bern' } })
  // @ts-expect-error
  where({ 'to.geo': { lat: 5 } })
  // @ts-expect-error
  where({ 'stamps.0': 'x' })
  // @ts-expect-error
  where({ 'stamps.length': 1 })
  // @ts-expect-error
  where({ 'lines.sku': 'x' })
  // @ts-expect-error
  where({ 'name.length': 1 })
  // @ts-expect-error
  where({ 'sentAt.getTime': 1 })
  // @ts-expect-error
  where({ 'photo.size': 1 })
  // @ts-expect-error
  where({ 'extra.size': 1 })

  // Alternatives are checked as all else is.
  // @ts-expect-error
  where({ or: { weight: 1 } })
  // @ts-expect-error
  where({ or: [{ wieght: 1 }] })
  // @ts-expect-error
  where({ or: [{ weight: 1 }, { weight: '1' }] })
  // @ts-expect-error
  where({ or: [{ 'to.street': 'x' }] })
  // @ts-expect-error
  where({ or: [{ or: [{ sentAt: { gt: 5 } }] }] })

  // An order is by one field or path that is there.
  // @ts-expect-error
  parcels.query({ orderBy: 'wieght' })
  // @ts-expect-error
  parcels.query({ orderBy: 'to.street' })
  // @ts-expect-error
  parcels.query({ orderBy: 'stamps.length' })
  // @ts-expect-error
  parcels.query({ orderBy: 'weight desc' })
  // @ts-expect-error
  parcels.query({ orderBy: ['weight'] })
  // @ts-expect-error
  parcels.query({ orderBy: 'or' })
  // What has no order orders nothing; what may have one does.
  // @ts-expect-error
  parcels.query({ orderBy: 'fragile' })
  // @ts-expect-error
  parcels.query({ orderBy: 'to' })
  // @ts-expect-error
  parcels.query({ orderBy: 'photo' })
  parcels.query({ orderBy: 'arrivedAt' })
  parcels.query({ orderBy: 'stamps' })
  parcels.query({ orderBy: 'to.geo.seenAt' })
  parcels.query({ orderBy: '_ts' })
  // @ts-expect-error
  parcels.query({ orderBy: '' })
  // @ts-expect-error
  parcels.query({ order: 'descending' })
  // @ts-expect-error
  parcels.query({ limit: '5' })
  // @ts-expect-error
  void parcels.query().page(5)
}

export async function misfits(): Promise<void> {
  interface Line {
    id: string
    total: number
    customer: string
    tags: string[]
    lines: { sku: string }[]
    sentAt: Date | null
  }
  const { lines } = openStore('misfits', { lines: collection<Line>() })
  await lines.query({ where: { sentAt: { in: [null, new Date()] } } }).get()
  await lines.query({ where: { sentAt: null } }).get()
  // @ts-expect-error
  lines.query({ where: { total: new Date() } })
  // @ts-expect-error
  lines.query({ where: { customer: /x/ } })
  // @ts-expect-error
  lines.query({ where: { tags: [5] } })
  // @ts-expect-error
  lines.query({ where: { lines: { contains: { sku: 'a' } } } })
  // @ts-expect-error
  lines.query({ where: { total: { in: [null] } } })
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
void loose.query({ where: { value: 'x' }, orderBy: 'value' }).get()
void loose.query({ orderBy: 'anything' }).get()

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
