import { collection } from 'mayfly'
import type { Collection } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { advance } from './support/clock.js'
import { settled } from './support/settled.js'
import { newName, open } from './support/stores.js'

interface Item {
  id: string
  n?: number
  code?: string
  ttl?: number
}

const three = { items: collection<Item>({ defaultTtl: -1, maxDocuments: 3 }).uniqueIndex('code') }

async function idsOf(items: Collection<Item>): Promise<string> {
  const ids = (await items.query().get()).map(({ id }) => id)
  expect(await items.query().count()).toBe(ids.length)
  return ids.join('')
}

describe('maxDocuments', () => {
  test('makes those leave that would expire soonest, own lifetime or inherited, and tells of it', async () => {
    const { items } = open({ items: collection<Item>({ defaultTtl: 50, maxDocuments: 4 }) })
    const told: string[] = []
    const results: string[] = []
    items.changes(({ type, id }) => told.push(`${type} ${id}`))
    items.query().subscribe((docs) => results.push(docs.map(({ id }) => id).join('')))
    for (const item of [{ id: 'a', ttl: 60 }, { id: 'b', ttl: 40 }, { id: 'c' }, { id: 'd', ttl: -1 }])
      await items.upsert(item)
    await items.upsert({ id: 'e', ttl: 1 })
    expect(await idsOf(items)).toBe('acde')
    await items.create({ id: 'f', ttl: 70 })
    expect(await idsOf(items)).toBe('acdf')
    await items.upsert({ id: 'g', ttl: 80 })
    expect(await idsOf(items)).toBe('adfg')
    await items.upsert({ id: 'a', ttl: 90 })
    expect(await idsOf(items)).toBe('adfg')
    await settled(() =>
      expect(told.filter((one) => one.startsWith('delete'))).toEqual(['delete b', 'delete e', 'delete c']),
    )
    await settled(() => expect(results.at(-1)).toBe('adfg'))
  })

  test('refuses what none can make way for, with quota and what to do; it fails alone', async () => {
    const { items } = open(three)
    await items.upsertMany([{ id: 'a' }, { id: 'b', ttl: -1 }])
    const outcomes = await Promise.allSettled([
      items.create({ id: 'c' }),
      items.create({ id: 'd' }),
      items.patch('a', { n: 1 }),
      items.upsert({ id: 'e', ttl: 5 }),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(outcomes[1]).toMatchObject({ reason: { code: 'quota', collection: 'items', id: 'd' } })
    await expect(items.create({ id: 'd' })).rejects.toThrow(/^items\/d: .*3 documents.*maxDocuments.*Delete some/)
    expect(await idsOf(items)).toBe('abc')
    expect(await items.get('a')).toMatchObject({ n: 1 })
    await items.delete('b')
    expect(await items.create({ id: 'd' })).toMatchObject({ id: 'd' })
  })

  test('a write that is refused for another reason makes nobody leave', async () => {
    const { items } = open(three)
    await items.upsertMany([{ id: 'a', code: 'x', ttl: 5 }, { id: 'b', ttl: 6 }, { id: 'c' }])
    await expect(items.create({ id: 'd', code: 'x' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(items.create({ id: 'a' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(items.create({ id: 'd', ttl: 0 })).rejects.toMatchObject({ code: 'invalid' })
    await expect(items.replace({ id: 'd' })).rejects.toMatchObject({ code: 'not-found' })
    expect(await idsOf(items)).toBe('abc')
  })

  test('many are written one after another: the first may make way for the last', async () => {
    const { items } = open(three)
    expect(await items.upsertMany('abcde'.split('').map((id, n) => ({ id, ttl: 10 + n })))).toMatchObject({
      written: 5,
    })
    expect(await idsOf(items)).toBe('cde')
    const writing = items.createMany([{ id: 'f' }, { id: 'g' }, { id: 'h' }, { id: 'i' }])
    await expect(writing).rejects.toMatchObject({ code: 'quota', id: 'i' })
    expect(await idsOf(items)).toBe('fgh')
  })

  test('an atomic write is made as a whole or not, and its own documents do not make way for it', async () => {
    const store = open({ ...three, others: collection<Item>() })
    const { items } = store
    await items.upsertMany([
      { id: 'a', ttl: 5 },
      { id: 'b', ttl: 6 },
      { id: 'c', ttl: 7 },
    ])
    await store.atomic(({ items, others }) => {
      items.create({ id: 'd', ttl: 1 })
      items.patch('a', { n: 1 })
      others.create({ id: 'o' })
    })
    expect(await idsOf(items)).toBe('acd')
    const tooMany = store.atomic(({ items, others }) => {
      others.delete('o')
      for (const id of ['e', 'f', 'g', 'h']) items.create({ id, ttl: 1 })
    })
    await expect(tooMany).rejects.toMatchObject({ code: 'quota', collection: 'items', id: 'h' })
    expect(await idsOf(items)).toBe('acd')
    expect(await store.others.get('o')).toBeDefined()
  })

  test('T6: what has expired does not count, and goes first', async () => {
    const { items } = open(three)
    await items.upsertMany([
      { id: 'a', ttl: 5 },
      { id: 'b', ttl: 5 },
      { id: 'c', ttl: 9 },
    ])
    advance(5)
    await items.create({ id: 'd' })
    await items.create({ id: 'a' })
    expect(await idsOf(items)).toBe('acd')
    await items.create({ id: 'e' })
    expect(await idsOf(items)).toBe('ade')
    await expect(items.create({ id: 'f' })).rejects.toMatchObject({ code: 'quota' })
  })

  test('T6: nor does it while a clock that has leapt is not trusted with deleting it', async () => {
    const { items } = open(three)
    await items.upsertMany([{ id: 'a', ttl: 5 }, { id: 'b', ttl: 5 }, { id: 'c' }])
    advance(4000)
    await items.upsert({ id: 'd' })
    await items.upsert({ id: 'a' })
    expect(await idsOf(items)).toBe('acd')
    await expect(items.create({ id: 'b' })).rejects.toMatchObject({ code: 'quota' })
    expect(await idsOf(items)).toBe('acd')
  })

  test('holds in several tabs at once', async () => {
    const name = newName()
    const tabs = [0, 1, 2].map(() => open(three, name).items)
    await Promise.all(
      tabs.flatMap((items, tab) =>
        Array.from({ length: 20 }, (_, n) => items.upsert({ id: `${tab}-${n}`, ttl: 5 + n })),
      ),
    )
    expect(await tabs[0]!.query().count()).toBe(3)
    await tabs[1]!.clear()
    await Promise.all(tabs.map((items, tab) => items.upsert({ id: `${tab}` })))
    await expect(tabs[2]!.create({ id: 'x' })).rejects.toMatchObject({ code: 'quota' })
    await tabs[0]!.deleteMany(['0', '0', '1'])
    await tabs[2]!.createMany([{ id: 'x' }, { id: 'y' }])
    expect(await idsOf(tabs[1]!)).toBe('2xy')
  })

  test('counts what was written without a limit, by another version of the app too', async () => {
    const name = newName()
    const limited = open(three, name)
    await limited.items.upsert({ id: 'a', ttl: 5 })
    const free = open({ items: collection<Item>({ defaultTtl: -1 }) }, name)
    await free.items.upsertMany('bcdef'.split('').map((id, n) => ({ id, ttl: n < 3 ? 10 + n : -1 })))
    await free.items.delete('a')
    expect(await idsOf(limited.items)).toBe('bcdef')
    // The next write makes the others leave, as far as they can.
    await limited.items.upsert({ id: 'g' })
    expect(await idsOf(limited.items)).toBe('efg')
    await free.items.upsert({ id: 'h', ttl: -1 })
    await limited.items.patch('e', { n: 1 })
    await expect(limited.items.create({ id: 'i' })).rejects.toMatchObject({ code: 'quota' })
    expect(await idsOf(limited.items)).toBe('efgh')
  })

  test('follows the setting: what does not expire under it does not make way', async () => {
    const { items } = open(three)
    await items.upsertMany([{ id: 'a', ttl: 5 }, { id: 'b' }, { id: 'c' }])
    await items.setDefaultTtl(null)
    await expect(items.create({ id: 'd' })).rejects.toMatchObject({ code: 'quota' })
    await items.setDefaultTtl(3)
    await items.create({ id: 'd' })
    expect(await items.getMany(['a', 'd'])).toMatchObject([{ id: 'a' }, { id: 'd' }])
    expect(await items.query().count()).toBe(3)
  })
})
