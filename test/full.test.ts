import { collection } from 'mayfly'
import type { Collection } from 'mayfly'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { advance } from './support/clock.js'
import { Disk, FACES } from './support/disk.js'
import type { Face } from './support/disk.js'
import { settled } from './support/settled.js'
import { newName, open } from './support/stores.js'

interface Item {
  id: string
  n?: number
  ttl?: number
  data?: Uint8Array
}

afterEach(() => vi.restoreAllMocks())

const items = collection<Item>({ defaultTtl: -1 })
const evicting = collection<Item>({ defaultTtl: -1, evict: 'soonest' })

async function idsOf(items: Collection<Item>): Promise<string[]> {
  return (await items.query().get()).map(({ id }) => id)
}

function changesOf(items: Collection<Item>): string[] {
  const told: string[] = []
  items.changes(({ type, id }) => told.push(`${type} ${id}`))
  return told
}

describe.each(Object.keys(FACES) as Face[])('full storage, when %s', (face) => {
  test('is quota, fails what it must and nothing else; reads and deletes go on; with room, so do writes', async () => {
    const store = open({ items, others: items })
    await store.items.upsertMany([{ id: 'a' }, { id: 'b' }])
    const disk = new Disk(face, 1)
    disk.isStrict = true
    const outcomes = await Promise.allSettled([
      store.items.get('a'),
      store.items.upsertMany([{ id: 'x1' }, { id: 'x2' }]),
      store.items.upsert({ id: 'fits' }),
      store.items.upsert({ id: 'late' }),
      store.items.patch('b', { n: 1 }),
      store.items.delete('a'),
      store.items.upsert({ id: 'again' }),
    ])
    const codes = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as { code: string }).code,
    )
    expect(codes).toEqual(['ok', 'quota', 'ok', 'quota', 'quota', 'ok', 'ok'])
    expect(outcomes[3]).toMatchObject({ reason: { collection: 'items', id: 'late' } })
    expect(await idsOf(store.items)).toEqual(['again', 'b', 'fits'])
    const together = store.atomic(({ items, others }) => {
      items.delete('b')
      others.upsert({ id: 'o' })
    })
    await expect(together).rejects.toMatchObject({ code: 'quota' })
    expect(await idsOf(store.items)).toEqual(['again', 'b', 'fits'])
    expect(await idsOf(store.others)).toEqual([])
    expect(await store.items.delete('nobody')).toBe(false)
    await store.items.clear()
    disk.free = 1
    expect(await store.others.upsert({ id: 'o' })).toMatchObject({ id: 'o' })
    expect(await idsOf(store.items)).toEqual([])
  })

  test('deletes what has expired, and tries again, before it evicts anything', async () => {
    const store = open({ evicting, others: items })
    await store.evicting.upsertMany([{ id: 'dead', ttl: 5 }, { id: 'soon', ttl: 6 }, { id: 'ever' }])
    advance(5)
    const disk = new Disk(face, 0)
    disk.isStrict = true
    expect(await store.others.upsert({ id: 'new' })).toMatchObject({ id: 'new' })
    expect(disk.failed).toBeGreaterThan(0)
    expect(await store.evicting.stats()).toMatchObject({ live: 2, expired: 0 })
  })

  test('makes those leave that would expire soonest, of whichever collection, until a write fits', async () => {
    const inheriting = collection<Item>({ defaultTtl: 25, evict: 'soonest' })
    const store = open({ evicting, inheriting, others: items })
    await store.evicting.upsertMany([
      { id: 'e40', ttl: 40 },
      { id: 'e10', ttl: 10 },
      { id: 'e30', ttl: 30 },
      { id: 'ever' },
    ])
    await store.inheriting.upsertMany([
      { id: 'i25' },
      { id: 'i20', ttl: 20 },
      { id: 'i50', ttl: 50 },
      { id: 'ever', ttl: -1 },
    ])
    await store.others.upsert({ id: 'o1', ttl: 1 })
    const told = [changesOf(store.evicting), changesOf(store.inheriting)]
    await store.evicting.get('e40')
    const disk = new Disk(face, -2)
    expect(await store.others.upsert({ id: 'new' })).toMatchObject({ id: 'new' })
    expect(disk.failed).toBeGreaterThanOrEqual(2)
    expect(await idsOf(store.evicting)).toEqual(['e30', 'e40', 'ever'])
    expect(await idsOf(store.inheriting)).toEqual(['ever', 'i50'])
    expect(await idsOf(store.others)).toEqual(['new', 'o1'])
    await settled(() =>
      expect(told.map((one) => one.toSorted())).toEqual([['delete e10'], ['delete i20', 'delete i25']]),
    )
    // What never expires stays, and so does what the batch writes.
    disk.free = -2
    await expect(store.evicting.patch('e30', { n: 1 })).rejects.toMatchObject({ code: 'quota', id: 'e30' })
    expect(await idsOf(store.evicting)).toEqual(['e30', 'ever'])
    expect(await idsOf(store.inheriting)).toEqual(['ever'])
    disk.free = 1
    expect(await store.evicting.patch('e30', { n: 1 })).toMatchObject({ n: 1 })
  })

  test('that leaves no room even for a note tells of what was deleted when there is some', async () => {
    const name = newName()
    const store = open({ items }, name)
    const other = open({ items }, name)
    await store.items.upsertMany([{ id: 'a' }, { id: 'b' }, { id: 'c' }])
    const told = changesOf(other.items)
    const results: string[] = []
    const watched = store.items.query()
    watched.subscribe((docs) => results.push(docs.map(({ id }) => id).join('')))
    await settled(() => expect(results).toEqual(['abc']))
    await other.items.get('a')
    const disk = new Disk(face, -10)
    disk.isStrict = true
    expect(await store.items.delete('a')).toBe(true)
    expect(await store.items.deleteMany(['b'])).toEqual({ deleted: 1, stopped: false })
    await settled(() => expect(results.at(-1)).toBe('c'))
    disk.free = 1
    await store.items.upsert({ id: 'd' })
    await settled(() => expect(told).toEqual(['delete a', 'delete b', 'upsert d']))
    await settled(() => expect(results.at(-1)).toBe('cd'))
  })
})

