import { collection } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { advance } from './support/clock.js'
import { newName, open } from './support/stores.js'

interface Order {
  id: string
  customer: string
  total: number
  tags?: string[]
  address?: { city: string }
  invoice?: string
}

const order = (id: string, fields: Partial<Order> = {}): Order => ({ id, customer: 'C', total: 1, ...fields })

/** What is in the database, seen from outside: each object store with the number of entries in each of its indexes. */
async function inspect(name: string): Promise<Record<string, Record<string, number>>> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const found: Record<string, Record<string, number>> = {}
  const transaction = database.transaction([...database.objectStoreNames])
  for (const store of database.objectStoreNames) {
    found[store] = {}
    for (const index of transaction.objectStore(store).indexNames) {
      const counting = transaction.objectStore(store).index(index).count()
      await new Promise((resolve) => (counting.onsuccess = resolve))
      found[store][index] = counting.result
    }
  }
  database.close()
  return found
}

describe('the schema is compared with what is there', () => {
  test('a collection added later is there, and the old one with its documents', async () => {
    const name = newName()
    const first = open({ orders: collection<Order>() }, name)
    await first.orders.upsert(order('a'))
    await first.close()
    const second = open({ orders: collection<Order>(), people: collection<{ id: string }>({ defaultTtl: 5 }) }, name)
    await second.people.upsert({ id: 'p' })
    expect(await second.orders.get('a')).toMatchObject({ id: 'a' })
    expect(await second.people.settings()).toEqual({ defaultTtl: 5, indexing: 'consistent' })
  })

  test('an index added over existing documents covers them all', async () => {
    const name = newName()
    const first = open({ orders: collection<Order>() }, name)
    await first.orders.upsertMany(
      Array.from({ length: 2500 }, (_, at) =>
        order(`o${at}`, { tags: ['x', `t${at}`], ...(at % 2 ? {} : { address: { city: `c${at}` } }) }),
      ),
    )
    await first.close()
    const orders = collection<Order>()
      .index('customer')
      .index('tags')
      .index('address.city')
      .index('customer', 'total')
      .uniqueIndex('invoice')
    const second = open({ orders }, name)
    expect(await second.orders.query({ where: { 'address.city': { exists: true } } }).count()).toBe(1250)
    await second.orders.upsert(order('new', { tags: ['x'], invoice: 'I1' }))
    await second.close()
    expect((await inspect(name))['orders']).toMatchObject({
      customer: 2501,
      tags: 5001,
      'address.city': 1250,
      'customer+total': 2501,
      invoice: 1,
    })
  })

  test('what is not declared any more is left alone, for a version of the app that still uses it', async () => {
    const name = newName()
    const old = {
      orders: collection<Order>({ defaultTtl: 60 }).index('customer'),
      people: collection<{ id: string }>(),
    }
    const first = open(old, name)
    await first.orders.upsert(order('a'))
    await first.people.upsert({ id: 'p' })
    await first.close()
    const second = open({ orders: collection<Order>({ defaultTtl: 60 }) }, name)
    await second.orders.upsert(order('b'))
    expect(second).not.toHaveProperty('people')
    await second.close()
    expect((await inspect(name))['orders']).toMatchObject({ customer: 2 })
    const third = open(old, name)
    expect(await third.people.get('p')).toMatchObject({ id: 'p' })
    expect(await third.orders.query({ where: { customer: 'C' } }).count()).toBe(2)
  })

  test('opening what is in line changes nothing', async () => {
    const name = newName()
    const schema = { orders: collection<Order>({ defaultTtl: 60 }).index('customer') }
    const version = async () => (await indexedDB.databases()).find((database) => database.name === name)?.version
    for (let round = 0; round < 3; round++) {
      const store = open(schema, name)
      await store.ready
      await store.close()
      expect(await version()).toBe(1)
    }
  })

  test('a new index can be added while another tab has the store open', async () => {
    const name = newName()
    const first = open({ orders: collection<Order>() }, name)
    await first.orders.upsert(order('a'))
    const second = open({ orders: collection<Order>().index('customer') }, name)
    const writes = await Promise.all([
      first.orders.upsert(order('b')),
      second.orders.upsert(order('c')),
      first.orders.get('a'),
      second.orders.get('a'),
    ])
    expect(writes.map((doc) => doc?.id)).toEqual(['b', 'c', 'a', 'a'])
    await first.orders.upsert(order('d'))
    expect(await second.orders.query().count()).toBe(4)
  })

  test('many tabs with different schemas opening at once all succeed', async () => {
    const name = newName()
    const schemas = [
      collection<Order>(),
      collection<Order>().index('customer'),
      collection<Order>().index('total'),
      collection<Order>().index('customer').index('tags'),
    ]
    const stores = schemas.map((orders) => open({ orders }, name))
    await Promise.all(stores.map((store, at) => store.orders.upsert(order(`o${at}`))))
    expect(await Promise.all(stores.map((store) => store.orders.query().count()))).toEqual([4, 4, 4, 4])
    await Promise.all(stores.map((store) => store.close()))
    expect((await inspect(name))['orders']).toMatchObject({ customer: 4, total: 4, tags: 0 })
  })

  test('a description can be extended without changing the one it came from', async () => {
    const base = collection<Order>()
    const indexed = base.index('customer').uniqueIndex('customer').index('customer')
    expect(base).not.toBe(indexed)
    const name = newName()
    const store = open({ base, indexed }, name)
    await store.base.upsertMany([order('a'), order('b')])
    await store.indexed.upsert(order('a'))
    await expect(store.indexed.upsert(order('b'))).rejects.toMatchObject({ code: 'conflict' })
    await store.close()
    const { base: inBase, indexed: inIndexed } = await inspect(name)
    expect([inBase, inIndexed]).toMatchObject([{}, { customer: 1 }])
    expect(inBase).not.toHaveProperty('customer')
  })

  test('stores of different names know nothing of each other', async () => {
    const schema = { orders: collection<Order>({ defaultTtl: 5 }) }
    const [one, two] = [open(schema), open(schema)]
    await one.orders.upsert(order('a'))
    await one.orders.setDefaultTtl(null)
    expect(await two.orders.get('a')).toBeUndefined()
    expect((await two.orders.settings()).defaultTtl).toBe(5)
  })

  test('a store without collections opens, sweeps and closes', async () => {
    const store = open({})
    await store.ready
    expect(await store.sweep()).toEqual({ deleted: 0 })
  })
})

