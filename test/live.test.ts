import { collection } from 'mayfly'
import type { ChangeOf, Stored } from 'mayfly'
import { describe, expect, test, vi } from 'vitest'
import { advance } from './support/clock.js'
import { settled } from './support/settled.js'
import { newName, open } from './support/stores.js'

interface Item {
  id: string
  n?: number
  group?: string
  ttl?: number
}

const schema = {
  items: collection<Item>({ defaultTtl: -1 }).index('n').index('group', 'n'),
  others: collection<Item>(),
}

/** Keeps every result that a listener was called with, as ids. */
function record() {
  const results: string[][] = []
  const docs: Stored<Item>[][] = []
  return {
    results,
    docs,
    listener: (items: Stored<Item>[]) => {
      results.push(items.map((item) => item.id))
      docs.push(items)
    },
    last: () => results.at(-1)?.join(),
  }
}

/** Resolves when everything that was on its way has come: another subscription has seen a write made after it. */
async function quiet(store: ReturnType<typeof open<typeof schema>>) {
  const id = `quiet-${crypto.randomUUID()}`
  const seen = record()
  const stop = store.others.query({ where: { id } }).subscribe(seen.listener)
  await store.others.upsert({ id })
  await settled(() => expect(seen.last()).toBe(id))
  stop()
}

describe('a live query', () => {
  test('calls with the first result, then once for each change of it, and never when it is the same', async () => {
    const store = open(schema)
    await store.items.upsert({ id: 'a', n: 1 })
    const { listener, results } = record()
    const stop = store.items.query({ where: { n: { gte: 1 } }, orderBy: 'n' }).subscribe(listener)
    await settled(() => expect(results).toEqual([['a']]))
    await store.items.upsert({ id: 'b', n: 0 })
    await quiet(store)
    expect(results).toEqual([['a']])
    await store.items.upsert({ id: 'b', n: 2 })
    await settled(() => expect(results).toEqual([['a'], ['a', 'b']]))
    await store.items.patch('a', { n: 3 })
    await settled(() => expect(results.at(-1)).toEqual(['b', 'a']))
    await store.items.delete('b')
    await settled(() => expect(results.at(-1)).toEqual(['a']))
    await store.items.delete('nobody')
    await quiet(store)
    expect(results).toHaveLength(4)
    stop()
    await store.items.clear()
    await quiet(store)
    expect(results).toHaveLength(4)
  })

  test('sees writes of another tab, and a new setting made there', async () => {
    const name = newName()
    const [here, there] = [open(schema, name), open(schema, name)]
    const { listener, results } = record()
    const stop = here.items.query({ orderBy: 'n', order: 'desc' }).subscribe(listener)
    await settled(() => expect(results).toEqual([[]]))
    await there.items.upsertMany([
      { id: 'a', n: 1 },
      { id: 'b', n: 2, ttl: 5 },
    ])
    await settled(() => expect(results.at(-1)).toEqual(['b', 'a']))
    await there.items.setDefaultTtl(100)
    advance(50)
    await there.items.setDefaultTtl(20)
    await settled(() => expect(results.at(-1)).toEqual([]))
    stop()
  })

  test('a full page is filled up from behind', async () => {
    const store = open(schema)
    await store.items.upsertMany(Array.from({ length: 10 }, (_, n) => ({ id: `i${n}`, n })))
    const { listener, last } = record()
    const stop = store.items.query({ orderBy: 'n', limit: 3 }).subscribe(listener)
    await settled(() => expect(last()).toBe('i0,i1,i2'))
    await store.items.delete('i1')
    await settled(() => expect(last()).toBe('i0,i2,i3'))
    await store.items.patch('i0', { n: 50 })
    await settled(() => expect(last()).toBe('i2,i3,i4'))
    await store.items.upsert({ id: 'new', n: 2.5 })
    await settled(() => expect(last()).toBe('i2,new,i3'))
    await store.items.patch('i2', { n: 2.7 })
    await settled(() => expect(last()).toBe('new,i2,i3'))
    stop()
  })

  test('T23: drops a document at the moment at which it expires, with no write', async () => {
    const store = open(schema)
    const { listener, results } = record()
    const stop = store.items.query().subscribe(listener)
    await store.items.upsert({ id: 'a', ttl: 0.2 })
    await store.items.upsert({ id: 'b' })
    await settled(() => expect(results.at(-1)).toEqual(['a', 'b']))
    advance(0.2)
    await settled(() => expect(results.at(-1)).toEqual(['b']))
    stop()
  })

  test('what has not changed stays the same object', async () => {
    const store = open(schema)
    await store.items.upsertMany([{ id: 'a' }, { id: 'b' }])
    const { listener, docs, last } = record()
    const stop = store.items.query().subscribe(listener)
    await settled(() => expect(last()).toBe('a,b'))
    await store.items.upsert({ id: 'c' })
    await settled(() => expect(last()).toBe('a,b,c'))
    expect(docs[1]![0]).toBe(docs[0]![0])
    expect(docs[1]).not.toBe(docs[0])
    stop()
  })

  test('a burst of writes makes few calls', async () => {
    const store = open(schema)
    const { listener, results } = record()
    const stop = store.items.query().subscribe(listener)
    await settled(() => expect(results).toHaveLength(1))
    await Promise.all(Array.from({ length: 2000 }, (_, n) => store.items.upsert({ id: `i${n}` })))
    await settled(() => expect(results.at(-1)).toHaveLength(2000))
    expect(results.length).toBeLessThanOrEqual(4)
    stop()
  })

  test('a listener that throws does not silence the others, nor itself', async () => {
    const store = open(schema)
    const reported = vi.fn()
    vi.stubGlobal('reportError', reported)
    const { listener, last } = record()
    let calls = 0
    const stops = [
      store.items.query().subscribe(() => {
        calls++
        throw new Error('mine')
      }),
      store.items.query().subscribe(listener),
    ]
    await store.items.upsert({ id: 'a' })
    await settled(() => expect(last()).toBe('a'))
    expect(reported).toHaveBeenCalledTimes(calls)
    expect(calls).toBeGreaterThan(0)
    for (const stop of stops) stop()
    vi.unstubAllGlobals()
  })
})

