import { collection } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { newName, open } from './support/stores.js'

interface Item {
  id: string
  n?: number
}

const schema = { items: collection<Item>({ defaultTtl: 60 }) }

describe('opening', () => {
  test('returns at once: calls wait for it, in order', async () => {
    const store = open(schema)
    const calls = await Promise.all([
      store.items.upsert({ id: 'a' }),
      store.items.get('a'),
      store.items.query().count(),
    ])
    expect(calls).toMatchObject([{ id: 'a' }, { id: 'a' }, 1])
    expect(await store.ready).toBeUndefined()
  })

  test('strict durability behaves the same', async () => {
    const name = newName()
    const store = open(schema, name, { durability: 'strict' })
    await store.items.upsert({ id: 'a' })
    await store.close()
    expect(await open(schema, name).items.get('a')).toMatchObject({ id: 'a' })
  })
})

describe('closing', () => {
  test('lets what was asked finish first', async () => {
    const name = newName()
    const store = open(schema, name)
    const calls = [
      store.items.upsertMany(Array.from({ length: 2500 }, (_, n) => ({ id: `i${n}`, n }))),
      store.items.update('i5', (item) => ({ ...item, n: -1 })),
      store.items.upsert({ id: 'last' }),
    ]
    await store.close()
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
    const again = open(schema, name)
    expect(await again.items.query().count()).toBe(2501)
    expect(await again.items.get('i5')).toMatchObject({ n: -1 })
  })

  test('every method fails alike afterwards, whatever it is given', async () => {
    const store = open(schema)
    const query = store.items.query({ limit: 0 })
    const closing = store.close()
    const calls: Record<string, () => unknown> = {
      sweep: () => store.sweep(),
      atomic: () => store.atomic(undefined as never),
      export: () => store.export(undefined),
      import: () => store.import(undefined as never),
      subscribe: () => query.subscribe(undefined as never),
      get: () => query.get(),
      first: () => query.first(),
      count: () => query.count(),
      page: () => query.page(),
      explain: () => query.explain(),
      iterate: () => query[Symbol.asyncIterator]().next(),
    }
    const verbs = Object.getOwnPropertyNames(Object.getPrototypeOf(store.items)).filter(
      (verb) => !['constructor', 'query'].includes(verb),
    )
    expect(verbs.length).toBeGreaterThan(15)
    const items = store.items as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
    for (const verb of verbs) calls[`items.${verb}`] = () => items[verb]!(undefined, undefined)
    for (const [name, call] of Object.entries(calls)) {
      // Those that give back their undo throw; the others reject.
      const outcome = await (async () => call())().catch((error: unknown) => error)
      expect(outcome, name).toMatchObject({
        name: 'MayflyError',
        code: 'closed',
        message: expect.stringContaining('openStore'),
      })
    }
    await closing
    expect(await store.close()).toBeUndefined()
  })

  test('await using closes', async () => {
    const name = newName()
    let items
    {
      await using store = open(schema, name)
      await store.items.upsert({ id: 'a' })
      items = store.items
    }
    await expect(items.get('a')).rejects.toMatchObject({ code: 'closed' })
  })
})

describe('destroying', () => {
  test('deletes everything, and closes', async () => {
    const name = newName()
    const store = open(schema, name)
    await store.items.upsert({ id: 'a' })
    await store.destroy()
    expect((await indexedDB.databases()).map((database) => database.name)).not.toContain(name)
    await expect(store.items.get('a')).rejects.toMatchObject({ code: 'closed' })
    expect(await open(schema, name).items.query().count()).toBe(0)
  })

  test('works while another tab has it open, which then finds it empty', async () => {
    const name = newName()
    const [one, two] = [open(schema, name), open(schema, name)]
    await one.items.upsert({ id: 'a' })
    await two.items.setDefaultTtl(5)
    await one.destroy()
    expect(await two.items.get('a')).toBeUndefined()
    expect((await two.items.settings()).defaultTtl).toBe(60)
    expect(await two.items.upsert({ id: 'b' })).toMatchObject({ id: 'b' })
  })
})

describe('destroying what cannot be', () => {
  test('a database of another program is left alone', async () => {
    const name = newName()
    const theirs = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(name, 2)
      request.addEventListener('success', () => resolve(request.result))
      request.addEventListener('error', () => reject(request.error))
    })
    theirs.close()
    const store = open(schema, name)
    await expect(store.destroy()).rejects.toMatchObject({ code: 'invalid' })
    expect((await indexedDB.databases()).find((database) => database.name === name)?.version).toBe(2)
  })

  test('a store that is closed says so, and a second close waits for the first', async () => {
    const name = newName()
    const store = open(schema, name)
    const writing = store.items.upsert({ id: 'a' })
    const order: string[] = []
    await Promise.all([
      writing.then(() => order.push('written')),
      store.close().then(() => order.push('closed')),
      store.close().then(() => order.push('closed again')),
      expect(store.destroy()).rejects.toMatchObject({ code: 'closed' }),
    ])
    expect(order).toEqual(['written', 'closed', 'closed again'])
    expect(await open(schema, name).items.get('a')).toMatchObject({ id: 'a' })
  })
})
