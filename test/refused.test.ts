import { collection, MayflyError, openStore } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { newName, open } from './support/stores.js'

interface Thing {
  id: string
  value?: unknown
  ttl?: number
}

const fresh = () => open({ things: collection<Thing>({ defaultTtl: 60 }).index('value') }).things

/** The document is refused by every verb that takes one, each time with the same words, and nothing is written. */
async function refused(doc: unknown, says: RegExp, place: object = {}) {
  const things = fresh()
  const kept = await things.upsert({ id: 'kept' })
  const calls = [
    () => things.upsert(doc as Thing),
    () => things.create(doc as Thing),
    () => things.replace(doc as Thing),
    () => things.update('kept', () => doc as Thing),
    () => things.upsertMany([doc as Thing]),
    () => things.createMany([doc as Thing]),
  ]
  for (const call of calls) {
    const error: unknown = await call().then(
      () => 'resolved',
      (reason) => reason,
    )
    expect(error).toBeInstanceOf(MayflyError)
    expect(error).toMatchObject({ name: 'MayflyError', code: 'invalid', collection: 'things', ...place })
    expect((error as Error).message).toMatch(says)
    expect((error as Error).message).toMatch(/^things/)
  }
  expect(await things.query().get()).toEqual([kept])
}

/** All that an error says, and what it was caused by. */
function told(error: unknown): string[] {
  if (!(error instanceof Error || error instanceof DOMException)) return [String(error)]
  const { cause, errors = [] } = error as Partial<AggregateError>
  // Behind its own text the stack shows the code that was called, which is not the document's.
  const stack = String(error.stack)
    .split('\n')
    .filter((line) => !/^ *at |@/.test(line))
  return [error.message, String(error), ...stack, ...[cause, ...(errors as unknown[])].flatMap(told)]
}

describe('a bad document is refused, and nothing is written', () => {
  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'text'],
    ['a number', 5],
    ['an array', [{ id: 'a' }]],
    ['a Date', new Date()],
    ['a Map', new Map([['id', 'a']])],
  ])('one that is not an object: %s', async (_, doc) => {
    await refused(doc, /a document is an object with an id, and this is/)
  })

  test.each<[string, unknown, RegExp]>([
    ['empty', '', /the id is empty/],
    ['a number', 5, /an id is a string, and this one is a Number/],
    ['null', null, /an id is a string, and this one is null/],
    ['an object', {}, /an id is a string/],
    ['too long', 'x'.repeat(1024), /longer than 1023 bytes/],
    ['too long in bytes', 'ü'.repeat(512), /longer than 1023 bytes/],
  ])('one whose id is %s', async (_, id, says) => {
    await refused({ id, value: 1 }, says)
  })

  test('one without an id, unless create can give it one', async () => {
    const things = fresh()
    for (const call of [things.upsert({} as Thing), things.replace({} as Thing), things.upsertMany([{} as Thing])]) {
      await expect(call).rejects.toMatchObject({ code: 'invalid', collection: 'things' })
      await expect(call).rejects.toThrow('has no id')
    }
    expect(await things.query().count()).toBe(0)
  })

  class Lazy {
    id = 'kept'
    get value(): number {
      throw new Error('not yet')
    }
  }

  test.each<[string, unknown]>([
    ['a function', { id: 'kept', value: () => 1 }],
    ['a symbol', { id: 'kept', value: Symbol('x') }],
    ['a promise', { id: 'kept', value: Promise.resolve() }],
    ['a WeakMap', { id: 'kept', value: [new WeakMap()] }],
    ['a class with a getter that throws', new Lazy()],
    [
      'an object with a getter that throws',
      {
        id: 'kept',
        get value() {
          throw new Error('no')
        },
      },
    ],
  ])('one that cannot be cloned: %s', async (_, doc) => {
    await refused(doc, /things\/kept: this cannot be stored/, { id: 'kept', cause: expect.anything() })
  })

  test('one that cannot be cloned, without telling what is in it', async () => {
    const store = open({ things: collection<Thing>(), others: collection<Thing>() })
    const { things } = store
    await things.upsert({ id: 'kept' })
    const named = (target: object) => Object.defineProperty(target, 'name', { value: 'secret' })
    const values = [() => 'secret', Symbol('secret'), class secret {}, named(new WeakMap()), new Proxy({}, {})]
    for (const value of values) {
      const doc: Thing = { id: 'kept', value: { secret: [value] } }
      const calls = [
        () => things.create(doc),
        () => things.upsert(doc),
        () => things.replace(doc),
        () => things.update('kept', () => doc),
        () => things.patch('kept', { value }),
        () => things.upsertMany([doc, doc]),
        () => things.createMany([doc]),
        () => store.atomic((write) => write.things.upsert(doc)),
      ]
      for (const call of calls) {
        const error: unknown = await call().then(
          () => 'resolved',
          (reason) => reason,
        )
        expect(error).toBeInstanceOf(MayflyError)
        expect(told(error).join('\n')).not.toMatch(/secret/)
      }
    }
  })

  // Node has no DOM to take a node from.
  if (typeof document !== 'undefined') {
    test('one that holds a DOM node', async () => {
      await refused({ id: 'kept', value: document.body }, /things\/kept: this cannot be stored/, { id: 'kept' })
    })
  }

  test('one that is its own ancestor is fine', async () => {
    const things = fresh()
    const cycle: Thing = { id: 'cycle' }
    cycle.value = [cycle]
    await things.upsert(cycle)
    const touched = (await things.touch('cycle')) && (await things.patch('cycle', { ttl: 5 }))
    for (const back of [touched, await things.get('cycle')]) {
      expect(back && (back.value as unknown[])[0]).toBe(back)
    }
  })

  test('the text of the error carries the id and no content', async () => {
    const secret = 'very secret'
    const error = await fresh()
      .upsert({ id: 'a', value: { [secret]: () => secret } })
      .catch((reason: Error) => reason)
    expect((error as Error).message).not.toContain(secret)
  })
})

