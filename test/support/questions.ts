import fc from 'fast-check'
import { START } from './clock.js'
import type { Question, Where } from './naive.js'

/** A document as it is written. Its fields may hold anything. */
export interface Item {
  id: string
  a?: unknown
  b?: unknown
  c?: unknown
  o?: { x?: unknown; y?: unknown; length?: unknown }
  ttl?: number
}

export interface Index {
  paths: string[]
  unique?: true
}

/** Something that happens to a collection between questions; a move is in seconds. */
export type Step = { upsert: Item[] } | { delete: string[] } | { move: number }

type Values = fc.Arbitrary<unknown>

/** Objects as people write them, any of whose fields may be left out. */
const OPTIONAL = { requiredKeys: [], noNullPrototype: true } satisfies fc.RecordConstraints<never>
const REQUIRED = { noNullPrototype: true }

// Few values of each kind, so that documents agree with each other and with what is asked.
const number = fc.constantFrom(0, 1, 2, -0, -1, 1.5, Infinity, -Infinity)
const date = fc.constantFrom(...[0, 1, 2, -1].map((time) => new Date(time)))
/** By UTF-16 units a pair of surrogates comes before U+FF5E, by characters after it. */
const TEXTS = [
  'a',
  'ab',
  '',
  'abc',
  'b',
  '1',
  'a\uffff',
  'a\uffff\uffff',
  '\uffff',
  '\uffff\uffff',
  '😀',
  '\ud83d',
  '\uff5e',
]
const text = fc.constantFrom(...TEXTS)
const ordered = fc.oneof(number, number, text, text, date)
const flag = fc.constantFrom(true, false, null)

const placeless: Values = fc.constantFrom<unknown[]>(
  NaN,
  new Date(NaN),
  new Uint8Array([1]),
  new Uint8Array(),
  new Uint8Array([1, 2]).buffer,
  undefined,
  {},
  { x: 1 },
  new Map([['x', 1]]),
  1n,
)

// What the fields mostly hold. The fewer the values, the more an index that begins with the field leaves to its others.
const few: Values = fc.constantFrom<unknown[]>(0, 1, 'a')
const some: Values = fc.constantFrom<unknown[]>(0, 1, 'a', 'ab', new Date(0), [1])
const mixed: Values = fc.constantFrom<unknown[]>(
  0,
  1,
  2,
  'a',
  'ab',
  true,
  null,
  new Date(0),
  new Date(1),
  [],
  [1],
  [1, 2],
)

const lists = (element: Values) => fc.array(element, { maxLength: 3 })
const sortedLists = lists(
  fc.oneof({ weight: 4, arbitrary: few }, { weight: 3, arbitrary: ordered }, { weight: 1, arbitrary: lists(ordered) }),
)
const mixedLists = lists(
  fc.oneof({ weight: 4, arbitrary: ordered }, flag, placeless, lists(fc.oneof(ordered, flag, placeless))),
)

/** IndexedDB may take an array that stands in another twice for a cycle, which is no key. */
const twice = [1]
const cycle: unknown[] = [1]
cycle.push(cycle)
const oddLists = fc.constantFrom<unknown[][]>([], [[]], [1, 1], [[1], 1], [twice, twice], [1, 'a', 1], cycle, [, 1])

const anything: Values = fc.oneof(
  { weight: 6, arbitrary: ordered as Values },
  { weight: 2, arbitrary: flag },
  { weight: 2, arbitrary: placeless },
  { weight: 4, arbitrary: sortedLists },
  { weight: 1, arbitrary: mixedLists },
  { weight: 2, arbitrary: oddLists },
)

/** The first and the last of their kind, and what lies just beside a kind. */
const edges: Values = fc.constantFrom<unknown[]>(
  -Infinity,
  Infinity,
  -0,
  new Date(-8.64e15),
  new Date(8.64e15),
  '',
  '\uffff\uffff',
  [],
  [Infinity],
  [[]],
  [[[1]]],
  null,
  true,
)

const mostly = (usual: Values, weight = 3): Values =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: edges }, { weight: 1, arbitrary: anything })

