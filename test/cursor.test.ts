import { collection } from 'mayfly'
import type { QueryOptions } from 'mayfly'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countRequests } from './support/requests.js'
import { open } from './support/stores.js'

interface Item {
  id: string
  group: string
  n: number
  tags: string[]
}

/** As in browsers that cannot read many records together with their keys. */
const undo: (() => void)[] = []
beforeAll(() => {
  for (const { prototype } of [IDBIndex, IDBObjectStore]) {
    const method = Object.getOwnPropertyDescriptor(prototype, 'getAllRecords')
    if (!method) continue
    delete (prototype as { getAllRecords?: unknown }).getAllRecords
    undo.push(() => Object.defineProperty(prototype, 'getAllRecords', method))
  }
})
afterAll(() => {
  for (const restore of undo) restore()
})

const all: Item[] = Array.from({ length: 60 }, (_, at) => ({
  id: `i${String((at * 37) % 60).padStart(2, '0')}`,
  group: `g${at % 4}`,
  n: at % 10,
  tags: [`t${at % 3}`, `t${at % 5}`],
}))

const byId = (a: Item, b: Item) => (a.id < b.id ? -1 : 1)
const byN = (a: Item, b: Item) => a.n - b.n || byId(a, b)

test.each<[QueryOptions<Item>, (item: Item) => boolean, (a: Item, b: Item) => number]>([
  [{}, () => true, byId],
  [{ where: { group: 'g1' } }, ({ group }) => group === 'g1', byId],
  [{ orderBy: 'n' }, () => true, byN],
  [{ where: { n: { gt: 2, lte: 7 } }, orderBy: 'n' }, ({ n }) => n > 2 && n <= 7, byN],
  [{ where: { group: 'g2', n: { gte: 2 } }, orderBy: 'n' }, ({ group, n }) => group === 'g2' && n >= 2, byN],
  [{ where: { group: { in: ['g0', 'g3'] } }, orderBy: 'n' }, ({ group }) => group === 'g0' || group === 'g3', byN],
  [{ where: { tags: { contains: 't4' } } }, ({ tags }) => tags.includes('t4'), byId],
  [{ where: { id: { gte: 'i20', lt: 'i40' } } }, ({ id }) => id >= 'i20' && id < 'i40', byId],
  [{ where: { or: [{ n: 3 }, { group: 'g0' }] } }, ({ n, group }) => n === 3 || group === 'g0', byId],
])('with cursors, %j gives what a filter and a sort do, in pages too', async (question, matches, order) => {
  const { items } = open({ items: collection<Item>().index('n').index('group', 'n').index('group').index('tags') })
  await items.upsertMany(all)
  for (const direction of ['asc', 'desc'] as const) {
    const sorted = all.filter(matches).toSorted(order)
    const expected = (direction === 'asc' ? sorted : sorted.toReversed()).map(({ id }) => id)
    const asked = { ...question, order: direction }
    expect((await items.query(asked).get()).map(({ id }) => id)).toEqual(expected)
    const paged: string[] = []
    let next: string | undefined
    do {
      const page = await items.query({ ...asked, limit: 7 }).page(next)
      paged.push(...page.items.map(({ id }) => id))
      next = page.next
    } while (next !== undefined)
    expect(paged).toEqual(expected)
  }
  expect(await countRequests(() => items.query({ orderBy: 'n', limit: 3 }).get())).toHaveProperty('openCursor')
})
