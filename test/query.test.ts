import { collection } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { open } from './support/stores.js'

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