/** What IndexedDB's own paths lead into, and ours do not: a length, a message, a field that an array carries. */
const strangers = fc.constantFrom<unknown[]>(
  'text',
  [1],
  Object.assign(['carries x'], { x: 1 }),
  Object.assign(['carries x'], { x: [1] }),
  new Error('a'),
  new Map([['x', 1]]),
  null,
  5,
)

const inner: Values = fc.record({ x: mostly(some), y: few, length: few }, OPTIONAL)
const o = fc.oneof({ weight: 5, arbitrary: inner }, { weight: 1, arbitrary: strangers })

const id = fc.constantFrom(...TEXTS.filter((text) => text !== ''), ...'cdefghijklmnABC'.split(''), 'aa', '10', 'é')
const ttl = fc.constantFrom(1, 2, -1, 0.5, 5)

/** Half of them inherit their time to live. */
const lifetime: fc.Arbitrary<{ ttl?: number }> = fc.oneof(fc.constant({}), fc.record({ ttl }, REQUIRED))
const contents = fc.record({ a: mostly(few, 6), b: mostly(some), c: mostly(mixed, 2), o }, OPTIONAL)

export const item = fc
  .tuple(id, contents, lifetime)
  .map(([id, contents, lifetime]) => ({ id, ...contents, ...lifetime }) as Item)

export const items = fc.array(item, { maxLength: 40, size: 'max' })

/** What a question may compare with. What has no order is allowed, and matches at most itself. */
const comparable: Values = fc.oneof(
  { weight: 8, arbitrary: ordered as Values },
  { weight: 2, arbitrary: flag },
  { weight: 2, arbitrary: sortedLists },
  { weight: 1, arbitrary: lists(fc.oneof(ordered, flag)) },
  { weight: 1, arbitrary: fc.constantFrom<unknown[][]>([], [[]], [twice, twice], [, 1]) },
)

/** They may be of different kinds, or the wrong way round. */
function between(bound: Values): Values {
  const lower = fc.constantFrom('gt', 'gte')
  const upper = fc.constantFrom('lt', 'lte')
  return fc.tuple(lower, bound, upper, bound).map(([from, least, to, most]) => ({ [from]: least, [to]: most }))
}

/** More than anybody looks up one by one, above all where there are two such lists. */
const MANY = Array.from({ length: 70 }, (_, n) => n)

/** Such as many documents meet, so that several fields can be asked for at once and still something be found. */
const wide: Values = fc.constantFrom<unknown[]>(
  { gte: 0 },
  { lte: 1 },
  { gt: -1, lt: Infinity },
  { gte: 'a' },
  { lt: 'b' },
  { gte: new Date(0) },
  { gte: [] },
  { startsWith: '' },
  { startsWith: 'a' },
  { in: [0, 'a', new Date(0), true] },
  { in: ['ab', 1, 'a', 0] },
  { in: MANY },
  { exists: true },
  { exists: true, lte: 1 },
)

/** A condition on a field that mostly holds these. */
function condition(usual: Values): Values {
  const operand = fc.oneof(
    { weight: 6, arbitrary: usual },
    { weight: 1, arbitrary: edges },
    { weight: 1, arbitrary: comparable },
  )
  const operators: [weight: number, name: string, operand: Values][] = [
    [2, 'gt', operand],
    [3, 'gte', operand],
    [2, 'lt', operand],
    [3, 'lte', operand],
    [6, 'in', fc.array(operand, { maxLength: 5, size: 'max' })],
    [2, 'startsWith', fc.oneof({ weight: 2, arbitrary: fc.constantFrom('a', '') }, { weight: 1, arbitrary: text })],
    [2, 'contains', fc.oneof({ weight: 2, arbitrary: fc.constantFrom(1, 'a') }, { weight: 1, arbitrary: operand })],
    [2, 'exists', fc.boolean()],
  ]
  const operator = fc.oneof(
    ...operators.map(([weight, name, operand]) => ({ weight, arbitrary: operand.map((value) => ({ [name]: value })) })),
  )
  const several = fc.array(operator, { minLength: 2, maxLength: 4 }).map((all): object => Object.assign({}, ...all))
  return fc.oneof(
    { weight: 8, arbitrary: operand },
    { weight: 8, arbitrary: operator },
    { weight: 8, arbitrary: wide },
    { weight: 2, arbitrary: between(operand) },
    { weight: 2, arbitrary: fc.oneof(...[number, text, date, sortedLists].map(between)) },
    { weight: 1, arbitrary: several },
  )
}