describe('changes', () => {
  const follow = (store: ReturnType<typeof open<typeof schema>>) => {
    const changes: ChangeOf<Item>[] = []
    const stop = store.items.changes((change) => changes.push(change))
    return { changes, stop, told: () => changes.map(({ type, id }) => `${type} ${id}`) }
  }

  test('every committed change is told once and in order, with the document', async () => {
    const store = open(schema)
    const { changes, told, stop } = follow(store)
    await store.items.upsert({ id: 'a', n: 1 })
    await Promise.all([store.items.patch('a', { n: 2 }), store.items.upsert({ id: 'b' }), store.items.delete('a')])
    await store.items.delete('a')
    await store.items.create({ id: 'b' }).catch(() => undefined)
    await store.items.clear()
    await settled(() => expect(told()).toEqual(['upsert a', 'upsert a', 'upsert b', 'delete a', 'delete b']))
    expect(changes.map((change) => ('doc' in change ? change.doc.n : undefined))).toEqual([
      1,
      2,
      undefined,
      undefined,
      undefined,
    ])
    stop()
    await store.items.upsert({ id: 'c' })
    await quiet(store)
    expect(changes).toHaveLength(5)
  })

  test('three tabs that count one document up hear of every step, in order', async () => {
    const name = newName()
    const tabs = Array.from({ length: 3 }, () => open(schema, name))
    const feeds = tabs.map(follow)
    await Promise.all(tabs.map((tab) => tab.ready))
    await Promise.all(tabs.map((tab) => quiet(tab)))
    await tabs[0]!.items.upsert({ id: 'counter', n: 0 })
    const step = (tab: (typeof tabs)[0]) => tab.items.update('counter', (doc) => ({ ...doc, n: doc.n! + 1 }))
    await Promise.all(tabs.flatMap((tab) => Array.from({ length: 10 }, () => step(tab))))
    for (const { changes } of feeds) {
      await settled(() => expect(changes).toHaveLength(31))
      expect(changes.map((change) => 'doc' in change && change.doc.n)).toEqual(Array.from({ length: 31 }, (_, n) => n))
    }
    for (const { stop } of feeds) stop()
  })

  test('every open tab hears of an expiry once, when it happens', async () => {
    const name = newName()
    const tabs = [open(schema, name), open(schema, name, { sweep: 'idle' })]
    const feeds = tabs.map(follow)
    await Promise.all(tabs.map((tab) => quiet(tab)))
    await tabs[0]!.items.upsertMany([{ id: 'a', ttl: 0.1 }, { id: 'b', ttl: 0.15 }, { id: 'c' }])
    for (const { told } of feeds) await settled(() => expect(told()).toHaveLength(3))
    advance(0.1)
    for (const { told } of feeds) await settled(() => expect(told().slice(3)).toEqual(['expire a']))
    advance(0.05)
    for (const { told } of feeds) await settled(() => expect(told().slice(4)).toEqual(['expire b']))
    await tabs[0]!.items.upsert({ id: 'a' })
    for (const { told, stop } of feeds) {
      await settled(() => expect(told().slice(5)).toEqual(['upsert a']))
      stop()
    }
  })

  test('an expiry that happened while no tab was open is told at the next opening, once', async () => {
    const name = newName()
    const first = open(schema, name)
    await first.items.upsertMany([{ id: 'a', ttl: 5 }, { id: 'b' }])
    await first.close()
    advance(10)
    const second = open(schema, name)
    const { told, stop } = follow(second)
    await settled(() => expect(told()).toEqual(['expire a']))
    stop()
    await second.close()
    const third = open(schema, name)
    const later = follow(third)
    await quiet(third)
    await third.items.upsert({ id: 'a' })
    await settled(() => expect(later.told()).toEqual(['upsert a']))
    later.stop()
  })
})

