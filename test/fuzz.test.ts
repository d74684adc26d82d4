import fc from 'fast-check'
import { collection, MayflyError, openStore } from 'mayfly'
import type { Store } from 'mayfly'
import { expect, inject, test } from 'vitest'
import { anything, hostile, prototypes } from './support/hostile.js'
import { portrait } from './support/portrait.js'
import { newName, open } from './support/stores.js'
import { engineOptions } from './support/workers.js'

interface Thing {
  id: string
  value?: unknown
  ttl?: number
}

const schema = {
  things: collection<Thing>({ defaultTtl: -1 })
    .index('value')
    .index('value', 'id')
    .uniqueIndex('unique' as never),
  none: collection<Thing>({ indexing: 'none' }),
}
const CODES = 'conflict not-found precondition-failed invalid quota blocked closed lost unavailable failed'.split(' ')
const SECRET = 'tOp SeCrEt'

const seed = inject('seed')
const numRuns = inject('runs')
const settings = (share = 1) => ({ seed, numRuns: Math.max(5, Math.ceil(numRuns * share)) })

/** What came of a call; whatever it throws must be an error that is documented, and tells nothing of a document. */
async function outcome(call: () => unknown): Promise<{ value: unknown } | MayflyError> {
  try {
    return { value: await call() }
  } catch (error) {
    if (!(error instanceof MayflyError)) throw new Error(`not a MayflyError: ${String(error)}`, { cause: error })
    expect(CODES).toContain(error.code)
    expect(error.message).not.toContain(SECRET)
    return error
  }
}

async function answers({ things }: Store<typeof schema>): Promise<void> {
  const doc = await things.upsert({ id: 'probe', ttl: -1 })
  expect(await things.get('probe')).toEqual(doc)
  expect(await things.delete('probe')).toBe(true)
}

function clone(value: unknown): { copy: unknown } | undefined {
  try {
    return { copy: structuredClone(value) }
  } catch {
    return undefined
  }
}

test('whatever can be cloned is kept as it is, and whatever cannot is refused', { timeout: 600_000 }, async () => {
  console.log(`fuzz: seed ${seed} (SEED=${seed} repeats it)`)
  const before = prototypes()
  const store = open(schema)
  const other = open(schema)
  const value = fc.oneof({ weight: 4, arbitrary: anything.map((one) => () => one) }, { weight: 1, arbitrary: hostile })
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom('things', 'none'), async (make, name) => {
      const doc = { id: 'a', value: make(), text: SECRET }
      const cloned = clone(doc)
      const result = await outcome(() => store[name].upsert(doc))
      if (!cloned) {
        expect(result).toMatchObject({ code: 'invalid', collection: name, id: 'a' })
        return
      }
      // What is nested too deep is refused by some browsers on the way.
      if (result instanceof MayflyError) {
        expect(['invalid', 'failed']).toContain(result.code)
        return
      }
      const { _ts, _etag, ...back } = (await store[name].get('a'))!
      expect(portrait(back)).toEqual(portrait(cloned.copy))
      const imported = await outcome(() =>
        other.import(store.export({ collections: [name] }), { onConflict: 'replace' }),
      )
      if (imported instanceof MayflyError) {
        expect(imported).toMatchObject({ code: 'invalid', collection: name })
        return
      }
      const { _ts: _, _etag: __, ...again } = (await other[name].get('a'))!
      expect(portrait(again)).toEqual(portrait(back))
    }),
    settings(),
  )
  await answers(store)
  expect(prototypes()).toBe(before)
})

test('every method takes anything, and answers or refuses', { timeout: 600_000 }, async () => {
  const before = prototypes()
  const store = open(schema)
  const methods: Record<string, (...args: never[]) => unknown> = {
    ...Object.fromEntries(
      Object.getOwnPropertyNames(Object.getPrototypeOf(store.things))
        .filter((name) => !['constructor', 'query', 'changes'].includes(name))
        .map((name) => [
          name,
          (...args: never[]) => Reflect.apply(Reflect.get(store.things, name), store.things, args),
        ]),
    ),
    changes: (listener) => store.things.changes(listener)(),
    get: (options) => store.things.query(options).get(),
    first: (options) => store.things.query(options).first(),
    count: (options) => store.things.query(options).count(),
    explain: (options) => store.things.query(options).explain(),
    page: (options, after) => store.things.query(options).page(after),
    subscribe: (options, listener, onError) => store.things.query(options).subscribe(listener, onError)(),
    import: (source, options) => store.import(source, options),
    export: async (options) => {
      const reader = store.export(options).getReader()
      await reader.read()
      await reader.cancel()
    },
    where: (value, option) => store.things.query({ where: { value }, orderBy: option }).get(),
    operators: (value) =>
      store.things.query({ where: { value: { gt: value, in: [value], contains: value } } as never }).get(),
    atomicUpsert: (doc, options) => store.atomic(({ things }) => things.upsert(doc, options)),
    atomicPatch: (id, fields, options) => store.atomic(({ things }) => things.patch(id, fields, options)),
    patchA: (fields, options) => store.things.patch('a', fields, options),
    upsertA: (value, options) => store.things.upsert({ id: 'a', value }, options),
    ttl: (ttl) => store.things.upsert({ id: 'a', ttl }),
    updateA: (value) => store.things.update('a', () => value),
    manyA: (doc, options) => store.things.upsertMany([doc], options),
  }
  const names = Object.keys(methods)
  expect(names.length).toBeGreaterThan(30)
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), fc.array(hostile, { maxLength: 3 }), async (name, makers) => {
      const args = makers.map((make) => make()).filter((one) => !isEndless(one))
      await store.none.upsert({ id: 'a' })
      await store.things.upsert({ id: 'a', value: 1, ttl: -1 })
      // A function of the caller's own may throw what it likes: these are not called.
      const given =
        name.startsWith('atomic') || name === 'update' ? args.map((one) => (typeof one === 'function' ? 5 : one)) : args
      await outcome(() => methods[name]!(...(given as never[])))
      expect(await store.none.query().count()).toBe(1)
      await answers(store)
    }),
    settings(2),
  )
  expect(prototypes()).toBe(before)
})

