import { collection } from 'mayfly'
import type { QueryOptions } from 'mayfly'
import { beforeAll, describe, expect, test } from 'vitest'
import { advance } from './support/clock.js'
import { countRecords, countRequests } from './support/requests.js'
import { newName, open } from './support/stores.js'

interface Order {
  id: string
  customer: string
  status: 'open' | 'sent'
  total: number
  placedAt: Date
  tags: string[]
  address: { city: string }
  serial: string
  ttl?: number
}

/** A real browser takes its time to write so many with eight indexes. */
const COUNT = 'document' in globalThis ? 20_000 : 100_000
const CUSTOMERS = COUNT / 20
const CITIES = COUNT / 25

const schema = {
  orders: collection<Order>({ defaultTtl: -1 })
    .index('customer')
    .index('total')
    .index('tags')
    .index('address.city')
    .index('customer', 'placedAt')
    .index('status', 'total')
    .index('status', 'customer', 'placedAt')
    .uniqueIndex('serial'),
}

/** Customers with 20 orders each, whose ids have nothing to do with anything else. */
function order(n: number): Order {
  const shuffled = (n * 7919) % COUNT
  return {
    id: `o${String(shuffled).padStart(6, '0')}`,
    customer: `c${n % CUSTOMERS}`,
    status: n % 10 === 0 ? 'open' : 'sent',
    total: n,
    placedAt: new Date(1e12 + ((n * 104_729) % COUNT) * 1000),
    tags: n % CUSTOMERS === 3 ? ['gift', `t${n}`] : [`t${n}`],
    address: { city: `city ${n % CITIES}` },
    serial: `s${n}`,
  }
}

const name = newName()

beforeAll(async () => {
  const store = open(schema, name)
  await store.orders.upsertMany(Array.from({ length: COUNT }, (_, n) => order(n)))
  await store.close()
}, 300_000)

