import fc from 'fast-check'
import type { Question } from './naive.js'
import { item, question } from './questions.js'
import type { Item } from './questions.js'

/** A write, as it may be made by itself or as a part of an atomic one. */
export type Write =
  | { do: 'create' | 'upsert' | 'replace'; item: Item }
  | { do: 'patch'; id: string; fields: Partial<Item> }
  | { do: 'touch' | 'delete'; id: string }

export type Call =
  | Write
  | { do: 'update'; id: string; a: unknown }
  | { do: 'createMany' | 'upsertMany'; items: Item[] }
  | { do: 'deleteMany'; ids: string[] }
  | { do: 'atomic'; writes: Write[] }
  | { do: 'clear' }
  | { do: 'setDefaultTtl'; defaultTtl: number | null }
  | { do: 'watch'; question: Question }
  | { do: 'unwatch'; nth: number }
  | { do: 'follow' | 'unfollow' }

/** Calls of one tick in one tab, or something that happens to tabs. A move is in milliseconds. */
export type Happening =
  | { tab: number; calls: Call[] }
  | { move: number }
  | { sweep: number }
  | { reopen: number; declared: number | null; isKilled: boolean }
  | { close: number }
  | { quiet: true }

const PLAIN = { noNullPrototype: true }
const few = ['a', 'ab', 'b', 'c', 'd', 'e']
const id = fc.constantFrom(...few)
/** Few ids, so that they meet. */
const some = fc.tuple(item, id).map(([item, id]): Item => ({ ...item, id }))
const items = fc.array(some, { maxLength: 5 })
const fields = item.map(({ id: _id, ...fields }): Partial<Item> => fields)
const defaultTtl = fc.constantFrom(null, -1, 1, 3, 20)

const write = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('upsert'), item: some }, PLAIN) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('create', 'replace'), item: some }, PLAIN) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('patch'), id, fields }, PLAIN) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('touch', 'delete'), id }, PLAIN) },
) as fc.Arbitrary<Write>

const asked = fc.oneof(
  { weight: 2, arbitrary: question },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        orderBy: fc.constantFrom('a', 'b', '_ts', 'id'),
        order: fc.constantFrom('asc', 'desc'),
        limit: fc.constantFrom(1, 2, 3),
      },
      { ...PLAIN, requiredKeys: [] },
    ),
  },
) as fc.Arbitrary<Question>

const call = fc.oneof(
  { weight: 12, arbitrary: write },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('update'), id, a: fc.constantFrom(0, 1, 'a') }, PLAIN) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('createMany', 'upsertMany'), items }, PLAIN) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteMany'), ids: fc.array(id, { maxLength: 4 }) }, PLAIN) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('atomic'), writes: fc.array(write, { minLength: 1, maxLength: 4 }) }, PLAIN),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'clear' }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('setDefaultTtl'), defaultTtl }, PLAIN) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('watch'), question: asked }, PLAIN) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('unwatch'), nth: fc.nat(5) }, PLAIN) },
  { weight: 3, arbitrary: fc.constant({ do: 'follow' }) },
  { weight: 1, arbitrary: fc.constant({ do: 'unfollow' }) },
) as fc.Arbitrary<Call>

const tab = fc.nat(2)

const happening = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({ tab, calls: fc.array(call, { minLength: 1, maxLength: 5, size: 'max' }) }, PLAIN),
  },
  { weight: 6, arbitrary: fc.record({ move: fc.constantFrom(1, 499, 500, 1000, 2000, 3000, 20_000) }, PLAIN) },
  { weight: 1, arbitrary: fc.record({ move: fc.constantFrom(-1, -500, -5000) }, PLAIN) },
  { weight: 2, arbitrary: fc.record({ sweep: tab }, PLAIN) },
  {
    weight: 2,
    arbitrary: fc.record(
      { reopen: tab, declared: defaultTtl, isKilled: fc.constantFrom(false, false, false, true) },
      PLAIN,
    ),
  },
  { weight: 1, arbitrary: fc.record({ close: tab }, PLAIN) },
  { weight: 3, arbitrary: fc.constant({ quiet: true }) },
) as fc.Arbitrary<Happening>

export const listening = fc.record({
  declared: defaultTtl,
  happenings: fc.array(happening, { minLength: 4, maxLength: 24, size: 'max' }),
})
