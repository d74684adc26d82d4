import fc from 'fast-check'
import { collection } from 'mayfly'
import { describe, expect, inject, test } from 'vitest'
import { advance } from './support/clock.js'
import { countRecords, countRequests } from './support/requests.js'
import { open } from './support/stores.js'

interface Item {
  id: string
  group: number
  ttl?: number
}

function items(length: number, ttl?: (at: number) => number): Item[] {
  return Array.from({ length }, (_, at) => ({ id: `i${at}`, group: at % 7, ...(ttl && { ttl: ttl(at) }) }))
}

async function filled(length: number, ttl?: (at: number) => number) {
  const store = open({ items: collection<Item>({ defaultTtl: 1000 }).index('group') })
  await store.items.upsertMany(items(length, ttl))
  return store
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, one) => total + one, 0)

describe('the rules stay cheap', () => {
  test('T13: changing defaultTtl asks the same of IndexedDB with very many documents as with 10', async () => {
    const costs = []
    // A browser takes its time to write them.
    for (const length of [10, 'document' in globalThis ? 20_000 : 100_000]) {
      const store = await filled(length)
      advance(500)
      costs.push(
        await countRequests(async () => {
          await store.items.setDefaultTtl(400)
          await store.items.setDefaultTtl(null)
          await store.items.setDefaultTtl(-1)
        }),
      )
      expect(await store.items.stats()).toMatchObject({ live: 0, expired: length })
    }
    expect(costs[1]).toEqual(costs[0])
    expect(costs[0]).toEqual({ transaction: 3, get: 3, put: 3 })
  })

  test('T6: counting a whole collection, and its statistics, read no document', async () => {
    const store = await filled(2000, (at) => (at % 2 ? 5 : -1))
    for (const seconds of [0, 5]) {
      advance(seconds)
      const counting = await countRequests(() => store.items.query().count())
      const stats = await countRequests(() => store.items.stats())
      for (const cost of [counting, stats]) {
        // The one that is got is the setting; the cursors are on keys.
        expect(cost).not.toHaveProperty('getAll')
        expect(cost).not.toHaveProperty('openCursor')
        expect(cost['get']).toBeLessThanOrEqual(2)
        expect(sum(cost)).toBeLessThan(15)
      }
    }
  })

  test('T18: a sweep reads only what has expired', async () => {
    for (const length of [300, 6000]) {
      const store = await filled(length, (at) => (at < 100 ? 5 : 500))
      advance(5)
      const deleted: unknown[] = []
      const cost = await countRequests(async () => deleted.push(await store.sweep()))
      expect(deleted).toEqual([{ deleted: 100 }])
      expect(await store.items.query().count()).toBe(length - 100)
      // It goes in slices, whose size depends on who else is asking. Each reads the setting, keys of the dead in two
      // indexes, the last of them, and the keys between them; the final one looks for the next to expire.
      const { transaction: slices = 0, delete: deletions, ...requests } = cost
      expect(slices).toBeLessThanOrEqual(25)
      expect(requests).toEqual({ get: 2 * slices, getAllKeys: 3 * slices, openKeyCursor: 2 })
      expect(deletions).toBeLessThanOrEqual(100)
    }
  })

  test('T18: what has expired and lies together is deleted as one stretch, around what lives', async () => {
    const idOf = (at: number) => `i${String(at).padStart(4, '0')}`
    const living = [3, 5000, 5001].map(idOf)
    const store = open({ items: collection<Item>({ defaultTtl: 5 }) })
    const all = Array.from({ length: 5999 }, (_, at) => ({ id: idOf(at), group: 0, ...(at === 5000 && { ttl: 6 }) }))
    await store.items.upsertMany(all)
    await store.items.patch(idOf(3), { ttl: 6 })
    await store.items.patch(idOf(5001), { ttl: -1 })
    advance(5)
    const { delete: deletions, transaction: slices = 0 } = await countRequests(() => store.sweep())
    expect(deletions).toBeLessThanOrEqual(3 * slices)
    expect((await store.items.query().get()).map(({ id }) => id)).toEqual(living)
    expect(await store.items.stats()).toMatchObject({ live: 3, expired: 0 })
  })

  test('T18: exactly what has expired is deleted, whatever lies between', async () => {
    const lives = fc.uniqueArray(
      fc.record({ id: fc.string({ minLength: 1, maxLength: 3 }), ttl: fc.constantFrom(1, 9) }),
      {
        selector: ({ id }) => id,
        maxLength: 60,
      },
    )
    const property = fc.asyncProperty(lives, async (docs) => {
      const store = open({ items: collection<Item>({ defaultTtl: -1 }) })
      await store.items.upsertMany(docs.map((doc) => ({ ...doc, group: 0 })))
      advance(1)
      const dead = docs.filter(({ ttl }) => ttl === 1)
      expect(await store.sweep()).toEqual({ deleted: dead.length })
      expect(await store.items.stats()).toMatchObject({ live: docs.length - dead.length, expired: 0 })
      const left = docs.filter(({ ttl }) => ttl === 9).map(({ id }) => id)
      expect((await store.items.query().get()).map(({ id }) => id)).toEqual(left.toSorted())
      await store.destroy()
    })
    await fc.assert(property, { seed: inject('seed'), numRuns: Math.ceil(inject('runs') / 5) })
  })

  test('T14: a sweep does not look at a collection whose TTL is off', async () => {
    const store = await filled(50, () => 5)
    advance(1)
    await store.items.setDefaultTtl(null)
    // The first one may look for what an earlier setting has killed.
    await store.sweep()
    expect(await countRequests(() => store.sweep())).toEqual({ transaction: 1, get: 1 })
  })

  test('2,000 concurrent writes are one transaction', async () => {
    const store = await filled(1)
    const cost = await countRequests(() => Promise.all(items(2000).map((item) => store.items.upsert(item))))
    expect(cost).toEqual({ transaction: 1, get: 1, put: 2000 })
  })

  test('all operations of one tick are one transaction, whatever they are', async () => {
    const store = await filled(10)
    const cost = await countRequests(() =>
      Promise.all([
        store.items.create({ id: 'new', group: 1 }),
        store.items.patch('i1', { group: 2 }),
        store.items.get('i2'),
        store.items.delete('i3'),
        store.items.touch('i4'),
        store.items.query().count(),
        store.items.stats(),
      ]),
    )
    expect(cost['transaction']).toBe(1)
  })

  test('what arrives while a transaction is running goes together into the next', async () => {
    const store = await filled(10)
    const cost = await countRequests(async () => {
      const calls = [store.items.touch('i1')]
      for (let at = 0; at < 50; at++) {
        await Promise.resolve()
        calls.push(store.items.touch(`i${at % 10}`))
      }
      await Promise.all(calls)
    })
    expect(cost['transaction']).toBeLessThanOrEqual(3)
  })

  test('a page of 20 reads about 20 of 10,000', async () => {
    const store = await filled(10_000)
    const { read, returned } = await store.items.query({ limit: 20 }).explain()
    expect([read, returned]).toEqual([21, 20])
  })
})

describe('a limit stays cheap', () => {
  const limited = (maxDocuments: number) => open({ items: collection<Item>({ defaultTtl: 1000, maxDocuments }) })

  test('far from it nothing is counted; at it each document costs a look at two indexes', async () => {
    for (const length of [30, 3000]) {
      const { items: far } = limited(1_000_000)
      const { items: near } = limited(length)
      for (const store of [far, near]) await store.upsertMany(items(length))
      await far.get('i0')
      await near.get('i0')
      const { get: _, ...farCost } = await countRequests(() => far.upsert({ id: 'new', group: 1 }))
      expect(farCost).toEqual({ transaction: 1, getKey: 1, put: 2 })
      const { get: __, ...nearCost } = await countRequests(() => near.upsert({ id: 'new', group: 1 }))
      expect(nearCost).toEqual({ transaction: 1, getKey: 1, put: 1, openKeyCursor: 2, delete: 1 })
      expect(await countRecords(() => near.upsert({ id: 'newer', group: 1 }))).toBeLessThanOrEqual(1)
      expect(await near.query().count()).toBe(length)
    }
  })
})