test('a store opens with anything, or refuses', { timeout: 600_000 }, async () => {
  const before = prototypes()
  const place = engineOptions(inject('engine'))
  await fc.assert(
    fc.asyncProperty(
      hostile,
      hostile,
      fc.constantFrom('name', 'schema', 'options', 'option', 'collection', 'index', 'key'),
      hostile,
      async (makeOne, makeTwo, where, makeThree) => {
        const [one, two, three] = [makeOne(), makeTwo(), makeThree()]
        const name = newName()
        const things = collection<Thing>()
        const opening = {
          name: () => openStore(one as string, { things }, place),
          schema: () => openStore(name, one as never, place),
          options: () => openStore(name, { things }, one as never),
          option: () =>
            openStore(name, { things }, { ...place, durability: one, sweep: two, patience: three } as never),
          collection: () =>
            openStore(name, { things: collection<Thing>({ defaultTtl: one, indexing: two } as never) }, place),
          index: () => openStore(name, { things: collection<Thing>().index(one as never, two as never) }, place),
          key: () => openStore(name, { [typeof one === 'string' ? one : 'x']: things } as never, place),
        }[where]
        const result = await outcome(async () => {
          const store = opening() as Store<{ things: typeof things }>
          // A worker that is none is not waited for.
          if (where === 'options') return store.close()
          return store.ready.then(
            () => store.destroy(),
            () => store.close(),
          )
        })
        if (result instanceof MayflyError) expect(['invalid', 'unavailable', 'failed', 'closed']).toContain(result.code)
      },
    ),
    settings(0.5),
  )
  expect(prototypes()).toBe(before)
})

test('an array that is said to be billions long is kept, and gone through by nobody', async () => {
  const [store, other] = [open(schema), open(schema)]
  const value: unknown[] = []
  // Less in WebKit, which takes minutes to clone so many holes.
  value.length = inject('longest')
  value[5] = 'x'
  await store.none.upsertMany([{ id: 'a', value }])
  expect(await store.none.query({ where: { value: { contains: 'x' } } as never }).get()).toMatchObject([{ id: 'a' }])
  expect(await store.none.query({ orderBy: 'value' }).get()).toEqual([])
  for (const [where, sentence] of [
    [{ value }, 'value is compared with something that cannot be compared'],
    [{ value: { in: value } }, 'value: in takes an array of values'],
    [{ or: value }, 'or takes an array of alternatives'],
  ] as const) {
    const refusal = { code: 'invalid', message: expect.stringContaining(sentence) }
    expect(await outcome(() => store.none.query({ where } as never).get())).toMatchObject(refusal)
  }
  for (const options of [{ collections: value }]) {
    expect(await outcome(() => store.import('', options as never))).toMatchObject({ code: 'invalid' })
  }
  expect(await other.import(store.export())).toMatchObject({ imported: 1 })
  const back = (await other.none.get('a'))!.value as unknown[]
  expect([back.length, Object.keys(back)]).toEqual([inject('longest'), ['5']])
})

test('what one store keeps no other sees, and what is cleared or destroyed is gone', async () => {
  const names = [newName(), newName()]
  const stores = names.map((name) => open(schema, name))
  await Promise.all(stores.map((store, n) => store.things.upsert({ id: 'a', value: n })))
  expect(await Promise.all(stores.map((store) => store.things.query().get()))).toMatchObject([
    [{ value: 0 }],
    [{ value: 1 }],
  ])
  const stop = stores[0]!.things.changes(() => undefined)
  await stores[0]!.things.upsert({ id: 'b', value: SECRET })
  stop()
  // An import that was begun lies on the disk, too.
  let staged!: () => void
  const isStaged = new Promise<void>((resolve) => (staged = resolve))
  const file = await new Response(stores[0]!.export()).text()
  const text = file.split('\n')
  const waiting = new ReadableStream<string>({
    start: (controller) =>
      controller.enqueue(
        `${[text[0], text[1], ...Array.from({ length: 999 }, (_, n) => text[2]!.replaceAll('"b"', `"b${n}"`))].join('\n')}\n`,
      ),
  })
  const stopping = new AbortController()
  const importing = stores[0]!.import(waiting, {
    onConflict: 'replace',
    onProgress: () => staged(),
    signal: stopping.signal,
  })
  await isStaged
  await stores[0]!.things.clear()
  expect(await keysOf(names[0]!, 'things')).toEqual([0])
  stopping.abort()
  expect(await importing).toMatchObject({ imported: 0, stopped: true })
  await stores[0]!.destroy()
  const again = open(schema, names[0]!)
  expect(await again.things.query().count()).toBe(0)
  expect(await stores[1]!.things.query().count()).toBe(1)
})

/** The keys that lie in a collection's object store, whatever they are for. */
async function keysOf(name: string, collection: string): Promise<IDBValidKey[]> {
  const database = await settle(indexedDB.open(name))
  const keys = await settle(database.transaction(collection).objectStore(collection).getAllKeys())
  database.close()
  return keys
}

function settle<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error!)
  })
}

/** A list of billions of documents that are none is refused one by one, which nobody can wait for. */
function isEndless(value: unknown): boolean {
  try {
    return Array.isArray(value) && value.length > 1000
  } catch {
    return false
  }
}
