import { collection } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { advance, START } from './support/clock.js'
import { newName, open } from './support/stores.js'

interface Order {
  id: string
  customer: string
  total: number
  tags?: string[]
  note?: string
}

const order = (id: string, total = 1): Order => ({ id, customer: 'CO1', total })

function shop() {
  return open({ orders: collection<Order>({ defaultTtl: 1000 }) })
}

describe('writes resolve with the document as stored', () => {
  test('create generates an id when it is left out', async () => {
    const { orders } = shop()
    const { id: _, ...anonymous } = order('')
    const [one, two] = await Promise.all([orders.create(anonymous), orders.create({ ...anonymous, id: undefined })])
    expect(one.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(two.id).not.toBe(one.id)
    expect(await orders.get(one.id)).toEqual(one)
    expect(one).toEqual({ ...anonymous, id: one.id, _ts: START / 1000, _etag: expect.any(String) })
  })

  test('create refuses an id that is taken', async () => {
    const { orders } = shop()
    const first = await orders.create(order('a'))
    await expect(orders.create(order('a', 2))).rejects.toThrow('orders/a: there is a document with this id already')
    expect(await orders.get('a')).toEqual(first)
  })

  test('upsert writes over what there is', async () => {
    const { orders } = shop()
    await orders.upsert({ ...order('a'), note: 'old' })
    const second = await orders.upsert(order('a', 2))
    expect(second).not.toHaveProperty('note')
    expect(await orders.get('a')).toEqual(second)
  })

  test('patch merges shallowly and removes what is undefined', async () => {
    const { orders } = shop()
    await orders.upsert({ ...order('a'), note: 'n', tags: ['x'] })
    const patched = await orders.patch('a', { total: 5, note: undefined, tags: ['y'] })
    expect(patched).toEqual({ ...order('a', 5), tags: ['y'], _ts: START / 1000, _etag: patched._etag })
    expect(Object.keys(patched)).not.toContain('note')
  })

  test('delete and touch say whether there was anything', async () => {
    const { orders } = shop()
    await orders.upsert(order('a'))
    expect([
      await orders.touch('a'),
      await orders.delete('a'),
      await orders.delete('a'),
      await orders.touch('a'),
    ]).toEqual([true, true, false, false])
  })

  test('a document just read can be changed and written back', async () => {
    const { orders } = shop()
    const read = await orders.upsert(order('a'))
    advance(1)
    const written = await orders.upsert({ ...read, total: 2 })
    expect(written).toEqual({ ...order('a', 2), _ts: START / 1000 + 1, _etag: expect.any(String) })
    expect(written._etag).not.toBe(read._etag)
    await orders.replace({ ...written, total: 3 })
    expect(await orders.get('a')).toMatchObject({ total: 3, _ts: START / 1000 + 1 })
  })

  test('clear deletes everything and keeps the setting', async () => {
    const store = shop()
    await store.orders.setDefaultTtl(77)
    await store.orders.upsertMany([order('a'), order('b')])
    await store.orders.clear()
    expect(await store.orders.stats()).toEqual({ live: 0, expired: 0, nextExpiry: null })
    expect((await store.orders.settings()).defaultTtl).toBe(77)
  })
})

describe('ifMatch', () => {
  test('writes only what nobody has written since', async () => {
    const { orders } = shop()
    const first = await orders.upsert(order('a'))
    const second = await orders.replace(order('a', 2), { ifMatch: first._etag })
    const stale = { ifMatch: first._etag }
    const refusals = await Promise.allSettled([
      orders.replace(order('a', 3), stale),
      orders.upsert(order('a', 3), stale),
      orders.patch('a', { total: 3 }, stale),
      orders.touch('a', stale),
      orders.delete('a', stale),
    ])
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        status: 'rejected',
        reason: { code: 'precondition-failed', collection: 'orders', id: 'a' },
      })
    }
    expect(await orders.get('a')).toEqual(second)
    expect(await orders.delete('a', { ifMatch: second._etag })).toBe(true)
  })

  test('a document that was deleted and made again is another one', async () => {
    const { orders } = shop()
    const first = await orders.upsert(order('a'))
    await orders.delete('a')
    await orders.create(order('a'))
    await expect(orders.replace(order('a'), { ifMatch: first._etag })).rejects.toMatchObject({
      code: 'precondition-failed',
    })
  })
})

