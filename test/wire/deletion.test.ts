import { collection, openStore } from 'mayfly'
import type { Store } from 'mayfly'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newName } from '../support/stores.js'

interface Item {
  id: string
  n?: number
  ttl?: number
}

const schema = { items: collection<Item>({ defaultTtl: -1 }), others: collection<Item>({ defaultTtl: -1 }) }
const opened: Store<object>[] = []

beforeEach(() => {
  vi.useRealTimers()
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

function open(name = newName(), sweep: 'idle' | 'manual' = 'idle') {
  const store = openStore(name, schema, { worker: false, sweep })
  opened.push(store)
  return store
}

const gone = { live: 0, expired: 0, nextExpiry: null }

test('T16, T20: what one tab writes is deleted by another when the first does not', async () => {
  const name = newName()
  const [writer, sweeper] = [open(name, 'manual'), open(name)]
  await Promise.all([writer.ready, sweeper.ready])
  await expect.poll(() => sweeper.items.stats()).toEqual(gone)
  await writer.items.upsertMany(Array.from({ length: 50 }, (_, n) => ({ id: `i${n}`, ttl: 0.02 })))
  await expect.poll(() => writer.items.stats()).toEqual(gone)
})

test('T16: what another tab wrote, of which this one has heard nothing, is deleted when somebody comes upon it', async () => {
  const name = newName()
  const [writer, sweeper] = [open(name, 'manual'), open(name)]
  await sweeper.items.upsert({ id: 'first', ttl: 0.02 })
  await expect.poll(() => writer.items.stats()).toEqual(gone)
  vi.spyOn(BroadcastChannel.prototype, 'postMessage').mockImplementation(() => undefined)
  await writer.items.upsertMany(Array.from({ length: 50 }, (_, n) => ({ id: `i${n}`, ttl: 0.02 })))
  await writer.close()
  await expect.poll(() => sweeper.items.stats()).toEqual(gone)
})

test('T17: a collection whose deletion fails is tried again, and does not hold up the other', async () => {
  const store = open()
  await store.ready
  const remove = IDBObjectStore.prototype.delete
  let failures = 0
  vi.spyOn(IDBObjectStore.prototype, 'delete').mockImplementation(function (this: IDBObjectStore, key) {
    if (this.name === 'items' && failures++ < 1) throw new DOMException('Injected', 'UnknownError')
    return remove.call(this, key)
  })
  await store.items.upsert({ id: 'a', ttl: 0.02 })
  await store.others.upsert({ id: 'a', ttl: 0.02 })
  await expect.poll(() => store.others.stats()).toEqual(gone)
  await expect.poll(() => store.items.stats()).toEqual(gone)
  expect(failures).toBeGreaterThan(1)
})

test('T17: requests that come while it deletes are answered, and it finishes', async () => {
  const store = open(undefined, 'manual')
  await store.items.upsertMany(Array.from({ length: 2000 }, (_, n) => ({ id: `i${n}`, n, ttl: n % 2 ? -1 : 0.02 })))
  await expect.poll(async () => (await store.items.stats()).expired).toBe(1000)
  let isOver = false
  const sweeping = store.sweep().finally(() => (isOver = true))
  let answers = 0
  while (!isOver) {
    expect(await store.items.get('i1')).toMatchObject({ n: 1 })
    answers++
  }
  expect(await sweeping).toEqual({ deleted: 1000 })
  expect(answers).toBeGreaterThan(10)
})

test('a page that sleeps lets go of the database, and its store works when it wakes', async () => {
  const [page, frame] = [new EventTarget(), new EventTarget()]
  vi.stubGlobal('document', page)
  vi.stubGlobal('addEventListener', frame.addEventListener.bind(frame))
  const name = newName()
  const store = open(name)
  await store.items.upsert({ id: 'a' })
  const writing = store.items.upsert({ id: 'b' })
  const closing = vi.spyOn(IDBDatabase.prototype, 'close')
  page.dispatchEvent(new Event('freeze'))
  await writing
  await expect.poll(() => closing.mock.calls.length).toBeGreaterThan(0)
  closing.mockRestore()
  // Nothing is in the way of a deletion by somebody who does not ask.
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name)
    request.addEventListener('success', () => resolve())
    request.addEventListener('blocked', () => reject(new Error('blocked')))
  })
  page.dispatchEvent(new Event('resume'))
  await store.items.upsert({ id: 'c', ttl: 0.02 })
  await expect.poll(() => store.items.stats()).toEqual(gone)
})

