import { forceCloseDatabase } from 'fake-indexeddb'
import { collection } from 'mayfly'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { settled } from '../support/settled.js'
import { newName, open } from '../support/stores.js'

interface Item {
  id: string
  n?: number
}

const schema = { items: collection<Item>({ defaultTtl: -1 }) }

afterEach(() => vi.restoreAllMocks())

/** The connections that are opened from now on. */
function connections(): Set<IDBDatabase> {
  const seen = new Set<IDBDatabase>()
  const begin = IDBDatabase.prototype.transaction
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
    seen.add(this)
    return begin.apply(this, args)
  })
  return seen
}

/** As a browser does when site data are cleared, or its process for databases has crashed: transactions are aborted. */
function closeByForce(databases: Set<IDBDatabase>, transaction?: IDBTransaction): void {
  const closing = [...databases]
  databases.clear()
  for (const database of closing) forceCloseDatabase(database as never)
  transaction?.abort()
}

/** The next commit is made, but the browser closes the connection before it says so. */
function closeAtCommit(databases: Set<IDBDatabase>): void {
  const commit = IDBTransaction.prototype.commit
  const spy = vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
    if (this.mode === 'readonly') return commit.call(this)
    spy.mockRestore()
    const abort = this.onabort
    this.oncomplete = () => {
      closeByForce(databases)
      abort?.call(this, new Event('abort'))
    }
    commit.call(this)
  })
}

/** As a browser closes a connection: at first it refuses to begin anything, and a little later it says why. */
function beginToClose(database: IDBDatabase): { end: () => void; refused: () => number } {
  let refused = 0
  database.transaction = () => {
    refused++
    throw new DOMException('The database connection is closing.', 'InvalidStateError')
  }
  return { end: () => forceCloseDatabase(database as never), refused: () => refused }
}

function listenTo(store: ReturnType<typeof open<typeof schema>>) {
  const told: string[] = []
  store.on('recreated', () => told.push('recreated'))
  store.on('reconnected', () => told.push('reconnected'))
  return told
}

describe('a connection that the browser closes by force', () => {
  test('comes back by itself, and the store says so', async () => {
    const databases = connections()
    const store = open(schema)
    const told = listenTo(store)
    await store.items.upsert({ id: 'a' })
    closeByForce(databases)
    await settled(() => expect(told).toEqual(['reconnected']))
    expect(await store.items.get('a')).toMatchObject({ id: 'a' })
    expect(told).toEqual(['reconnected'])
  })

  test('is waited for once it refuses to begin anything, and each time the store says so', async () => {
    const databases = connections()
    const name = newName()
    const store = open(schema, name)
    const told = listenTo(store)
    await store.items.upsert({ id: 'a' })
    for (let round = 1; round <= 2; round++) {
      const [database] = databases
      databases.clear()
      const { end, refused } = beginToClose(database!)
      const writing = store.items.upsert({ id: `b${round}` })
      await settled(() => expect(refused()).toBeGreaterThan(0))
      end()
      expect(await writing).toMatchObject({ id: `b${round}` })
      await settled(() => expect(told).toHaveLength(round))
    }
    expect(told).toEqual(['reconnected', 'reconnected'])
    expect(await store.items.query().count()).toBe(3)
  })

  test.each([1, 2, 3])('while it is being opened is waited for, and opened again: at its step %i', async (step) => {
    const name = newName()
    await open(schema, name).items.upsert({ id: 'a' })
    const begin = IDBDatabase.prototype.transaction
    let steps = 0
    const spy = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (
      this: IDBDatabase,
      ...args
    ) {
      if (++steps !== step) return begin.apply(this, args)
      spy.mockRestore()
      setTimeout(beginToClose(this).end)
      return this.transaction(...args)
    })
    const store = open(schema, name)
    const told = listenTo(store)
    expect(await store.items.get('a')).toMatchObject({ id: 'a' })
    expect(await store.persistence).toBe('disk')
    expect(steps).toBe(step)
    expect(told).toEqual([])
  })

  test('in the middle of a commit that was not made costs nothing: it is looked up, and done again', async () => {
    const databases = connections()
    const { items } = open(schema)
    await items.upsert({ id: 'a' })
    const commit = IDBTransaction.prototype.commit
    const spy = vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      if (this.mode === 'readonly') return commit.call(this)
      spy.mockRestore()
      closeByForce(databases, this)
    })
    const outcomes = await Promise.allSettled([items.create({ id: 'b' }), items.get('a')])
    expect(outcomes).toMatchObject([{ value: { id: 'b' } }, { value: { id: 'a' } }])
    expect(await items.get('b')).toMatchObject({ id: 'b' })
  })

  test('in the middle of a commit that was made is looked up, and not done again', async () => {
    const databases = connections()
    const { items } = open(schema)
    await items.upsert({ id: 'a' })
    closeAtCommit(databases)
    const [made, read] = await Promise.all([items.create({ id: 'b' }), items.get('a')])
    expect([made.id, read?.id]).toEqual(['b', 'a'])
    expect((await items.get('b'))?._etag).toBe(made._etag)
  })

  test('so is a deletion, whether it was made or not', async () => {
    const databases = connections()
    const { items } = open(schema)
    await items.upsertMany([{ id: 'a' }, { id: 'b' }])
    closeAtCommit(databases)
    expect(await Promise.all([items.delete('b'), items.get('a')])).toMatchObject([true, { id: 'a' }])
    expect(await items.getMany(['a', 'b'])).toMatchObject([{ id: 'a' }, undefined])
  })

  test('in the middle of a commit of which nothing tells leaves writes lost, and repeats reads', async () => {
    const databases = connections()
    const { items } = open(schema)
    await items.upsert({ id: 'a' })
    closeAtCommit(databases)
    const outcomes = await Promise.allSettled([items.setDefaultTtl(60), items.get('a')])
    expect(outcomes).toMatchObject([
      { reason: { name: 'MayflyError', code: 'lost', collection: 'items' } },
      { value: { id: 'a' } },
    ])
    expect(await items.upsert({ id: 'c' })).toMatchObject({ id: 'c' })
  })

  test('before the commit costs nothing: what was asked is done on the next connection', async () => {
    const databases = connections()
    const { items } = open(schema)
    await items.upsert({ id: 'a' })
    const put = IDBObjectStore.prototype.put
    const spy = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, ...args) {
      const request = put.apply(this, args)
      spy.mockRestore()
      closeByForce(databases, this.transaction)
      return request
    })
    const outcomes = await Promise.allSettled([items.upsert({ id: 'b' }), items.get('a')])
    expect(outcomes).toMatchObject([{ value: { id: 'b' } }, { value: { id: 'a' } }])
    expect(await items.query().count()).toBe(2)
  })
})