describe('update', () => {
  test('is atomic: a hundred at once count to a hundred', async () => {
    const name = newName()
    const schema = { orders: collection<Order>() }
    const [one, two] = [open(schema, name), open(schema, name)]
    await one.orders.upsert(order('a', 0))
    const add = (doc: Order) => ({ ...doc, total: doc.total + 1 })
    await Promise.all(Array.from({ length: 100 }, (_, at) => (at % 2 ? one : two).orders.update('a', add)))
    expect(await one.orders.get('a')).toMatchObject({ total: 100 })
  })

  test('of many documents shares its transactions', async () => {
    const { orders } = shop()
    await orders.upsertMany(Array.from({ length: 300 }, (_, at) => order(`o${at}`, at)))
    const updated = await Promise.all(
      Array.from({ length: 300 }, (_, at) => orders.update(`o${at}`, (doc) => ({ ...doc, total: -at }))),
    )
    expect(updated.map((doc) => doc.total)).toEqual(Array.from({ length: 300 }, (_, at) => -at))
  })

  test('fails alone when its function throws, or returns no document, or another id', async () => {
    const { orders } = shop()
    await orders.upsertMany([order('a'), order('b')])
    const boom = new Error('boom')
    const results = await Promise.allSettled([
      orders.update('a', () => {
        throw boom
      }),
      orders.update('a', () => undefined as never),
      orders.update('a', (doc) => Promise.resolve(doc) as never),
      orders.update('a', (doc) => ({ ...doc, id: 'c' })),
      orders.update('none', (doc) => doc),
      orders.update('b', (doc) => ({ ...doc, total: 9 })),
    ])
    expect(
      results.map((result) =>
        result.status === 'fulfilled' ? result.value.total : (result.reason.code ?? result.reason.message),
      ),
    ).toEqual(['boom', 'invalid', 'invalid', 'invalid', 'not-found', 9])
    expect(await orders.query().count()).toBe(2)
  })
})

describe('calls of one page take effect in the order in which they were made', () => {
  test('across verbs, updates and many-verbs, without waiting', async () => {
    const { orders } = shop()
    const docs = Array.from({ length: 2500 }, (_, at) => order(`o${String(at).padStart(4, '0')}`, at))
    const history = await Promise.all([
      orders.upsert(order('a', 1)).then((doc) => doc.total),
      orders.get('a').then((doc) => doc?.total),
      orders.update('a', (doc) => ({ ...doc, total: doc.total + 1 })).then((doc) => doc.total),
      orders.update('a', (doc) => ({ ...doc, total: doc.total * 10 })).then((doc) => doc.total),
      orders.get('a').then((doc) => doc?.total),
      orders.patch('a', { total: 7 }).then((doc) => doc.total),
      orders.update('a', (doc) => ({ ...doc, total: doc.total + 1 })).then((doc) => doc.total),
      orders.delete('a'),
      orders.get('a'),
      orders.upsertMany(docs).then(({ written }) => written),
      orders.query().count(),
      orders.get('o2499').then((doc) => doc?.total),
      orders.deleteMany(docs.map((doc) => doc.id)).then(({ deleted }) => deleted),
      orders.query().count(),
      orders.create(order('a', 3)).then((doc) => doc.total),
      orders.clear(),
      orders.get('a'),
      orders.create(order('a', 4)).then((doc) => doc.total),
      orders.getMany(['b', 'a', 'a']).then((found) => found.map((doc) => doc?.total)),
    ])
    expect(history).toEqual([
      1,
      1,
      2,
      20,
      20,
      7,
      8,
      true,
      undefined,
      2500,
      2500,
      2499,
      2500,
      0,
      3,
      undefined,
      undefined,
      4,
      [undefined, 4, 4],
    ])
  })

  test('what the caller does with a document after the call has no effect', async () => {
    const { orders } = shop()
    const doc = { ...order('a'), tags: ['x'] }
    const writing = orders.upsert(doc)
    doc.tags.push('y')
    doc.total = 99
    expect(await writing).toMatchObject({ total: 1, tags: ['x'] })
    expect(await orders.get('a')).toMatchObject({ total: 1, tags: ['x'] })
  })

  test('no two answers share an object', async () => {
    const { orders } = shop()
    await orders.upsert({ ...order('a'), tags: ['x'] })
    const [one, two, patched, three, , four] = await Promise.all([
      orders.get('a'),
      orders.get('a'),
      orders.patch('a', { total: 2 }),
      orders.get('a'),
      orders.touch('a'),
      orders.get('a'),
    ])
    const lists = [one, two, patched, three, four].map((doc) => doc!.tags!)
    expect(new Set(lists).size).toBe(5)
    lists[0]!.push('y')
    expect(lists.slice(1)).toEqual([['x'], ['x'], ['x'], ['x']])
  })
})

