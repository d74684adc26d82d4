import fc from 'fast-check'
import type { Note } from './model.js'

type IfMatch = 'none' | 'known' | 'wrong'

/** Something that a page may ask. */
export type Action =
  | { do: 'create' | 'upsert' | 'replace'; note: Note; ifMatch: IfMatch }
  | { do: 'patch'; id: string; fields: Partial<Note>; ifMatch: IfMatch }
  | { do: 'update'; id: string; add: number; ttl: unknown }
  | { do: 'touch' | 'delete'; id: string; ifMatch: IfMatch }
  | { do: 'createMany' | 'upsertMany'; notes: Note[] }
  | { do: 'deleteMany' | 'getMany'; ids: string[] }
  | { do: 'get' | 'expiresAt'; id: string }
  | { do: 'clear' | 'stats' | 'count' | 'settings' }
  | { do: 'query'; least: number; orderBy: 'n' | 'id' | undefined; order: 'asc' | 'desc'; limit: number }
  | { do: 'setDefaultTtl'; defaultTtl: unknown }

/** A step of a history: calls made in one tick in one of two tabs, or something that happens to them. */
export type Step =
  | { tab: 0 | 1; calls: Action[] }
  | { move: number }
  | { leapBack: number }
  | { sweep: 0 | 1 }
  | { restart: 0 | 1; declared: number | null }

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const ids = fc.array(id, { maxLength: 4 })
const ifMatch = fc.constantFrom<IfMatch>('none', 'none', 'known', 'wrong')
const goodTtl = fc.constantFrom(-1, 1, 2, 5, 10, 0.5)
const badTtl = fc.constantFrom<unknown>(0, -2, NaN, '5', null, Infinity)
const ttl = fc.oneof({ weight: 8, arbitrary: goodTtl }, { weight: 1, arbitrary: badTtl })
const defaultTtl = fc.constantFrom(null, -1, 1, 3, 10, 20)

const fields = fc.record(
  { n: fc.integer({ min: 0, max: 3 }), code: fc.constantFrom('x', 'y'), ttl },
  { requiredKeys: [] },
)
const note = fc.tuple(id, fields).map(([id, rest]): Note => ({ id, ...rest }))
const patch = fc.tuple(fields, fc.subarray(['n', 'code', 'ttl'] as const)).map(([set, removed]): Partial<Note> => ({
  ...set,
  ...Object.fromEntries(removed.map((field) => [field, undefined])),
}))

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constantFrom('create', 'upsert', 'upsert', 'replace'), note, ifMatch }),
  fc.record({ do: fc.constant('patch'), id, fields: patch, ifMatch }),
  fc.record({
    do: fc.constant('update'),
    id,
    add: fc.integer({ min: 1, max: 9 }),
    ttl: fc.oneof(fc.constant(undefined), ttl),
  }),
  fc.record({ do: fc.constantFrom('touch', 'delete'), id, ifMatch }),
  fc.record({ do: fc.constantFrom('createMany', 'upsertMany'), notes: fc.array(note, { maxLength: 4 }) }),
  fc.record({ do: fc.constantFrom('deleteMany', 'getMany'), ids }),
  fc.record({ do: fc.constantFrom('get', 'expiresAt'), id }),
  fc.record({ do: fc.constantFrom('stats', 'count', 'settings', 'stats', 'count', 'clear') }),
  fc.record({
    do: fc.constant('query'),
    least: fc.integer({ min: 0, max: 3 }),
    orderBy: fc.constantFrom('n', 'id', undefined),
    order: fc.constantFrom('asc', 'desc'),
    limit: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({
    do: fc.constant('setDefaultTtl'),
    defaultTtl: fc.oneof(
      { weight: 6, arbitrary: defaultTtl as fc.Arbitrary<unknown> },
      { weight: 1, arbitrary: badTtl.filter((bad) => bad !== null) },
    ),
  }),
) as fc.Arbitrary<Action>

const tab = fc.constantFrom(0, 1)

export interface History {
  declared: number | null
  maxDocuments: number | undefined
  steps: Step[]
}

export const history: fc.Arbitrary<History> = fc.record({
  declared: defaultTtl,
  maxDocuments: fc.constantFrom(undefined, undefined, 2, 3),
  steps: fc.array(
    fc.oneof(
      { weight: 20, arbitrary: fc.record({ tab, calls: fc.array(action, { minLength: 1, maxLength: 5 }) }) },
      {
        weight: 8,
        arbitrary: fc.record({ move: fc.constantFrom(1, 499, 500, 999, 1000, 2000, 4999, 5000, 10_000, 20_000) }),
      },
      { weight: 2, arbitrary: fc.record({ move: fc.constantFrom(-1, -1000, -10_000, -60_000) }) },
      { weight: 1, arbitrary: fc.record({ leapBack: fc.constantFrom(-3_600_000, -86_400_000) }) },
      { weight: 2, arbitrary: fc.record({ sweep: tab }) },
      { weight: 2, arbitrary: fc.record({ restart: tab, declared: defaultTtl }) },
    ),
    { minLength: 5, maxLength: 30 },
  ),
}) as fc.Arbitrary<History>