describe(`of ${COUNT} documents`, () => {
  // What is asked, the index that answers, how many it gives, and how many more records may be read than that.
  const answered: [string, QueryOptions<Order>, string, number, number?][] = [
    ['equality', { where: { customer: 'c7' } }, 'customer', 20],
    ['a range', { where: { total: { gte: 500, lt: 520 } } }, 'total', 20],
    ['a range with a limit, in the order of the ids', { where: { total: { lt: 20 } }, limit: 20 }, 'total', 20],
    ['an order with a limit', { orderBy: 'total', order: 'desc', limit: 20 }, 'total', 20, 1],
    ['a range in its order', { where: { total: { gt: COUNT * 0.9 } }, orderBy: 'total', limit: 20 }, 'total', 20, 1],
    ['a path', { where: { 'address.city': 'city 5' } }, 'address.city', 25],
    ['an element', { where: { tags: { contains: 'gift' } } }, 'tags', 20],
    ['a unique value', { where: { serial: 's77' } }, 'serial', 1],
    ['a prefix', { where: { serial: { startsWith: 's199' } } }, 'serial', 111],
    ['equality and an order', { where: { customer: 'c9' }, orderBy: 'placedAt' }, 'customer+placedAt', 20],
    [
      'equality, a range and an order',
      { where: { status: 'open', total: { gte: COUNT / 2 } }, orderBy: 'total', order: 'desc', limit: 20 },
      'status+total',
      20,
      1,
    ],
    [
      'two equalities and an order',
      { where: { status: 'sent', customer: 'c8' }, orderBy: 'placedAt', order: 'desc', limit: 5 },
      'status+customer+placedAt',
      5,
      1,
    ],
    ['one of several', { where: { customer: { in: ['c1', 'c2', 'nobody'] } } }, 'customer', 40],
    [
      'one of several, merged in order',
      { where: { customer: { in: ['c1', 'c2'] } }, orderBy: 'placedAt', limit: 10 },
      'customer+placedAt',
      10,
      6,
    ],
    [
      'one of very many',
      { where: { serial: { in: Array.from({ length: 1000 }, (_, n) => `s${n * 3}`) } } },
      'serial',
      1000,
    ],
    [
      'very many alternatives',
      { where: { or: Array.from({ length: 200 }, (_, n) => ({ total: n * 5 })) }, orderBy: 'total' },
      'total',
      200,
    ],
    ['alternatives', { where: { or: [{ customer: 'c1' }, { total: { gte: COUNT - 10 } }] } }, 'customer or total', 30],
    ['a range of ids', { where: { id: { gte: 'o010000', lt: 'o010020' } } }, 'id', 20],
    ['ids', { where: { id: { in: ['o000001', 'o000002', 'nobody'] } } }, 'id', 2],
    [
      'what two indexes have in common',
      { where: { total: { gte: 5 * CITIES, lt: 5 * CITIES + 500 }, 'address.city': { in: ['city 1', 'city 3'] } } },
      'address.city',
      2,
      48,
    ],
    [
      'an order that the conditions leave sparse',
      { where: { total: { gte: COUNT - 20 } }, orderBy: 'placedAt', limit: 5 },
      'total',
      5,
      15,
    ],
  ]

  test.each(answered)('%s reads no more than it has to', async (_, question, index, returned, spare = 0) => {
    const { orders } = open(schema, name)
    await orders.settings()
    const explained: unknown[] = []
    // One more is the setting.
    const records = await countRecords(async () => explained.push(await orders.query(question).explain()))
    expect(explained).toMatchObject([{ index, returned }])
    const { read } = explained[0] as { read: number }
    expect(records - 1).toBe(read)
    expect(read).toBeLessThanOrEqual(returned + spare)
  })

  test('an order that an index has is not sorted in memory, and one that none has is', async () => {
    const { orders } = open(schema, name)
    const sorted = async (question: QueryOptions<Order>) => (await orders.query(question).explain()).sorted
    expect(await sorted({ orderBy: 'total' })).toBe(false)
    expect(await sorted({ where: { customer: 'c3' } })).toBe(false)
    expect(await sorted({ where: { customer: 'c3' }, orderBy: 'placedAt', order: 'desc' })).toBe(false)
    expect(await sorted({ where: { customer: { in: ['c3', 'c4'] } }, orderBy: 'placedAt' })).toBe(false)
    expect(await sorted({ where: { customer: 'c3' }, orderBy: 'total' })).toBe(true)
    const none = await orders.query({ orderBy: 'placedAt', limit: 3 }).explain()
    expect(none).toEqual({ index: null, direction: 'asc', read: COUNT, returned: 3, sorted: true })
  })

  test('a page in the middle of many ties reads about a page', async () => {
    const { orders } = open(schema, name)
    const open50 = orders.query({ where: { status: 'open', total: { gte: 0 } }, orderBy: 'total', limit: 50 })
    let next: string | undefined
    const seen: number[] = []
    for (let page = 0; page < 3; page++) {
      const records = await countRecords(async () => {
        const { items, next: after } = await open50.page(next)
        seen.push(...items.map((item) => item.total))
        next = after
      })
      expect(records).toBeLessThanOrEqual(55)
    }
    expect(seen).toEqual(Array.from({ length: 150 }, (_, n) => n * 10))
  })

  test('a count that an index knows reads no document, also with dead ones in between', async () => {
    const mortal = open({ orders: collection<Order>({ defaultTtl: 10 }).index('total').index('tags') })
    await mortal.orders.upsertMany(
      Array.from({ length: 300 }, (_, n) => ({ ...order(n), ...(n % 3 === 0 ? { ttl: 5 } : {}) })),
    )
    const { orders } = open(schema, name)
    await orders.settings()
    const counts: number[] = []
    const count = async (work: () => Promise<number>) => {
      // The setting is read by each, and once more by the first that notices an expiry.
      expect(await countRecords(async () => counts.push(await work()))).toBeLessThanOrEqual(2)
    }
    await count(() => orders.query({ where: { total: { gte: 1000, lt: 6000 } } }).count())
    await count(() => orders.query({ where: { status: 'open', total: { lt: 1000 } } }).count())
    await count(() => orders.query({ orderBy: 'total' }).count())
    await count(() => orders.query({ where: { or: [{ customer: 'c1' }, { total: { lt: 10 } }] } }).count())
    advance(5)
    await count(() => mortal.orders.query({ where: { total: { gte: 100 } } }).count())
    await count(() => mortal.orders.query({ where: { tags: { contains: 't7' } } }).count())
    expect(counts).toEqual([5000, 100, COUNT, 29, 134, 1])
  })

  test('500 live queries on one page: a write runs none again that it cannot touch', async () => {
    const store = open(schema, name)
    let calls = 0
    const stops = Array.from({ length: 500 }, (_, n) =>
      store.orders.query({ where: { customer: `c${n}` }, orderBy: 'placedAt' }).subscribe(() => calls++),
    )
    const seen: string[][] = []
    stops.push(
      store.orders.query({ where: { customer: 'new' } }).subscribe((docs) => seen.push(docs.map(({ id }) => id))),
    )
    await expect.poll(() => [calls, seen.length], { timeout: 60_000 }).toEqual([500, 1])
    const before = calls
    // A write, its entry in the journal and the setting; what it does to a result is known without a query.
    const cost = await countRequests(async () => {
      await store.orders.upsert({ ...order(1), id: 'another', customer: 'new', serial: 'another' })
      await expect.poll(() => seen.at(-1)).toEqual(['another'])
    })
    expect(cost).toMatchObject({ transaction: 1, put: 3 })
    expect(calls).toBe(before)
    for (const stop of stops) stop()
    await store.orders.delete('another')
  })
})

