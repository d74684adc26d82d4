import { collection } from 'mayfly'
import { expect, test } from 'vitest'
import { open } from './support/stores.js'

interface Thing {
  id: string
  value?: unknown
  list?: unknown
}

/** Small as it is, and endless for whoever goes into everything that it holds each time that it is there. */
function nest(width: number, levels: number, bottom: unknown, wrap = (list: unknown[]): unknown => list): unknown {
  let value = bottom
  for (let level = 0; level < levels; level++) value = wrap(Array.from({ length: width }, () => value))
  return value
}

const values: [string, () => unknown][] = [
  ['deep arrays', () => nest(2, 60, 1)],
  ['wide arrays', () => nest(60, 20, 1)],
  ['objects', () => nest(60, 20, 1, (list) => Object.fromEntries(list.entries()))],
  [
    'maps',
    () =>
      nest(
        2,
        60,
        {},
        ([one, other]) =>
          new Map([
            [{}, one],
            [other, 1],
          ]),
      ),
  ],
  ['errors', () => nest(2, 60, 1, ([cause, other]) => [new Error('why', { cause }), other])],
]

test.each(values)('what is in a document again and again is gone through once: %s', async (_, make) => {
  const schema = {
    things: collection<Thing>({ defaultTtl: 60, maxDocuments: 10 }).index('list'),
  }
  const store = open(schema)
  const told: number[] = []
  store.things.query().subscribe((docs) => told.push(docs.length))
  await store.things.create({ id: 'a', value: make(), list: nest(2, 5, 1) })
  await store.things.update('a', (doc) => ({ ...doc, value: [doc.value, doc.value] }))
  await store.things.patch('a', { value: make() })
  await store.things.upsertMany([
    { id: 'b', value: make() },
    { id: 'c', value: [make(), make()] },
  ])
  await store.atomic(({ things }) => things.upsert({ id: 'd', value: make() }))
  await expect.poll(() => told.at(-1)).toBe(4)
  expect(await store.things.query({ where: { value: { exists: true } } }).count()).toBe(4)
  const other = open(schema)
  expect(await other.import(store.export())).toMatchObject({ imported: 4 })
  const [doc] = await other.things.getMany(['b'])
  expect(doc!.value).toBeTypeOf('object')
})

test('what would take a browser ages to make a key of is refused where there is an index', async () => {
  const store = open({
    things: collection<Thing>().index('list'),
    others: collection<Thing>().uniqueIndex('list', 'id'),
  })
  for (const [name, things] of [
    ['things', store.things],
    ['others', store.others],
  ] as const) {
    await things.upsert({ id: 'kept', list: nest(2, 10, 1) })
    for (const list of [nest(2, 60, 1), nest(60, 20, 1)]) {
      const calls = [
        things.create({ id: 'a', list }),
        things.upsert({ id: 'a', list }),
        things.update('kept', (doc) => ({ ...doc, list })),
        things.patch('kept', { list }),
        things.upsertMany([{ id: 'a', list }]),
      ]
      for (const call of calls) {
        await expect(call).rejects.toMatchObject({ code: 'invalid', collection: name })
        await expect(call).rejects.toThrow('list has an index')
      }
    }
    expect((await things.query().get()).map(({ id, list }) => [id, list])).toEqual([['kept', nest(2, 10, 1)]])
    // Without the same again it may be as long as it likes. A browser takes its time to write it.
    await things.upsert({ id: 'b', list: Array.from({ length: 'document' in globalThis ? 1000 : 120_000 }, String) })
  }
})

test('what is asked for is refused where it would have to be gone through again and again', async () => {
  const things = open({ things: collection<Thing>() }).things
  await things.upsert({ id: 'a', list: nest(2, 5, 1) })
  for (const value of [nest(2, 60, 1), nest(60, 20, 1)]) {
    const asked = things.query({ where: { list: value } as never })
    await expect(asked.get()).rejects.toMatchObject({ code: 'invalid', collection: 'things' })
  }
})
