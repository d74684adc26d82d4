import { collection } from 'mayfly'
import { describe, expect, inject, test, vi } from 'vitest'
import { open } from './support/stores.js'

interface Item {
  id: string
  n: number
}

/** A browser takes its time for so many, and one of the three ways to run the engine in it is enough. */
const MANY = 'document' in globalThis && inject('engine') !== 'worker' ? 20_000 : 100_000

const items = (length: number): Item[] => Array.from({ length }, (_, n) => ({ id: `i${n}`, n }))

const fresh = () => open({ items: collection<Item>({ defaultTtl: 60 }) }).items

describe('many documents', () => {
  test(`${MANY} report their progress, and all are there`, async () => {
    const store = fresh()
    const done: number[] = []
    const result = await store.upsertMany(items(MANY), {
      onProgress: (progress) => {
        expect(progress.total).toBe(MANY)
        done.push(progress.done)
      },
    })
    expect(result).toEqual({ written: MANY, stopped: false })
    expect(done.length).toBeGreaterThan(10)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    expect(done.at(-1)).toBe(MANY)
    expect(await store.query().count()).toBe(MANY)
  })

  test('can be stopped: what was committed stays, and the answer says how many', async () => {
    const store = fresh()
    const stopping = new AbortController()
    const result = await store.upsertMany(items(100_000), {
      signal: stopping.signal,
      onProgress: ({ done }) => {
        if (done >= 5000) stopping.abort()
      },
    })
    expect(result).toEqual({ written: 5000, stopped: true })
    expect(await store.query().count()).toBe(5000)
    expect(await store.get('i4999')).toMatchObject({ n: 4999 })
    const deleting = await store.deleteMany(
      items(5000).map((item) => item.id),
      { signal: stopping.signal },
    )
    expect(deleting).toEqual({ deleted: 0, stopped: true })
  })

  test('a signal that comes after the last part stops nothing', async () => {
    const store = fresh()
    const stopping = new AbortController()
    const result = await store.createMany(items(10), { signal: stopping.signal, onProgress: () => stopping.abort() })
    expect(result).toEqual({ written: 10, stopped: false })
  })

  test('createMany generates ids, and refuses those that are taken, also by one before', async () => {
    const store = fresh()
    expect(await store.createMany([{ n: 1 }, { n: 2 }])).toEqual({ written: 2, stopped: false })
    const writing = store.createMany([
      { id: 'a', n: 1 },
      { id: 'a', n: 2 },
      { id: 'b', n: 3 },
    ])
    await expect(writing).rejects.toMatchObject({ code: 'conflict', id: 'a' })
    const error = await writing.catch((reason: Error) => reason)
    expect((error as Error).cause).toBeInstanceOf(AggregateError)
    expect(((error as Error).cause as AggregateError).errors).toMatchObject([{ code: 'conflict', id: 'a' }])
    expect(await store.getMany(['a', 'b'])).toMatchObject([{ n: 1 }, { n: 3 }])
  })

  test('anything that can be iterated will do, read as it is needed', async () => {
    const store = fresh()
    const stopping = new AbortController()
    let made = 0
    function* endless() {
      for (;;) yield { id: `e${made}`, n: made++ }
    }
    const progress: unknown[] = []
    const result = await store.upsertMany(endless(), {
      signal: stopping.signal,
      onProgress: (step) => {
        progress.push(step)
        if (progress.length === 3) stopping.abort()
      },
    })
    expect(progress).toEqual([{ done: 1000 }, { done: 2000 }, { done: 3000 }])
    expect(result).toEqual({ written: 3000, stopped: true })
    expect(await store.deleteMany(new Set(['e1', 'e2', 'none']))).toEqual({ deleted: 2, stopped: false })
    expect(await store.upsertMany([])).toEqual({ written: 0, stopped: false })
  })

  test('a list is taken as it is when the call is made', async () => {
    const store = fresh()
    const docs = items(3)
    const writing = store.upsertMany(docs)
    docs.length = 0
    expect(await writing).toEqual({ written: 3, stopped: false })
    const ids = ['i0', 'i1']
    const deleting = store.deleteMany(ids)
    ids.length = 0
    expect(await deleting).toEqual({ deleted: 2, stopped: false })
  })

  test('200,000 ids can be asked for at once', async () => {
    const store = fresh()
    await store.upsert({ id: 'i7', n: 7 })
    const found = await store.getMany(Array.from({ length: 200_000 }, (_, n) => `i${n}`))
    expect([found.length, found.filter(Boolean).length, found[7]?.n]).toEqual([200_000, 1, 7])
  })

  test('a listener that throws does not stop the writing', async () => {
    const store = fresh()
    const reported: unknown[] = []
    vi.stubGlobal('reportError', (error: unknown) => reported.push(error))
    const result = await store.upsertMany(items(2), {
      onProgress: () => {
        throw new Error('mine')
      },
    })
    vi.unstubAllGlobals()
    expect([result.written, reported.length]).toEqual([2, 1])
  })

  test('what cannot be iterated is refused', async () => {
    const store = fresh()
    for (const bad of [undefined, null, 5, 'ab', {}]) {
      await expect(store.upsertMany(bad as never)).rejects.toMatchObject({ code: 'invalid' })
      await expect(store.deleteMany(bad as never)).rejects.toMatchObject({ code: 'invalid' })
      await expect(store.getMany(bad as never)).rejects.toMatchObject({ code: 'invalid' })
    }
    await expect(store.deleteMany(['a', ''])).rejects.toMatchObject({ code: 'invalid' })
  })
})