describe('ids are checked by every verb that takes one', () => {
  test.each([undefined, null, '', 5, {}, 'x'.repeat(1024)])('%s', async (bad) => {
    const things = fresh()
    const id = bad as string
    const calls = [
      things.get(id),
      things.getMany([id]),
      things.delete(id),
      things.deleteMany([id]),
      things.touch(id),
      things.patch(id, {}),
      things.update(id, (doc) => doc),
      things.expiresAt(id),
    ]
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'invalid', collection: 'things' })
  })
})

describe('a bad patch is refused, and nothing is written', () => {
  test.each<[string, unknown]>([
    ['id', { id: 'b' }],
    ['_ts', { _ts: 5 }],
    ['_etag', { _etag: 'x', value: 2 }],
    ['constructor', { constructor: 'x' }],
    ['__proto__, as JSON has it', JSON.parse('{"__proto__": {"admin": true}}')],
    ['__proto__, as a literal has it', { __proto__: { admin: true } }],
    ['nothing', undefined],
    ['null', null],
    ['an array', ['x']],
    ['a string', 'x'],
    ['a function', { value: () => 1 }],
    ['a bad ttl', { ttl: 0 }],
  ])('%s', async (_, patch) => {
    const things = fresh()
    const before = await things.upsert({ id: 'a', value: 1 })
    const patching = things.patch('a', patch as Partial<Thing>)
    await expect(patching).rejects.toMatchObject({ code: 'invalid', collection: 'things', id: 'a' })
    expect(await things.get('a')).toEqual(before)
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  test('an object without a prototype is a plain one', async () => {
    const things = fresh()
    await things.upsert({ id: 'a' })
    expect(await things.patch('a', Object.assign(Object.create(null), { value: 2 }))).toMatchObject({ value: 2 })
  })
})

describe('an indexed field that cannot be a key', () => {
  test('is stored, and is simply not in that index', async () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    const values = [null, undefined, true, {}, NaN, new Date(NaN), [null], cycle, new Map(), 5n, /x/]
    const store = open({ things: collection<Thing>().index('value').index('value', 'id').uniqueIndex('value') })
    await store.things.upsertMany(values.map((value, at) => ({ id: `v${at}`, value })))
    await store.things.upsertMany(values.map((value, at) => ({ id: `w${at}`, value })))
    expect(await store.things.query().count()).toBe(values.length * 2)
    expect((await store.things.query({ where: { value: true } as never }).get()).map((doc) => doc.id)).toEqual([
      'v2',
      'w2',
    ])
  })
})

describe('options and functions that are none', () => {
  test('are refused as bad input', async () => {
    const things = fresh()
    await things.upsert({ id: 'a' })
    const { proxy, revoke } = Proxy.revocable({ id: 'a' }, {})
    revoke()
    const calls = [
      things.upsert({ id: 'a' }, null as never),
      things.delete('a', 5 as never),
      things.upsertMany([], null as never),
      things.deleteMany(['a'], 5 as never),
      things.update('a', undefined as never),
      things.upsert(proxy),
      things.upsertMany([proxy]),
    ]
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'invalid', collection: 'things' })
    expect(await things.query().count()).toBe(1)
  })
})