test('for await reads page by page', async () => {
  const store = open()
  await store.items.upsertMany(Array.from({ length: 1200 }, (_, n) => ({ id: `i${String(n).padStart(4, '0')}`, n })))
  const seen: number[] = []
  for await (const { n } of store.items.query()) seen.push(n!)
  expect(seen).toEqual(Array.from({ length: 1200 }, (_, n) => n))
  let some = 0
  for await (const { n } of store.items.query({ limit: 700 })) some += n! >= 0 ? 1 : 0
  expect(some).toBe(700)
})

test('T8: of 12,000 documents that expire in one millisecond none is left, and none comes back', async () => {
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now })
  const store = open(undefined, 'manual')
  await store.items.upsertMany(Array.from({ length: 12_000 }, (_, n) => ({ id: `i${n}`, ttl: 5 })))
  vi.setSystemTime(now + 5000)
  expect(await store.items.stats()).toMatchObject({ live: 0, expired: 12_000 })
  await store.items.setDefaultTtl(null)
  expect(await store.sweep()).toEqual({ deleted: 12_000 })
  expect(await store.items.query().count()).toBe(0)
})

test('expiry is exact to the millisecond, decades from now too', async () => {
  const now = Date.UTC(2060, 0, 1)
  vi.useFakeTimers({ toFake: ['Date'], now })
  const store = open(undefined, 'manual')
  const docs = Array.from({ length: 3000 }, (_, n) => ({ id: `i${n}`, ttl: 5 }))
  await store.items.upsertMany(docs)
  const times = await Promise.all(docs.map(({ id }) => store.items.expiresAt(id)))
  expect(times.every((time) => time?.getTime() === now + 5000)).toBe(true)
  vi.setSystemTime(now + 4999)
  expect(await store.items.query().count()).toBe(3000)
  vi.setSystemTime(now + 5000)
  expect(await store.items.query().count()).toBe(0)
})

test.each(['close', 'destroy'] as const)('%s right after opening leaves nothing behind', async (end) => {
  for (let round = 0; round < 8; round++) {
    const name = newName()
    await openStore(name, schema, { worker: false })[end]()
    const left = (await indexedDB.databases()).some((database) => database.name === name)
    if (end === 'destroy') expect(left).toBe(false)
  }
})

test('T17: no slice of deletion begins while a request waits, but for one now and then lest it starve', async () => {
  const store = open(undefined, 'manual')
  await store.items.upsertMany(Array.from({ length: 4000 }, (_, n) => ({ id: `i${n}`, n, ttl: n % 2 ? -1 : 0.02 })))
  await expect.poll(async () => (await store.items.stats()).expired).toBe(2000)
  let slices = 0
  const begin = IDBDatabase.prototype.transaction
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
    // Reads begin a transaction that only reads, and nobody writes here.
    if (args[1] === 'readwrite') slices++
    return begin.apply(this, args)
  })
  let isOver = false
  const sweeping = store.sweep().finally(() => (isOver = true))
  const begunMeanwhile: number[] = []
  while (!isOver) {
    const before = slices
    await store.items.get('i1')
    begunMeanwhile.push(slices - before)
    // Between two requests there is room, as in an app that does not ask without pause.
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  expect(await sweeping).toEqual({ deleted: 2000 })
  expect(slices).toBeGreaterThan(1)
  expect(Math.max(...begunMeanwhile)).toBeLessThanOrEqual(1)
})
