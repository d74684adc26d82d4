import { collection } from 'mayfly'
import type { ChangeOf } from 'mayfly'
import { describe, expect, test, vi } from 'vitest'
import { advance } from './support/clock.js'
import { settled } from './support/settled.js'
import { newName, open } from './support/stores.js'

interface Item {
  id: string
  n?: number
  ttl?: number
}

const schema = { items: collection<Item>({ defaultTtl: -1 }).index('n'), others: collection<Item>() }

type Items = ReturnType<typeof open<typeof schema>>

function follow(store: Items) {
  const changes: ChangeOf<Item>[] = []
  const stop = store.items.changes((change) => changes.push(change))
  return {
    changes,
    stop,
    told: () => changes.map((change) => `${change.type} ${change.id}${'doc' in change ? ` ${change.doc?.n}` : ''}`),
  }
}

function watch(store: Items, question: object = {}) {
  const results: string[] = []
  const stop = store.items.query(question).subscribe((docs) => results.push(docs.map(({ id }) => id).join()))
  return { results, stop }
}

/** Long enough for whatever is on its way, and a little more. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 150))
}

describe('what is asked in one tick', () => {
  test('a listener and a live query that begin together both hear everything', async () => {
    const store = open(schema)
    const { told } = follow(store)
    const { results } = watch(store)
    await settled(() => expect(results).toEqual(['']))
    await store.items.upsert({ id: 'a', n: 1 })
    await store.items.upsert({ id: 'a', n: 2, ttl: 1 })
    await settled(() => expect(told()).toEqual(['upsert a 1', 'upsert a 2']))
    advance(1)
    await store.items.get('a')
    await settled(() => expect(told()).toEqual(['upsert a 1', 'upsert a 2', 'expire a']))
  })

  test('a listener that joins a live query hears what is written right after', async () => {
    const store = open(schema)
    const { results } = watch(store)
    await settled(() => expect(results).toEqual(['']))
    const { told } = follow(store)
    await store.items.upsert({ id: 'a', n: 1 })
    await store.items.upsert({ id: 'b', n: 2 })
    await settled(() => expect(told()).toEqual(['upsert a 1', 'upsert b 2']))
  })

  test('a listener that takes the place of another misses nothing and hears nothing twice', async () => {
    const name = newName()
    const [here, there] = [open(schema, name), open(schema, name)]
    for (const withAnother of [false, true]) {
      const another = withAnother ? follow(there) : undefined
      const first = follow(here)
      await here.items.upsert({ id: 'a', n: 1 })
      await settled(() => expect(first.told()).toEqual(['upsert a 1']))
      first.stop()
      const second = follow(here)
      await here.items.upsert({ id: 'b', n: 2 })
      await here.items.upsert({ id: 'c', n: 3 })
      await there.items.upsert({ id: 'd', n: 4 })
      await settled(() => expect(second.told()).toContain('upsert d 4'))
      await pause()
      expect(second.told()).toEqual(['upsert b 2', 'upsert c 3', 'upsert d 4'])
      second.stop()
      another?.stop()
      await pause()
    }
  })

  test('a new setting tells of what it has killed before anything takes its place', async () => {
    const store = open(schema)
    await store.items.setDefaultTtl(100)
    const { told } = follow(store)
    await store.items.upsertMany(['a', 'b', 'c'].map((id) => ({ id, n: 1 })))
    advance(10)
    const calls = [
      store.items.setDefaultTtl(5),
      store.items.upsert({ id: 'a', n: 2 }),
      store.items.create({ id: 'b', n: 2 }),
      store.items.delete('c'),
    ]
    expect((await Promise.all(calls))[3]).toBe(false)
    await settled(() => expect(told()).toContain('upsert b 2'))
    await pause()
    expect(told().slice(3).toSorted()).toEqual(['expire a', 'expire b', 'expire c', 'upsert a 2', 'upsert b 2'])
    expect(told().indexOf('expire a')).toBeLessThan(told().indexOf('upsert a 2'))
  })

  test('a new setting, then clear', async () => {
    const store = open(schema)
    await store.items.setDefaultTtl(100)
    const { told } = follow(store)
    await store.items.upsert({ id: 'a', n: 1 })
    advance(10)
    await store.items.upsert({ id: 'b', n: 1 })
    await Promise.all([store.items.setDefaultTtl(5), store.items.clear()])
    await settled(() => expect(told()).toContain('delete b'))
    await pause()
    expect(told()).toEqual(['upsert a 1', 'upsert b 1', 'expire a', 'delete b'])
  })
})

describe('one result', () => {
  test('is told once to a listener that another begins', async () => {
    const store = open(schema)
    const results: string[] = []
    let begun = false
    store.items.query().subscribe(() => {
      if (begun) return
      begun = true
      store.items.query().subscribe((docs) => results.push(docs.map(({ id }) => id).join()))
    })
    await settled(() => expect(results).not.toEqual([]))
    await pause()
    expect(results).toEqual([''])
  })

  test('is not changed by what the writer does with what it was given', async () => {
    const store = open(schema)
    const seen: unknown[] = []
    store.items.query().subscribe((docs) => seen.push(docs[0]?.n))
    store.items.changes((change) => void ('doc' in change && setTimeout(() => seen.push(change.doc.n), 20)))
    await settled(() => expect(seen).toHaveLength(1))
    const doc = await store.items.upsert({ id: 'a', n: 1 })
    doc.n = 99
    await settled(() => expect(seen).toHaveLength(3))
    expect(seen).toEqual([undefined, 1, 1])
  })
})

test('a collection whose list was lost begins again, and the others are left alone', async () => {
  const name = newName()
  const store = open(schema, name)
  const one = watch(store)
  const { told, stop } = follow(store)
  let others = 0
  const stopOthers = store.others.query().subscribe(() => others++)
  await settled(() => expect([one.results.length, others]).toEqual([1, 1]))
  await change(name, 'items', (setting) => ({ ...setting, audience: {} }))
  await store.items.stats()
  await settledLater(async () => expect(await audience(name, 'items')).toBe(1))
  await store.items.upsert({ id: 'a', n: 1 })
  await settled(() => expect([told(), one.results]).toEqual([['upsert a 1'], ['', 'a']]))
  one.stop()
  stop()
  stopOthers()
  await settledLater(async () =>
    expect([await audience(name, 'items'), await audience(name, 'others')]).toEqual([0, 0]),
  )
})

test('a store that was closed while it listened stays closed', async () => {
  for (let delay = 0; delay < 12; delay++) {
    const name = newName()
    const [here, there] = [open(schema, name), open(schema, name)]
    follow(here)
    watch(here)
    await here.items.upsert({ id: 'a', n: 1, ttl: 1 })
    await there.items.upsert({ id: 'b' })
    advance(1)
    void here.items.get('a')
    for (let turn = 0; turn < delay; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
    await here.close()
    await there.close()
    const opened = vi.spyOn(IDBFactory.prototype, 'open')
    await pause()
    expect(opened).not.toHaveBeenCalled()
    opened.mockRestore()
  }
})

async function audience(name: string, of: 'items' | 'others'): Promise<number> {
  let length = 0
  await change(name, of, (setting) => {
    length = Object.keys(setting.audience).length
    return setting
  })
  return length
}

/** Reaches beneath the store. */
async function change(name: string, of: 'items' | 'others', make: (setting: Setting) => Setting): Promise<void> {
  const opening = indexedDB.open(name)
  await new Promise((resolve) => opening.addEventListener('success', resolve))
  const transaction = opening.result.transaction(of, 'readwrite')
  const reading = transaction.objectStore(of).get(0) as IDBRequest<Setting>
  reading.addEventListener('success', () => transaction.objectStore(of).put(make(reading.result), 0))
  await new Promise((resolve) => transaction.addEventListener('complete', resolve))
  opening.result.close()
}

interface Setting {
  audience: Record<string, string>
}

/** As `settled`, of something that has to be waited for. */
async function settledLater(check: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + 20_000; ;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > end) throw error
    }
  }
}