describe('a database that is gone', () => {
  test('is made anew; the store says so, and live queries and listeners go on', async () => {
    const name = newName()
    const [one, two] = [open(schema, name), open(schema, name)]
    const told = listenTo(one)
    await one.items.upsertMany([{ id: 'a' }, { id: 'b' }])
    const results: string[] = []
    const changes: string[] = []
    one.items.query().subscribe((found) => results.push(found.map(({ id }) => id).join()))
    one.items.changes(({ type, id }) => changes.push(`${type} ${id}`))
    await settled(() => expect(results).toEqual(['a,b']))
    await two.destroy()
    expect(await one.items.get('a')).toBeUndefined()
    expect(told).toEqual(['recreated'])
    await settled(() => expect(results.at(-1)).toBe(''))
    await one.items.upsert({ id: 'c' })
    await settled(() => expect([results.at(-1), changes.at(-1)]).toEqual(['c', 'upsert c']))
    expect(told).toEqual(['recreated'])
  })

  test('is noticed by every store of a page, and not told of to one that is opened later', async () => {
    const name = newName()
    const stores = [open(schema, name), open(schema, name)]
    const told = stores.map(listenTo)
    await Promise.all(stores.map((store) => store.ready))
    await open(schema, name).destroy()
    for (const store of stores) await store.items.get('a')
    expect(told).toEqual([['recreated'], ['recreated']])
    const late = open(schema, name)
    const heard = listenTo(late)
    await late.items.get('a')
    expect(heard).toEqual([])
  })
})

describe('a database that cannot be opened for a moment', () => {
  test('is tried again with growing pauses', async () => {
    const factory = IDBFactory.prototype.open
    let failing = 3
    vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(function (this: IDBFactory, ...args) {
      if (failing-- > 0)
        throw new DOMException('Internal error opening backing store for indexedDB.open.', 'UnknownError')
      return factory.apply(this, args)
    })
    const { items } = open(schema)
    expect(await items.upsert({ id: 'a' })).toMatchObject({ id: 'a' })
  })

  test('is not tried for ever: the call fails, and the next one tries again', async () => {
    const broken = new DOMException('Internal error opening backing store for indexedDB.open.', 'UnknownError')
    const spy = vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(() => {
      throw broken
    })
    const { items } = open(schema)
    await expect(items.get('a')).rejects.toMatchObject({ code: 'failed', cause: { name: 'UnknownError' } })
    expect(spy.mock.calls.length).toBeGreaterThan(3)
    spy.mockRestore()
    expect(await items.get('a')).toBeUndefined()
  })
})

describe('store.on', () => {
  test('returns its undo, refuses what is no event, and a listener that throws silences nobody', async () => {
    const name = newName()
    const store = open(schema, name)
    const reported: unknown[] = []
    vi.stubGlobal('reportError', (error: Error) => reported.push(error.message))
    const told: string[] = []
    store.on('recreated', () => {
      throw new Error('mine')
    })
    store.on('recreated', () => told.push('kept'))
    store.on('recreated', () => told.push('undone'))()
    await store.ready
    await open(schema, name).destroy()
    await store.items.get('a')
    expect([told, reported]).toEqual([['kept'], ['mine']])
    vi.unstubAllGlobals()
    expect(() => store.on('close' as never, () => undefined)).toThrow(/no event close.*'recreated'/)
    expect(() => store.on('recreated', undefined as never)).toThrow(/needs a function/)
    await store.close()
    expect(() => store.on('recreated', () => undefined)).toThrow(expect.objectContaining({ code: 'closed' }))
  })
})

describe('persistence', () => {
  test('is the disk where there is one, also with a fallback', async () => {
    expect(await open(schema).persistence).toBe('disk')
    expect(await open(schema, newName(), { fallback: 'memory' }).persistence).toBe('disk')
    expect(() => open(schema, newName(), { fallback: 'cloud' as never })).toThrow(/fallback is 'memory'/)
  })
})
