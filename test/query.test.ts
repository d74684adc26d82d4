import { collection } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { newName, open } from './support/stores.js'

interface Thing {
  id: string
  value?: unknown
  tags?: unknown[]
  place?: { city?: string }
}

const things: Thing[] = [
  { id: 'array', value: [1, 'b'] },
  { id: 'array-short', value: [1] },
  { id: 'boolean', value: true },
  { id: 'date', value: new Date(5) },
  { id: 'later', value: new Date(9) },
  { id: 'missing' },
  { id: 'null', value: null },
  { id: 'one', value: 1, tags: ['x', 3], place: { city: 'Bern' } },
  { id: 'text', value: 'anchor', place: {} },
  { id: 'text2', value: 'angle', tags: [] },
  { id: 'two', value: 2, tags: ['y', new Date(5)], place: { city: 'Bonn' } },
]

async function filled() {
  const { all } = open({ all: collection<Thing>() })
  await all.upsertMany(things)
  return async (options: object) => (await all.query(options as never).get()).map(({ id }) => id)
}

describe('conditions', () => {
  test.each<[string, object, string[]]>([
    ['a bare number', { value: 1 }, ['one']],
    ['a bare Date', { value: new Date(5) }, ['date']],
    ['a bare boolean', { value: true }, ['boolean']],
    ['null', { value: null }, ['null']],
    ['a bare array', { value: [1, 'b'] }, ['array']],
    ['gt, of numbers alone', { value: { gt: 1 } }, ['two']],
    ['gte', { value: { gte: 1 } }, ['one', 'two']],
    ['lt, of Dates', { value: { lt: new Date(9) } }, ['date']],
    ['lte, of strings', { value: { lte: 'angle' } }, ['text', 'text2']],
    ['gt, of arrays', { value: { gt: [1] } }, ['array']],
    ['a range', { value: { gt: 0, lt: 2 } }, ['one']],
    ['in', { value: { in: [2, 'anchor', null] } }, ['null', 'text', 'two']],
    ['in nothing', { value: { in: [] } }, []],
    ['startsWith', { value: { startsWith: 'an' } }, ['text', 'text2']],
    ['contains a string', { tags: { contains: 'x' } }, ['one']],
    ['contains a Date', { tags: { contains: new Date(5) } }, ['two']],
    ['exists', { tags: { exists: true } }, ['one', 'text2', 'two']],
    ['does not exist', { value: { exists: false } }, ['missing']],
    ['a path', { 'place.city': { startsWith: 'Bo' } }, ['two']],
    ['several fields', { value: { gte: 1 }, 'place.city': 'Bern' }, ['one']],
    ['or', { or: [{ value: 1 }, { value: 'angle' }] }, ['one', 'text2']],
    ['or with a field', { value: 1, or: [{ tags: { contains: 'y' } }, { 'place.city': 'Bern' }] }, ['one']],
    ['or of nothing', { or: [] }, []],
  ])('%s', async (_, where, expected) => {
    const ask = await filled()
    expect(await ask({ where })).toEqual(expected)
  })
})

describe('order', () => {
  const sorted = ['one', 'two', 'date', 'later', 'text', 'text2', 'array-short', 'array']

  test('is IndexedDB’s, and leaves out what has no place in it', async () => {
    const ask = await filled()
    expect(await ask({ orderBy: 'value' })).toEqual(sorted)
    expect(await ask({ orderBy: 'value', order: 'desc' })).toEqual(sorted.toReversed())
    expect(await ask({ order: 'desc', limit: 2 })).toEqual(['two', 'text2'])
  })

  test.each(['asc', 'desc'] as const)('pages %s neither skip nor repeat, over every type', async (order) => {
    const { all } = open({ all: collection<Thing>() })
    await all.upsertMany([
      ...things,
      ...things.map((thing) => ({ ...thing, id: `${thing.id}-again` })),
      { id: 'endless', value: Infinity },
    ])
    for (const orderBy of ['value', undefined] as const) {
      const query = all.query({ ...(orderBy ? { orderBy: orderBy as never } : {}), order, limit: 3 })
      const whole = all.query({ ...(orderBy ? { orderBy: orderBy as never } : {}), order })
      const seen: string[] = []
      let after: string | undefined
      do {
        const page = await query.page(after)
        seen.push(...page.items.map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      expect(seen).toEqual((await whole.get()).map(({ id }) => id))
    }
  })
})

describe('with an index', () => {
  const indexed = () => open({ all: collection<Thing>().index('tags').index('value') }).all

  test('those that agree in it are in the order of their ids, either way', async () => {
    const { all } = open({ all: collection<Thing>().index('tags').index('value').index('value', 'place.city') })
    const ids = ['A', 'B', 'a', 'b']
    await all.upsertMany(ids.map((id) => ({ id, value: 'v', tags: ['x'], place: { city: 'Bern' } })))
    for (const where of [{ value: 'v' }, { tags: { contains: 'x' } }, { value: 'v', 'place.city': 'Bern' }] as const) {
      const found = async (order: 'asc' | 'desc') => (await all.query({ where, order }).get()).map(({ id }) => id)
      expect(await found('asc')).toEqual(ids)
      expect(await found('desc')).toEqual(ids.toReversed())
    }
  })

  test('an array with a hole, or one that contains itself, has its other elements all the same', async () => {
    const all = indexed()
    const loop: unknown[] = ['x']
    loop.push(loop)
    // oxlint-disable-next-line no-sparse-arrays -- This is what is tested.
    await all.upsertMany([
      { id: 'hole', tags: [, 'x'] },
      { id: 'loop', tags: loop },
      { id: 'plain', tags: ['x'] },
    ])
    const query = all.query({ where: { tags: { contains: 'x' } } })
    expect((await query.get()).map(({ id }) => id)).toEqual(['hole', 'loop', 'plain'])
    expect(await query.count()).toBe(3)
  })

  test('nor does it lose them when the index is added later', async () => {
    const name = newName()
    const loop: unknown[] = ['x']
    loop.push(loop)
    const first = open({ all: collection<Thing>() }, name)
    // oxlint-disable-next-line no-sparse-arrays -- This is what is tested.
    await first.all.upsertMany([{ id: 'hole', tags: [, 'x'] }, { id: 'loop', tags: loop }, { id: 'none' }])
    const { all } = open({ all: collection<Thing>().index('tags') }, name)
    const query = all.query({ where: { tags: { contains: 'x' } } })
    expect((await query.get()).map(({ id }) => id)).toEqual(['hole', 'loop'])
    expect(await query.count()).toBe(2)
  })

  test('a count agrees where contains meets another condition on the field', async () => {
    const all = indexed()
    await all.upsertMany([
      { id: 'a', value: 'x' },
      { id: 'b', value: ['x'] },
    ])
    for (const value of [{ contains: 'x', gte: 'a' }, { contains: 'x', in: ['x'] }, { contains: 'x' }]) {
      const query = all.query({ where: { value } })
      expect(await query.count()).toBe((await query.get()).length)
    }
    const byId = all.query({ where: { id: { contains: 'x', lte: 'a' } as never } })
    expect([await byId.count(), (await byId.get()).length]).toEqual([0, 0])
  })

  test('a value that contains itself, or a hole among several, cannot be asked for', async () => {
    const loop: unknown[] = []
    loop.push(loop)
    // oxlint-disable-next-line no-sparse-arrays -- This is what is tested.
    for (const value of [loop, { in: [loop] }, { gt: loop }, { contains: loop }, { in: [, 'x'] as string[] }]) {
      await expect(indexed().query({ where: { value } }).get()).rejects.toMatchObject({ code: 'invalid' })
    }
  })
})
