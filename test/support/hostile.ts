import fc from 'fast-check'

/** Plain data of every kind, and what is almost that. */
export const anything = fc.anything({
  maxDepth: 3,
  maxKeys: 4,
  key: fc.oneof(
    fc.string(),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'toJSON', 'then', 'length', '$', 'id', 'ttl', '_ts'),
  ),
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withNullPrototype: true,
  withObjectString: true,
})

class Plain {
  readonly field = 1
}

class Lazy {
  get field(): number {
    throw new Error('not yet')
  }
}

const refuse = (): never => {
  throw new Error('no')
}

/** A proxy that throws whatever is done with it. */
function trap(target: object): object {
  const traps = ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor', 'set', 'deleteProperty']
  return new Proxy(target, Object.fromEntries(traps.map((name) => [name, refuse])))
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

function cycle(): unknown[] {
  const list: unknown[] = []
  list.push(list)
  return list
}

function endlessOr(): object {
  const where: Record<string, unknown> = {}
  where['or'] = [where]
  return { where }
}

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

function holes(length: number): unknown[] {
  const list: unknown[] = []
  list.length = length
  return list
}

/** What no store can keep, and what does harm when it is looked at. */
export const strange = fc.constantFrom<() => unknown>(
  () => Symbol('x'),
  () => () => 1,
  () => refuse,
  () => class {},
  () => new Plain(),
  () => new Lazy(),
  () => trap({}),
  () => trap([]),
  () => trap(() => 1),
  () => revoked({}),
  () => revoked([]),
  () => revoked(() => 1),
  () => ({
    id: 'a',
    get value() {
      return refuse()
    },
  }),
  () => ({
    get id() {
      return refuse()
    },
  }),
  () => Object.defineProperty({ id: 'a' }, Symbol.toStringTag, { get: refuse }),
  () => ({ [Symbol.iterator]: 5 }),
  () => ({ then: refuse }),
  () => Promise.resolve(1),
  () => new WeakMap(),
  () => Object.create({ id: 'inherited' }) as object,
  () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}') as object,
  cycle,
  endlessOr,
  () => ({ where: { value: deep(20_000) } }),
  () => deep(20_000),
  () => holes(2 ** 16),
  () => 'x'.repeat(5000),
  () => '__proto__',
  () => 'constructor',
  () => NaN,
  () => new Date(NaN),
  () => new AbortController().signal,
  () => AbortSignal.abort(trap({})),
)

/** Anything at all, made when it is asked for: what makes the values must not look at them. */
export const hostile: fc.Arbitrary<() => unknown> = fc.oneof(
  { weight: 3, arbitrary: anything.map((value) => () => value) },
  { weight: 2, arbitrary: strange },
  {
    weight: 1,
    arbitrary: fc.tuple(anything, strange).map(([value, make]) => () => ({ id: 'a', value, other: make() })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(anything, strange).map(([value, make]) => () => [make(), value]),
  },
)

/** Everything that hangs on the prototypes that all the rest stands on. */
export function prototypes(): string {
  const roots = [Object, Array, Function, Map, Set, Promise, Date, RegExp, Error, String, Number, ArrayBuffer, Blob]
  return roots
    .flatMap((root) => [root, root.prototype as object])
    .map((one) =>
      Reflect.ownKeys(one)
        .map((key) => `${String(key)} ${marks(one, key)}`)
        .join(),
    )
    .join('\n')
}

const seen = new Map<unknown, number>()

function marks(one: object, key: PropertyKey): string {
  const { value, get, set } = Object.getOwnPropertyDescriptor(one, key)!
  return [value, get, set]
    .map((part: unknown) => {
      if (!seen.has(part)) seen.set(part, seen.size)
      return seen.get(part)
    })
    .join('/')
}