describe('the first fields of an index of several', () => {
  interface Event {
    id: string
    kind: string
    at?: number | null | undefined
    place: { town: string }
  }
  const events = collection<Event>()
  const indexed = { events: events.index('kind', 'at').index('kind', 'place.town', 'at') }
  const event = (n: number): Event => ({
    id: `e${(n * 7) % 1000}`,
    kind: `k${n % 50}`,
    at: n,
    place: { town: `t${n % 3}` },
  })
  const all = Array.from({ length: 1000 }, (_, n) => event(n))
  const asked: QueryOptions<Event>[] = [
    { where: { kind: 'k7' } },
    { where: { kind: 'k7', 'place.town': { gte: 't1' } } },
    { where: { kind: { startsWith: 'k4' } }, order: 'desc' },
    { where: { or: [{ kind: 'k1' }, { kind: 'k2' }] } },
  ]
  const expected = [20, 13, 220, 40]
  const explain = (store: ReturnType<typeof open<typeof indexed>>) =>
    Promise.all(asked.map((question) => store.events.query(question).explain()))

  test('serve where every document has the others', async () => {
    const store = open(indexed)
    await store.events.upsertMany(all)
    const explained = await explain(store)
    expect(explained.map(({ read, returned }) => [read, returned])).toEqual(expected.map((many) => [many, many]))
    expect(explained.map(({ index }) => index)).not.toContain(null)
    // The setting is all that is read.
    const counting = async () => expect(await store.events.query({ where: { kind: 'k7' } }).count()).toBe(20)
    expect(await countRecords(counting)).toBe(1)
  })

  test.each<[string, Partial<Event>]>([
    ['lacks one', { at: undefined }],
    ['holds there what is no key', { at: null }],
  ])('serve no more once a document %s, which is found all the same', async (_, fields) => {
    const store = open(indexed)
    await store.events.upsertMany(all)
    await store.events.patch('e49', fields)
    const [{ index, returned } = {}] = await explain(store)
    expect([index, returned]).toEqual([null, 20])
    expect(await store.events.query({ where: { kind: 'k7' } }).count()).toBe(20)
    expect((await store.events.query({ where: { kind: 'k7' }, orderBy: 'at' }).get()).length).toBe(19)
  })

  test('serve, or not, in an index that is added over documents', async () => {
    for (const gap of [false, true]) {
      const name = newName()
      const before = open({ events }, name)
      await before.events.upsertMany(all)
      if (gap) await before.events.patch('e49', { at: undefined })
      await before.close()
      const explained = await explain(open(indexed, name))
      expect(explained.map(({ returned }) => returned)).toEqual(expected)
      expect(explained.map(({ index }) => index === null)).toEqual(expected.map(() => gap))
    }
  })
})