describe('unique indexes', () => {
  test('refuse a second live document, of one field, of elements and of several fields', async () => {
    const { orders } = open({
      orders: collection<Order>().uniqueIndex('invoice').uniqueIndex('tags').uniqueIndex('customer', 'total'),
    })
    await orders.upsert(order('a', { invoice: 'I1', tags: ['x', 'y'] }))
    const refusals: [Partial<Order>, string][] = [
      [{ invoice: 'I1', total: 2 }, 'invoice must be unique'],
      [{ tags: ['z', 'y'], total: 2 }, 'tags must be unique'],
      [{}, 'customer + total must be unique'],
    ]
    for (const [fields, says] of refusals) {
      const writing = orders.upsert(order('b', fields))
      await expect(writing).rejects.toMatchObject({ code: 'conflict', collection: 'orders', id: 'b' })
      await expect(writing).rejects.toThrow(says)
    }
    expect(await orders.query().count()).toBe(1)
    // The document itself may keep its values, and lacking them conflicts with nothing.
    await orders.upsert(order('a', { invoice: 'I1', tags: ['x'] }))
    await orders.patch('a', { customer: 'D' })
    await orders.createMany([order('c', { total: 3 }), order('d', { total: 4, tags: ['y'] })])
    await expect(orders.patch('c', { total: 4 })).rejects.toMatchObject({ code: 'conflict' })
  })

  test('see what was written before them in the same tick', async () => {
    const { orders } = open({ orders: collection<Order>().uniqueIndex('invoice') })
    const results = await Promise.allSettled([
      orders.upsert(order('a', { invoice: 'I1' })),
      orders.upsert(order('b', { invoice: 'I1' })),
      orders.delete('a'),
      orders.upsert(order('c', { invoice: 'I1' })),
      orders.patch('c', { invoice: 'I2' }),
      orders.upsert(order('d', { invoice: 'I1' })),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
  })
})

describe('a unique index that is added over documents', () => {
  test('leaves those alone that have the same value: they are found and touched, and their next writes have to differ', async () => {
    const name = newName()
    const before = open({ orders: collection<Order>() }, name)
    await before.orders.upsertMany([order('a', { invoice: 'I1' }), order('b', { invoice: 'I1' })])
    await before.close()
    const { orders } = open({ orders: collection<Order>().uniqueIndex('invoice') }, name)
    const found = orders.query({ where: { invoice: 'I1' } })
    expect((await found.get()).map(({ id }) => id)).toEqual(['a', 'b'])
    expect((await found.explain()).index).toBe('invoice')
    expect(await orders.touch('a')).toBe(true)
    await expect(orders.patch('a', { total: 5 })).rejects.toMatchObject({ code: 'conflict', id: 'a' })
    await orders.patch('a', { invoice: 'I2' })
    await orders.patch('b', { total: 5 })
    expect((await found.get()).map(({ id }) => id)).toEqual(['b'])
  })
})

describe('tabs of different versions of the app', () => {
  test('T15: one that merely reconnects does not bring its old defaultTtl back', async () => {
    const name = newName()
    const old = open({ orders: collection<Order>({ defaultTtl: 5 }) }, name)
    await old.ready
    const young = open({ orders: collection<Order>({ defaultTtl: 100 }).index('total') }, name)
    await young.orders.upsert(order('a'))
    advance(10)
    expect(await old.orders.get('a')).toMatchObject({ id: 'a' })
    await young.orders.setDefaultTtl(null)
    expect(await old.orders.settings()).toMatchObject({ defaultTtl: null })
    expect(await young.orders.get('a')).toMatchObject({ id: 'a' })
  })

  test('opening at once, with settings and indexes that differ, all succeed', async () => {
    for (let round = 0; round < 10; round++) {
      const name = newName()
      await open({ orders: collection<Order>({ defaultTtl: 1 }) }, name).close()
      const schemas = [
        collection<Order>({ defaultTtl: 5 }),
        collection<Order>({ defaultTtl: 5 }).index('total'),
        collection<Order>({ defaultTtl: 6 }).index('customer'),
        collection<Order>({ defaultTtl: 7 }).index('tags'),
      ]
      const stores = schemas.map((orders) => open({ orders }, name))
      await Promise.all(stores.map((store) => store.ready))
      await Promise.all(stores.map((store, at) => store.orders.upsert(order(`o${at}`))))
      expect(await stores[0]!.orders.query().count()).toBe(4)
      await Promise.all(stores.map((store) => store.close()))
    }
  })
})