describe('ifMatch', () => {
  test('must be a string', async () => {
    const things = fresh()
    await things.upsert({ id: 'a' })
    await expect(things.replace({ id: 'a' }, { ifMatch: 5 as never })).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('a bad declaration is refused at once', () => {
  const things = collection<Thing>()

  test.each([undefined, null, '', 5, {}])('a store called %s', (name) => {
    expect(() => openStore(name as string, { things })).toThrow(MayflyError)
    expect(() => openStore(name as string, { things })).toThrow('a store needs a name')
  })

  test.each([
    '',
    '$x',
    'ready',
    'close',
    'destroy',
    'sweep',
    'atomic',
    'then',
    'constructor',
    'toString',
    'hasOwnProperty',
  ])('a collection called “%s”', (name) => {
    const opening = () => openStore('any', { [name]: things })
    expect(opening).toThrow(MayflyError)
    expect(opening).toThrow(/^(: )?.*a collection (needs a name|cannot be called)/)
  })

  test('anything that is not a description', () => {
    for (const schema of [undefined, null, { things: {} }, { things: null }, { things: 5 }]) {
      expect(() => openStore('any', schema as never)).toThrow(MayflyError)
    }
    expect(() => openStore('any', { things }, { durability: 'lazy' as never })).toThrow('durability')
    expect(() => openStore('any', { things }, { worker: 5 as never })).toThrow('worker')
    expect(() => collection({ indexing: 'lazy' as never })).toThrow('indexing')
    expect(() => collection({ evict: 'latest' as never })).toThrow("evict is 'soonest'")
    for (const maxDocuments of [0, -1, 1.5, NaN, Infinity, '5', null]) {
      expect(() => collection({ maxDocuments: maxDocuments as never })).toThrow(
        'maxDocuments is a whole number above 0',
      )
    }
    for (const option of [{ evict: 'soonest' as const }, { maxDocuments: 5 }]) {
      expect(() => collection({ ...option, indexing: 'none' })).toThrow("nothing expires with indexing: 'none'")
    }
    for (const path of ['', 'a-b', 'a..b', '.a', 'a b', '1a', '𝒜', '℘', 'a·', 5, undefined]) {
      expect(() => collection<Thing>().index(path as never)).toThrow('cannot be indexed')
    }
    expect(() => (collection<Thing>().index as (...paths: never[]) => unknown)()).toThrow('at least one field')
  })
})

describe('a bad query is refused when it is asked', () => {
  test.each<unknown>([
    null,
    5,
    { wher: {} },
    { where: 5 },
    { where: { value: undefined } },
    { where: { value: NaN } },
    { where: { value: () => 1 } },
    { where: { value: {} } },
    { where: { value: { like: 'x' } } },
    { where: { value: { constructor: 'x' } } },
    { where: { value: { gt: undefined } } },
    { where: { value: { in: 'abc' } } },
    { where: { value: { startsWith: 5 } } },
    { where: { value: { exists: 'yes' } } },
    { where: { or: {} } },
    { where: { or: [5] } },
    { orderBy: 5 },
    { orderBy: '' },
    { order: 'up' },
    { limit: 0 },
    { limit: 1.5 },
    { limit: '5' },
  ])('%o', async (options) => {
    const query = fresh().query(options as never)
    for (const call of [query.get(), query.first(), query.count(), query.page(), query.explain()]) {
      await expect(call).rejects.toMatchObject({ code: 'invalid', collection: 'things' })
    }
  })

  test.each(['', 'x', '{}', '[5]', '["a","b","c"]', '["a"]x', '["a", {"date": "x"}]'])(
    'a page after %s',
    async (after) => {
      const things = fresh()
      await expect(things.query().page(after)).rejects.toMatchObject({ code: 'invalid' })
      await expect(things.query({ orderBy: 'value' }).page(after)).rejects.toMatchObject({ code: 'invalid' })
    },
  )
})

describe('a database that some other program made', () => {
  test.each([0, 1])('is left as it is, with %s object stores', async (stores) => {
    const name = newName()
    const theirs = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(name, 3)
      request.onupgradeneeded = () => {
        if (stores) request.result.createObjectStore('things').put('treasure', 'key')
      }
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
    const store = open({ things: collection<Thing>() }, name)
    await expect(store.ready).rejects.toMatchObject({ code: 'invalid' })
    await expect(store.things.upsert({ id: 'a' })).rejects.toThrow(/made by another program.*another name/)
    await store.close()
    expect([theirs.version, theirs.objectStoreNames.length]).toEqual([3, stores])
    theirs.close()
  })
})