describe('what expired while no tab was open', () => {
  const both = {
    items: collection<Item>({ defaultTtl: -1 }),
    others: collection<Item>({ defaultTtl: -1 }),
  }

  test('is told to a listener that comes after the background has deleted what nobody asks about', async () => {
    const name = newName()
    const first = open(both, name, { sweep: 'idle' })
    const before: string[] = []
    first.items.changes(({ type, id }) => before.push(`${type} ${id}`))
    await first.items.upsertMany([{ id: 'a', ttl: 5 }, { id: 'b' }])
    await first.others.upsert({ id: 'x', ttl: 5 })
    await settled(() => expect(before).toEqual(['upsert a', 'upsert b']))
    await first.close()
    advance(10)
    const second = open(both, name, { sweep: 'idle' })
    await second.items.get('b')
    let waiting = 1
    while (waiting > 0) waiting = (await second.others.stats()).expired
    expect(await second.items.stats()).toMatchObject({ live: 1, expired: 1 })
    await second.items.upsert({ id: 'c' })
    const told: string[] = []
    const stop = second.items.changes(({ type, id }) => told.push(`${type} ${id}`))
    await settled(() => expect(told).toEqual(['expire a']))
    stop()
    advance(10)
    await second.items.upsert({ id: 'd', ttl: 500 })
    for (waiting = 1; waiting > 0;) waiting = (await second.items.stats()).expired
  })
})

describe('atomic', () => {
  test('writes in several collections, all or not at all', async () => {
    const store = open(schema)
    const { _etag } = await store.items.upsert({ id: 'a', n: 1 })
    const made = await store.atomic(({ items, others }) => {
      items.replace({ id: 'a', n: 2 }, { ifMatch: _etag })
      items.patch('a', { group: 'g' })
      others.upsert({ id: 'x' })
      others.delete('nobody')
    })
    expect(made).toMatchObject([{ n: 2 }, { n: 2, group: 'g' }, { id: 'x' }, false])
    const failing = store.atomic(({ items, others }) => {
      items.delete('a')
      others.upsert({ id: 'y' })
      items.replace({ id: 'nobody' })
      others.delete('x')
    })
    await expect(failing).rejects.toMatchObject({ code: 'not-found', collection: 'items', id: 'nobody' })
    await expect(failing).rejects.toThrow(/number 3 of 4, replace/)
    expect(await store.items.get('a')).toMatchObject({ n: 2, group: 'g' })
    expect(await store.others.getMany(['x', 'y'])).toMatchObject([{ id: 'x' }, undefined])
    const moved = store.atomic(({ items, others }) => {
      others.delete('x')
      items.patch('a', { n: 9 }, { ifMatch: _etag })
    })
    await expect(moved).rejects.toMatchObject({ code: 'precondition-failed', id: 'a' })
    expect(await store.others.get('x')).toBeDefined()
  })

  test('one that fails leaves what else was asked in the same tick alone', async () => {
    const store = open(schema)
    const calls = [
      store.items.upsert({ id: 'before' }),
      store.atomic(({ items }) => {
        items.upsert({ id: 'in' })
        items.create({ id: 'before' })
      }),
      store.items.upsert({ id: 'after' }),
      store.items.query().count(),
    ]
    const all = await Promise.allSettled(calls)
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await store.items.getMany(['before', 'in', 'after'])).toMatchObject([{}, undefined, {}])
    expect(await calls[3]).toBe(2)
  })

  test('a function that is async, or writes too late, is refused', async () => {
    const store = open(schema)
    let kept: { upsert(doc: Item): void } | undefined
    const promising = ({ items }: { items: { upsert(doc: Item): void } }): unknown => {
      items.upsert({ id: 'a' })
      return Promise.resolve()
    }
    await expect(store.atomic(promising)).rejects.toMatchObject({ code: 'invalid' })
    expect(await store.atomic(({ items }) => void (kept = items))).toEqual([])
    expect(() => kept!.upsert({ id: 'a' })).toThrow(/is over/)
    await expect(store.atomic(({ items }) => items.upsert({} as Item))).rejects.toMatchObject({ code: 'invalid' })
    expect(await store.items.query().count()).toBe(0)
  })
})