describe('what may be full storage, or something else,', () => {
  test.each<Face>([
    'the transaction is aborted and the connection closed by force',
    'the transaction is aborted without an error',
  ])('is tried once more before anything is deleted: %s', async (face) => {
    const { evicting: docs } = open({ evicting })
    await docs.upsertMany([
      { id: 'dead', ttl: 1 },
      { id: 'soon', ttl: 5 },
    ])
    advance(1)
    const disk = new Disk(face)
    disk.failing = [1]
    expect(await Promise.all([docs.upsert({ id: 'a' }), docs.upsert({ id: 'b' })])).toHaveLength(2)
    expect(disk.failed).toBe(1)
    expect(await docs.stats()).toMatchObject({ live: 3, expired: 1 })
  })

  test('is not suspected where the engine itself undid the write, nor where the browser says something else', async () => {
    const store = open({ evicting })
    await store.evicting.upsertMany([{ id: 'soon', ttl: 5 }])
    const undone = store.atomic(({ evicting: docs }) => {
      docs.upsert({ id: 'a' })
      docs.create({ id: 'soon' })
    })
    await expect(undone).rejects.toMatchObject({ code: 'conflict' })
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      Object.defineProperty(this, 'error', { value: new DOMException('Injected', 'UnknownError') })
      this.abort()
    })
    await expect(store.evicting.upsert({ id: 'a' })).rejects.toMatchObject({ code: 'failed' })
    vi.restoreAllMocks()
    expect(await idsOf(store.evicting)).toEqual(['soon'])
  })

  test('is not reported as quota for a read or a delete', async () => {
    const store = open({ items })
    await store.items.upsert({ id: 'a' })
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      this.abort()
    })
    await expect(store.items.delete('a')).rejects.toMatchObject({ code: 'failed' })
  })
})

describe('eviction', () => {
  const quota = 'the transaction fails with QuotaExceededError'

  test('ends when much more was given up than is written, in a browser that gives no space back', async () => {
    const { evicting: docs } = open({ evicting })
    const ids = Array.from({ length: 9 }, (_, n) => `big${n}`)
    await docs.upsertMany(ids.map((id, n) => ({ id, ttl: 10 + n, data: new Uint8Array(1_000_000) })))
    const disk = new Disk(quota, -Infinity)
    await expect(docs.upsert({ id: 'new' })).rejects.toMatchObject({ code: 'quota' })
    disk.free = Infinity
    const left = await idsOf(docs)
    expect(left.length).toBeGreaterThan(2)
    expect(left).toEqual(ids.slice(-left.length))
  })

  test('does not happen where it was not asked for', async () => {
    const store = open({ items })
    await store.items.upsert({ id: 'soon', ttl: 5 })
    new Disk(quota, 0)
    await expect(store.items.upsert({ id: 'a' })).rejects.toMatchObject({ code: 'quota' })
    expect(await idsOf(store.items)).toEqual(['soon'])
  })

  test('spares what has no expiry under the present setting', async () => {
    const { evicting: docs } = open({ evicting })
    await docs.upsert({ id: 'soon', ttl: 5 })
    await docs.setDefaultTtl(null)
    const disk = new Disk(quota, 0)
    await expect(docs.upsert({ id: 'a' })).rejects.toMatchObject({ code: 'quota' })
    await docs.get('soon')
    disk.free = 1
    await docs.setDefaultTtl(-1)
    expect(await idsOf(docs)).toEqual(['soon'])
  })

  test('for a batch that fits when a little has left takes a few transactions, not one for each write', async () => {
    const { evicting: docs } = open({ evicting })
    await docs.upsertMany(Array.from({ length: 300 }, (_, n) => ({ id: `i${n}`, ttl: 10 + n })))
    const disk = new Disk(quota, 0)
    await Promise.all(Array.from({ length: 50 }, (_, n) => docs.upsert({ id: `new${n}` })))
    expect(disk.failed).toBeLessThan(4)
    expect(disk.commits).toBeLessThan(10)
    expect((await idsOf(docs)).filter((id) => id.startsWith('new'))).toHaveLength(50)
  })
})
