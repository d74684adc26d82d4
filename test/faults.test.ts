import { collection, MayflyError } from 'mayfly'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { advance } from './support/clock.js'
import { newName, open } from './support/stores.js'

interface Item {
  id: string
  n?: number
  ttl?: number
}

afterEach(() => vi.restoreAllMocks())

const full = () => new DOMException('No space left', 'QuotaExceededError')

/** Makes transactions that write abort at their commit while `fails` says so, as a full disk does. */
function failCommits(error: DOMException | null, fails: () => boolean): { failed: number } {
  const count = { failed: 0 }
  const commit = IDBTransaction.prototype.commit
  vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
    if (this.mode === 'readonly' || !fails()) return commit.call(this)
    count.failed++
    Object.defineProperty(this, 'error', { value: error })
    this.abort()
  })
  return count
}

describe('a transaction that is aborted', () => {
  test('is tried again one operation at a time, so that only the culprit fails', async () => {
    const { items } = open({ items: collection<Item>() })
    await items.upsert({ id: 'before' })
    let commits = 0
    failCommits(new DOMException('Injected', 'UnknownError'), () => [1, 3].includes(++commits))
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => items.upsert({ id })))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({
      reason: { code: 'failed', collection: 'items', cause: { name: 'UnknownError' } },
    })
    expect((await items.query().get()).map(({ id }) => id)).toEqual(['a', 'before', 'c'])
  })
})

describe('full storage', () => {
  test('makes room by deleting what has expired, then writes', async () => {
    const store = open({ items: collection<Item>({ defaultTtl: -1 }), others: collection<Item>() })
    await store.items.upsertMany(Array.from({ length: 1500 }, (_, n) => ({ id: `i${n}`, ttl: n < 1200 ? 5 : 500 })))
    advance(5)
    let isFull = true
    const remove = IDBObjectStore.prototype.delete
    vi.spyOn(IDBObjectStore.prototype, 'delete').mockImplementation(function (this: IDBObjectStore, key) {
      isFull = false
      return remove.call(this, key)
    })
    const count = failCommits(full(), () => isFull)
    expect(await store.others.upsert({ id: 'new' })).toMatchObject({ id: 'new' })
    expect(count.failed).toBe(1)
    expect(await store.items.stats()).toMatchObject({ live: 300, expired: 0 })
  })

  test('is reported as quota when there is no room to be made, and nothing is half written', async () => {
    const { items } = open({ items: collection<Item>({ defaultTtl: -1 }) })
    await items.upsert({ id: 'kept' })
    let isFull = true
    failCommits(full(), () => isFull)
    for (const writing of [items.upsert({ id: 'a' }), items.upsert({ id: 'b' }), items.upsertMany([{ id: 'c' }])]) {
      await expect(writing).rejects.toMatchObject({
        code: 'quota',
        collection: 'items',
        cause: { name: 'QuotaExceededError' },
      })
    }
    expect(await items.get('kept')).toMatchObject({ id: 'kept' })
    isFull = false
    expect(await items.query().count()).toBe(1)
    expect(await items.upsert({ id: 'a' })).toMatchObject({ id: 'a' })
  })

  test('in the middle of many says how many were committed before', async () => {
    const { items } = open({ items: collection<Item>() })
    await items.clear()
    let isFull = false
    failCommits(full(), () => isFull)
    const docs = Array.from({ length: 10_000 }, (_, n) => ({ id: `i${n}` }))
    let committed = 0
    const writing = items.upsertMany(docs, {
      onProgress: ({ done }) => {
        committed = done
        isFull = true
      },
    })
    await expect(writing).rejects.toMatchObject({ code: 'quota' })
    await expect(writing).rejects.toThrow(`The ${committed} before were committed.`)
    isFull = false
    expect(await items.query().count()).toBe(committed)
  })
})

describe('no IndexedDB', () => {
  test('where there is no IndexedDB every call says so', async () => {
    const original = globalThis.indexedDB
    Object.defineProperty(globalThis, 'indexedDB', { value: undefined, configurable: true })
    try {
      const store = open({ items: collection<Item>() })
      await expect(store.ready).rejects.toBeInstanceOf(MayflyError)
      await expect(store.ready).rejects.toMatchObject({ code: 'unavailable' })
      await expect(store.items.get('a')).rejects.toMatchObject({ code: 'unavailable' })
      await store.close()
    } finally {
      Object.defineProperty(globalThis, 'indexedDB', { value: original, configurable: true })
    }
  })
})

describe('a connection that is gone', () => {
  test('is opened again by the next call', async () => {
    const { items } = open({ items: collection<Item>() })
    await items.upsert({ id: 'a' })
    const begin = IDBDatabase.prototype.transaction
    let broken = 1
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
      if (broken-- > 0) throw new DOMException('The database connection is closing.', 'InvalidStateError')
      return begin.apply(this, args)
    })
    expect(await items.get('a')).toMatchObject({ id: 'a' })
    broken = 100
    await expect(items.get('a')).rejects.toMatchObject({ code: 'failed', cause: { name: 'InvalidStateError' } })
    broken = 0
    expect(await items.get('a')).toMatchObject({ id: 'a' })
  })
})

describe('a tab that does not let go', () => {
  async function stubborn(name: string): Promise<IDBDatabase> {
    const first = open({ items: collection<Item>() }, name)
    await first.items.upsert({ id: 'a' })
    await first.close()
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(name)
      request.addEventListener('success', () => resolve(request.result))
      request.addEventListener('error', () => reject(request.error))
    })
  }
  const indexed = { items: collection<Item>().index('n') }

  test('is reported as blocked; the next call tries again', async () => {
    const name = newName()
    const holder = await stubborn(name)
    const store = open(indexed, name, { patience: 0.02 })
    await expect(store.ready).rejects.toMatchObject({ code: 'blocked' })
    await expect(store.items.get('a')).rejects.toThrow(/does not let go.*Close the other tabs.*patience/)
    holder.close()
    await expect.poll(() => store.items.get('a')).toMatchObject({ id: 'a' })
  })

  test('can be waited for', async () => {
    const name = newName()
    const holder = await stubborn(name)
    const store = open(indexed, name, { patience: Infinity })
    const reading = store.items.get('a')
    holder.addEventListener('versionchange', () => holder.close())
    holder.close()
    expect(await reading).toMatchObject({ id: 'a' })
  })

  test('holds up destroy, which says so', async () => {
    const name = newName()
    const holder = await stubborn(name)
    const store = open({ items: collection<Item>() }, name, { patience: 0.02 })
    await store.ready
    await expect(store.destroy()).rejects.toMatchObject({ code: 'blocked' })
    holder.close()
  })
})

describe('destroy', () => {
  test('leaves a database alone that it could not look at', async () => {
    const name = newName()
    const store = open({ items: collection<Item>() }, name)
    await store.items.upsert({ id: 'a' })
    const remove = vi.spyOn(IDBFactory.prototype, 'deleteDatabase')
    vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(() => {
      throw new DOMException('Internal error.', 'UnknownError')
    })
    await expect(store.destroy()).rejects.toMatchObject({ code: 'failed' })
    expect(remove).not.toHaveBeenCalled()
    vi.restoreAllMocks()
    const again = open({ items: collection<Item>() }, name)
    expect(await again.items.get('a')).toMatchObject({ id: 'a' })
  })
})