/** Moments at which a document may have been written. */
const moment = fc.constantFrom(...[0, 0.5, 1, 2, 3].map((seconds) => START / 1000 + seconds))

const CONDITIONS: [weight: number, path: string, condition: Values][] = [
  [12, 'a', condition(few)],
  [9, 'b', condition(some)],
  [6, 'c', condition(mixed)],
  [6, 'o.x', condition(some)],
  [3, 'id', condition(id)],
  [2, 'o.y', condition(few)],
  [2, '_ts', condition(moment)],
  [1, 'ttl', condition(ttl)],
  [1, 'o', condition(ordered)],
  [1, 'o.length', condition(number)],
  [1, 'o.message', condition(text)],
  [1, 'c.length', condition(number)],
  [1, 'c.0', condition(ordered)],
  [1, 'constructor', condition(text)],
]

const entry = fc.oneof(
  ...CONDITIONS.map(([weight, path, condition]) => ({ weight, arbitrary: fc.tuple(fc.constant(path), condition) })),
)

function fields(least: number, most: number): fc.Arbitrary<Where> {
  const entries = fc.uniqueArray(entry, { minLength: least, maxLength: most, selector: ([path]) => path })
  return entries.map((entries) => Object.fromEntries(entries))
}

/** What an index of several fields serves: the first by equality, the next by a range, or the other way round. */
const prefix: fc.Arbitrary<Where> = fc
  .tuple(
    fc.constantFrom(['a', 'b'], ['b', 'a'], ['a', 'o.x'], ['a', 'b', 'c'], ['a', 'id']),
    fc.oneof({ weight: 3, arbitrary: few }, { weight: 2, arbitrary: condition(few) }),
    fc.oneof(wide, condition(some)),
    fc.oneof(wide, condition(mixed)),
  )
  .map(([paths, ...all]) => Object.fromEntries(paths.map((path, at) => [path, all[at]])))

/** What several alternatives have in common, so that a document can meet more than one. */
const equality: fc.Arbitrary<Where> = fc
  .tuple(fc.constantFrom('a', 'b', 'c', 'o.x'), few)
  .map(([path, value]) => ({ [path]: value }))

/** Some fields and, now and then, alternatives that may have alternatives themselves. */
function wheres(depth: number): fc.Arbitrary<Where> {
  const plain = [
    { weight: 8, arbitrary: fields(1, 1) },
    { weight: 4, arbitrary: equality },
    { weight: 10, arbitrary: prefix },
    { weight: 3, arbitrary: fields(2, 2) },
    { weight: 1, arbitrary: fields(0, 4) },
  ]
  if (depth === 0) return fc.oneof(...plain)
  const inner = wheres(depth - 1)
  const or = fc.oneof(
    { weight: 12, arbitrary: fc.array(inner, { minLength: 1, maxLength: 4 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Where[][]>(
        [],
        MANY.map((a) => ({ a })),
        Array.from({ length: 501 }, (_, n) => ({ a: n % 70 })),
      ),
    },
  )
  const alternatives = fc
    .tuple(fc.oneof(fc.constant<Where>({}), fields(0, 1)), or)
    .map(([and, or]): Where => ({ ...and, or }))
  return fc.oneof(...plain, { weight: 8, arbitrary: alternatives })
}

const path = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom('a', 'b', 'c', 'o.x', 'id', '_ts') },
  { weight: 1, arbitrary: fc.constantFrom('ttl', 'o', 'o.y', 'o.length', 'c.length', 'nowhere') },
)
const ordering: fc.Arbitrary<Question> = fc.oneof(fc.constant({}), fc.record({ orderBy: path }, REQUIRED))
const order = fc.constantFrom<('asc' | 'desc')[]>('asc', 'desc')
const limit = fc.constantFrom(1, 2, 3, 5, 100)

export const question = fc
  .tuple(fc.record({ where: wheres(2), order, limit }, OPTIONAL), ordering)
  .map(([asked, ordering]): Question => ({ ...asked, ...ordering }))

