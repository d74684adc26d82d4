import type { Contender } from './contender.js'
import { idOf, thing } from './thing.js'
import type { Thing } from './thing.js'

/** Every so-many-th document is compared field by field; of all the others the id is. */
const SAMPLE = 97

/** The very things that were asked for, in that order, with everything that was put into them. */
export function checkThings(found: (Thing | undefined)[], ids: string[]): void {
  same('the number of documents', found.length, ids.length)
  ids.forEach((id, at) => {
    same('an id', found[at]?.id, id)
    if (at % SAMPLE === 0) checkThing(found[at])
  })
}

/** As `checkThings`, for an answer without a promise about its order. */
export function checkRange(found: Thing[], from: number, to: number): void {
  const sorted = found.toSorted((a, b) => a.total - b.total)
  checkThings(
    sorted,
    Array.from({ length: to - from }, (_, at) => idOf(from + at)),
  )
}

export async function checkCount(contender: Contender, count: number): Promise<void> {
  same('the number of documents in the database', await contender.count(), count)
}

export function same(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`Wrong result: ${what} is ${String(found)} instead of ${String(wanted)}.`)
}

function checkThing(found: Thing | undefined): void {
  if (!found) throw new Error('Wrong result: a document is missing.')
  const wanted = thing(found.total)
  for (const key of ['id', 'customer', 'text'] as const) same(key, found[key], wanted[key])
  same('placedAt', found.placedAt.getTime(), wanted.placedAt.getTime())
  same('tags', found.tags.join(), wanted.tags.join())
}