describe('the one failing operation fails alone', () => {
  test('among 1,000 of one tick', async () => {
    const { orders } = shop()
    const writes = Array.from({ length: 1000 }, (_, at) =>
      orders.upsert(at === 500 ? { ...order('bad'), ttl: 0 } : order(`o${at}`)),
    )
    const results = await Promise.allSettled(writes)
    expect(results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))).toEqual([500])
    expect(await orders.query().count()).toBe(999)
  })

  test('of any kind: what cannot be cloned, a conflict, a bad id, a failed precondition', async () => {
    const { orders } = shop()
    await orders.upsert(order('taken'))
    const results = await Promise.allSettled([
      orders.upsert(order('a')),
      orders.upsert({ ...order('b'), note: (() => 1) as never }),
      orders.create(order('taken')),
      orders.get(5 as never),
      orders.replace(order('taken'), { ifMatch: 'no' }),
      orders.upsert(order('c')),
    ])
    expect(results.map((result) => (result.status === 'fulfilled' ? 'ok' : result.reason.code))).toEqual([
      'ok',
      'invalid',
      'conflict',
      'invalid',
      'precondition-failed',
      'ok',
    ])
    expect((await orders.query().get()).map((doc) => doc.id)).toEqual(['a', 'c', 'taken'])
  })

  test('in upsertMany: the others are committed, and the error names it', async () => {
    const { orders } = shop()
    const docs = Array.from({ length: 1000 }, (_, at) => (at === 500 ? { ...order('bad'), ttl: 0 } : order(`o${at}`)))
    const writing = orders.upsertMany(docs)
    await expect(writing).rejects.toMatchObject({ code: 'invalid', collection: 'orders', id: 'bad' })
    await expect(writing).rejects.toThrow('refused 1 of 1000 documents and committed the other 999')
    expect(await orders.query().count()).toBe(999)
  })
})

describe('any structured-cloneable value', () => {
  test('comes back as it was, cycles included', async () => {
    const things = open({ things: collection<{ id: string; value: unknown }>() }).things
    const cycle: Record<string, unknown> = { id: 'cycle' }
    cycle['value'] = { self: cycle }
    const values: unknown[] = [
      new Date(5),
      new Map([[{ a: 1 }, new Set([1])]]),
      new Uint8Array([1, 2, 3]),
      new Float64Array([1.5]).buffer,
      /x/gi,
      10n ** 30n,
      -0,
      NaN,
      null,
      undefined,
      [1, , 3],
      'lone \ud800 surrogate',
      JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'),
    ]
    for (const [at, value] of values.entries()) {
      await things.upsert({ id: `v${at}`, value })
      expect((await things.get(`v${at}`))?.value, String(at)).toEqual(value)
    }
    await things.upsert(cycle as never)
    const back = (await things.get('cycle')) as unknown as { value: { self: unknown } }
    expect(back.value.self).toBe(back)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('an own field called __proto__ stays an own field, through a patch too', async () => {
    const things = open({ things: collection<{ id: string; value: number }>() }).things
    await things.upsert(JSON.parse('{"id":"a","value":1,"__proto__":{"admin":true}}'))
    const patched = await things.patch('a', { value: 2 })
    for (const doc of [patched, await things.get('a')]) {
      expect(Object.getOwnPropertyDescriptor(doc, '__proto__')?.value).toEqual({ admin: true })
      expect((doc as object as { admin?: boolean }).admin).toBeUndefined()
      expect(Object.getPrototypeOf(doc)).toBe(Object.prototype)
    }
  })

  test('an id may be any string of up to 1,023 bytes', async () => {
    const { orders } = shop()
    const ids = [
      'a',
      ' ',
      '\0',
      '0',
      '__proto__',
      'constructor',
      'ü'.repeat(511),
      'x'.repeat(1023),
      '𝄞'.repeat(255),
      '\ud800',
      'a/b?c#d',
    ]
    await orders.upsertMany(ids.map((id) => order(id)))
    expect((await orders.getMany(ids)).map((doc) => doc?.id)).toEqual(ids)
    expect(await orders.query().count()).toBe(ids.length)
    expect(await orders.deleteMany(ids)).toEqual({ deleted: ids.length, stopped: false })
  })
})
