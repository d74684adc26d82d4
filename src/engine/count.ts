import type { Question } from '../protocol.js'
import { census, countDead } from './census.js'
import { keysOf, matches, waysFor, wayToAll } from './find.js'
import type { Way } from './plan.js'
import { result, results } from './request.js'
import type { Shelf } from './shelf.js'
import { Sieve } from './stream.js'

/** How many live documents match. Where an index knows that by its keys, no document is read. */
export async function count(shelf: Shelf, question: Question): Promise<number> {
  const { where = {}, orderBy } = question
  if (orderBy === undefined && Object.keys(where).length === 0) return (await census(shelf)).live
  const exact = waysFor(shelf, question).find((way) => way.isExact)
  if (!exact) return tally(shelf, question)
  const [dead, all] = await Promise.all([countDead(shelf), exact.mayRepeat ? undefined : countKeys(shelf, exact)])
  if (dead === 0 && all !== undefined) return all
  const ids = new Set(await keysOf(shelf, exact))
  if (dead > 0) for (const id of await deadIds(shelf)) ids.delete(id)
  return ids.size
}

async function tally(shelf: Shelf, question: Question): Promise<number> {
  const sieve = new Sieve(question)
  let matching = 0
  for await (const { rows } of matches(shelf, await wayToAll(shelf, question, sieve), sieve)) matching += rows.length
  return matching
}

async function countKeys({ store }: Shelf, { branches }: Way): Promise<number> {
  const requests = branches.flatMap(({ source, range, ids }) => {
    if (ids) return ids.map((id) => result(store.count(id)))
    return [result((source.name === null ? store : store.index(source.name)).count(range))]
  })
  return (await Promise.all(requests)).reduce((sum, one) => sum + one, 0)
}

export async function deadIds(shelf: Shelf): Promise<string[]> {
  const requests = shelf.graves().map(({ index, range }) => index.getAllKeys(range))
  return ((await results(requests)) as string[][]).flat()
}