/** Only what holds the id can be unique among such documents. */
const INDEXES: Index[] = [
  { paths: ['a'] },
  { paths: ['b'] },
  { paths: ['c'] },
  { paths: ['o.x'] },
  { paths: ['a', 'b'] },
  { paths: ['b', 'a'] },
  { paths: ['a', 'b', 'c'] },
  { paths: ['a', 'o.x'] },
  { paths: ['a', 'id'], unique: true },
  { paths: ['id'] },
  { paths: ['_ts'] },
  { paths: ['o.length'] },
  { paths: ['o.message', 'a'] },
]

export const manyIndexes = fc.subarray(INDEXES, { minLength: 6 })

export const indexes = fc.oneof(fc.subarray(INDEXES, { maxLength: 5 }), manyIndexes)

export const defaultTtl = fc.constantFrom(null, -1, 1, 3)

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ upsert: fc.array(item, { minLength: 1, maxLength: 4 }) }, REQUIRED) },
  { weight: 1, arbitrary: fc.record({ delete: fc.array(id, { minLength: 1, maxLength: 4 }) }, REQUIRED) },
  { weight: 3, arbitrary: fc.record({ move: fc.constantFrom(0.5, 1, 2, 0.001, 0.999) }, REQUIRED) },
)

/** What a condition says of the value that its document holds, so that the document meets it. */
const towards = {
  same: (value: unknown) => value,
  oneOf: (value: unknown) => ({ in: [value, null] }),
  oneOfTwice: (value: unknown) => ({ in: [value, 1, value] }),
  from: (value: unknown) => ({ gte: value }),
  upTo: (value: unknown) => ({ lte: value }),
  fromTheFirst: (value: unknown) => ({ gte: endsOf(value)[0] }),
  upToTheLast: (value: unknown) => ({ lte: endsOf(value)[1] }),
  there: () => ({ exists: true }),
}

/** Nothing of the kind that is stored here lies outside of these. */
function endsOf(value: unknown): [unknown, unknown] {
  if (typeof value === 'number') return [-Infinity, Infinity]
  if (typeof value === 'string') return ['', '\uffff\uffff\uffff']
  if (Array.isArray(value)) return [[], [[[[]]]]]
  return value instanceof Date ? [new Date(-8.64e15), new Date(8.64e15)] : [value, value]
}

const COMPOUND = INDEXES.filter(({ paths }) => paths.length > 1 && paths[0] !== 'o.message')

const towardsOne = fc.constantFrom(...(Object.keys(towards) as (keyof typeof towards)[]))
const aim = fc.record({
  target: fc.nat(),
  paths: fc.constantFrom(...COMPOUND.map(({ paths }) => paths)),
  first: fc.oneof({ weight: 3, arbitrary: fc.constant('same' as const) }, { weight: 1, arbitrary: towardsOne }),
  others: fc.tuple(towardsOne, towardsOne),
  isAny: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  isOrdered: fc.constantFrom(false, false, true),
  order,
})

/** Values that differ from what lies beside them in an index of several fields, under few first ones. */
const edge = fc.oneof(edges, some)
const edgy = fc
  .tuple(id, few, fc.record({ b: edge, c: edge, o: fc.record({ x: edge }, OPTIONAL) }, OPTIONAL))
  .map(([id, a, rest]) => ({ id, a, ...rest }) as Item)

/** Documents with indexes, and questions about them: what is random by itself seldom meets two fields of one document at once. */
export const aimed = fc
  .tuple(
    fc.subarray(COMPOUND, { minLength: 2 }),
    fc.array(edgy, { minLength: 1, maxLength: 30, size: 'max' }),
    fc.array(aim, { maxLength: 40, size: 'max' }),
  )
  .map(([indexes, items, aims]) => ({
    indexes,
    items,
    questions: aims.map(({ target, paths, first, others, isAny, isOrdered, order }): Question => {
      const doc = items[target % items.length]!
      const conditions = paths.map((path, at) => {
        const value = path === 'o.x' ? doc.o?.x : doc[path as 'a']
        const towardsIt = towards[[first, ...others][at]!]
        return { [path]: value === undefined ? { exists: false } : towardsIt(value) }
      })
      const where: Where = isAny ? { or: conditions } : Object.assign({}, ...conditions)
      return isOrdered ? { where, order, orderBy: paths.at(-1)! } : { where, order }
    }),
  }))
