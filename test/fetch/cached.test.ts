import { collection, MayflyError } from 'mayfly'
import type { Collection, Stored } from 'mayfly'
import { cached } from 'mayfly/fetch'
import type { Cached, CachedOptions, CachedValue } from 'mayfly/fetch'
import { describe, expect, test } from 'vitest'
import { advance } from '../support/clock.js'
import { gate } from '../support/network.js'
import { newName, open } from '../support/stores.js'

const schema = { values: collection<CachedValue>({ defaultTtl: -1 }) }

function setUp(options: Partial<CachedOptions<unknown>> = {}) {
  const store = open(schema)
  const errors: unknown[] = []
  const loads: string[] = []
  const load = (key: string): unknown => `${key}${loads.push(key)}`
  const all = { load, ttl: 60, onError: (error: unknown) => void errors.push(error), ...options }
  return { store, errors, loads, cache: cached(store.values, all) }
}

const offline = () => Promise.reject(new Error('offline'))

test('fresh, stale with one refresh behind, only if loading fails, gone', async () => {
  let load: () => unknown = () => 1
  const { cache, store, errors } = setUp({ staleWhileRevalidate: 60, staleIfError: 600, load: () => load() })
  expect(await cache.get('a')).toBe(1)
  expect(await store.values.get('a')).toMatchObject({ key: 'a', value: 1, ttl: 660 })
  load = () => 2
  advance(59)
  expect(await cache.get('a')).toBe(1)
  advance(1)
  expect(await Promise.all([cache.get('a'), cache.get('a')])).toEqual([1, 1])
  await cache.settled()
  expect(await cache.get('a')).toBe(2)
  load = offline
  advance(100)
  expect(await cache.get('a')).toBe(2)
  await cache.settled()
  expect(errors).toHaveLength(1)
  advance(100)
  expect(await cache.get('a')).toBe(2)
  expect(errors).toHaveLength(1)
  advance(460)
  await expect(cache.get('a')).rejects.toThrow('offline')
  expect(await store.values.query().count()).toBe(0)
})

test('ten that ask at once cause one load; one that is aborted does not stop the others', async () => {
  const loaded = gate<string>()
  const signals: AbortSignal[] = []
  const { cache } = setUp({ load: (_, { signal }) => (signals.push(signal), loaded.promise) })
  const leaving = new AbortController()
  const gone = cache.get('a', { signal: leaving.signal })
  const others = Array.from({ length: 9 }, () => cache.get('a'))
  await expect.poll(() => signals.length).toBe(1)
  leaving.abort(new Error('enough'))
  await expect(gone).rejects.toThrow('enough')
  loaded.open('value')
  expect(new Set(await Promise.all(others))).toEqual(new Set(['value']))
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
})

test('a load that nobody waits for any more is told so', async () => {
  const signals: AbortSignal[] = []
  const { cache } = setUp({ load: (_, { signal }) => (signals.push(signal), new Promise(() => undefined)) })
  const leaving = new AbortController()
  const gone = cache.get('a', { signal: leaving.signal })
  await expect.poll(() => signals.length).toBe(1)
  leaving.abort()
  await expect(gone).rejects.toMatchObject({ name: 'AbortError' })
  expect(signals[0]!.aborted).toBe(true)
  await expect(cache.get('b', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
  expect(signals).toHaveLength(1)
})

test('values and keys of every kind', async () => {
  const values: Record<string, unknown> = {
    '': undefined,
    null: null,
    date: new Date(5),
    map: new Map([[1, new Set([2])]]),
    [`${'é'.repeat(5000)}1`]: 'long 1',
    [`${'é'.repeat(5000)}2`]: 'long 2',
  }
  let loads = 0
  const { cache } = setUp({ load: (key) => (loads++, values[key]) })
  for (let round = 0; round < 2; round++) {
    for (const [key, value] of Object.entries(values)) expect(await cache.get(key)).toEqual(value)
  }
  expect(loads).toBe(Object.keys(values).length)
  expect(await cache.invalidate(`${'é'.repeat(5000)}1`)).toBe(1)
})

test('no key is another in disguise', async () => {
  const { cache, store } = setUp({ load: (key) => key.length })
  const ids = async () => (await store.values.query().get()).map(({ id }) => id)
  for (const key of ['', 'x'.repeat(400)]) {
    await cache.clear()
    await cache.get(key)
    const [id] = await ids()
    expect(await cache.get(id!)).toBe(id!.length)
  }
})

test('a key that is no text is refused', async () => {
  const { cache } = setUp()
  for (const key of [5, null, undefined, {}]) {
    await expect(cache.get(key as never)).rejects.toMatchObject({ code: 'invalid' })
  }
})

test('a value that cannot be stored is given all the same', async () => {
  const value = () => 'a function'
  const { cache, errors } = setUp({ load: () => value })
  expect(await cache.get('a')).toBe(value)
  expect(errors).toMatchObject([{ code: 'invalid' }])
})

test('what load throws rejects, and the next one tries again', async () => {
  let isBroken = true
  const { cache } = setUp({
    load: () => {
      if (isBroken) throw new RangeError('broken')
      return 'mended'
    },
  })
  await expect(cache.get('a')).rejects.toThrow(RangeError)
  isBroken = false
  expect(await cache.get('a')).toBe('mended')
})

test('refresh loads whatever is there, and fails when loading does', async () => {
  let load: (key: string) => unknown = (key) => `${key}1`
  const { cache } = setUp({ staleIfError: 60, load: (key) => load(key) })
  await cache.get('a')
  load = (key) => `${key}2`
  expect(await Promise.all([cache.refresh('a'), cache.refresh('a')])).toEqual(['a2', 'a2'])
  expect(await cache.get('a')).toBe('a2')
  load = offline
  await expect(cache.refresh('a')).rejects.toThrow('offline')
  expect(await cache.get('a')).toBe('a2')
})

test('invalidate and clear remove, also what is on its way', async () => {
  const { cache, store, loads } = setUp()
  for (const key of ['a', 'b', 'c']) await cache.get(key)
  expect(await cache.invalidate('a')).toBe(1)
  expect(await cache.invalidate((key, value) => key === 'b' && value === 'b2')).toBe(1)
  expect(await cache.get('a')).toBe('a4')
  expect(await cache.get('c')).toBe('c3')
  const slow = cache.get('d')
  await expect.poll(() => loads.includes('d')).toBe(true)
  await cache.clear()
  await slow
  expect(await store.values.stats()).toEqual({ live: 0, expired: 0, nextExpiry: null })
})

test('what another tab deletes while it is loaded is not written again', async () => {
  const name = newName()
  const [here, there] = [open(schema, name), open(schema, name)]
  const slow = gate<string>()
  let load: () => unknown = () => 'old'
  const cache = cached<unknown>(here.values, { ttl: 1, staleIfError: 600, load: () => load() })
  await cache.get('a')
  advance(2)
  const begun = gate<void>()
  load = () => {
    begun.open()
    return slow.promise
  }
  const asked = cache.get('a')
  await begun.promise
  await cached(there.values, { ttl: 1, load: () => 0 }).clear()
  slow.open('new')
  expect(await asked).toBe('new')
  expect(await here.values.query().count()).toBe(0)
})

test.each<[string, (cache: Cached<unknown>) => Promise<unknown>]>([
  ['clear()', (cache) => cache.clear()],
  ['invalidate(key)', (cache) => cache.invalidate('a')],
])('nor is it after %s there if there was nothing to delete', async (_, remove) => {
  const name = newName()
  const [here, there] = [open(schema, name), open(schema, name)]
  const [begun, slow] = [gate<void>(), gate<string>()]
  const load = () => (begun.open(), slow.promise)
  const asked = cached<unknown>(here.values, { ttl: 60, load }).get('a')
  await begun.promise
  await remove(cached<unknown>(there.values, { ttl: 1, load: () => 0 }))
  slow.open('old')
  expect(await asked).toBe('old')
  // Word of it may come after the answer.
  await expect.poll(() => here.values.query().count()).toBe(0)
})

test.each<object>([{}, { load: () => 1 }, { ttl: 5 }, { ttl: -2, load: () => 1 }])(
  'options that are refused: %o',
  (options) => {
    expect(() => cached(open(schema).values, options as never)).toThrow(MayflyError)
  },
)

test('a collection without time to live is refused', async () => {
  const { off } = open({ off: collection<CachedValue>() })
  const cache = cached(off, { ttl: 5, load: () => 1 })
  await expect(cache.get('a')).rejects.toMatchObject({ code: 'invalid' })
  await expect(cache.refresh('a')).rejects.toMatchObject({ code: 'invalid' })
})

describe('subscribe', () => {
  type Listener = (docs: Stored<CachedValue>[]) => void

  /** A collection whose queries are live when the test says so. */
  function live(values: Collection<CachedValue>) {
    const listeners = new Map<Listener, () => Promise<Stored<CachedValue>[]>>()
    const look = async () => {
      for (const [listener, ask] of listeners) listener(await ask())
    }
    const query = (options: never) => {
      const real = values.query(options)
      const subscribe = (listener: Listener) => {
        listeners.set(listener, () => real.get())
        void real.get().then((docs) => listeners.has(listener) && listener(docs))
        return () => void listeners.delete(listener)
      }
      return { get: () => real.get(), [Symbol.asyncIterator]: () => real[Symbol.asyncIterator](), subscribe }
    }
    const proxy = new Proxy(values, {
      get(target, name) {
        const member = name === 'query' ? query : (target[name as keyof typeof target] as () => unknown)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    return { proxy, look, listeners }
  }

  function watched(options: Partial<CachedOptions<unknown>> = {}) {
    const { values } = open(schema)
    const { proxy, look, listeners } = live(values)
    let loads = 0
    const cache = cached(proxy, { ttl: 60, load: (key) => `${key}${++loads}`, ...options })
    const seen: unknown[] = []
    const failures: unknown[] = []
    const stop = () =>
      cache.subscribe(
        'a',
        (value) => seen.push(value),
        (error) => failures.push(error),
      )
    return { cache, look, listeners, seen, failures, subscribe: stop }
  }

  test('loads the value, and tells of each that comes and when it is gone', async () => {
    const { cache, look, listeners, seen, subscribe } = watched()
    const stop = subscribe()
    await expect.poll(() => seen).toEqual(['a1'])
    await look()
    await cache.refresh('a')
    await look()
    await cache.invalidate('a')
    await look()
    expect(seen).toEqual(['a1', 'a2', undefined])
    stop()
    await cache.get('a')
    await look()
    expect([seen.length, listeners.size]).toEqual([3, 0])
  })

  test('tells at once of what is there, once', async () => {
    const { cache, look, seen, subscribe } = watched()
    await cache.get('a')
    subscribe()
    await expect.poll(() => seen).toEqual(['a1'])
    await look()
    expect(seen).toEqual(['a1'])
  })

  test('ends what it has begun, if nobody else waits for that', async () => {
    const slow = gate<string>()
    let begun = gate<AbortSignal>()
    const load: CachedOptions<unknown>['load'] = (key, { signal }) =>
      key === 'a' ? (begun.open(signal), slow.promise) : key
    const { cache, subscribe, seen, failures } = watched({ load })
    const stop = subscribe()
    const first = await begun.promise
    stop()
    expect(first.aborted).toBe(true)
    begun = gate()
    const leave = subscribe()
    const second = await begun.promise
    const asked = cache.get('a')
    // It joins once it has looked what is stored, before this one has.
    await cache.get('b')
    leave()
    slow.open('value')
    expect([await asked, second.aborted, seen, failures]).toEqual(['value', false, [], []])
  })

  test('holds back what is only for when loading fails', async () => {
    let isOffline = false
    let loads = 0
    const { cache, seen, subscribe, failures } = watched({
      staleIfError: 600,
      load: async () => (isOffline ? offline() : ++loads),
    })
    await cache.get('a')
    advance(100)
    subscribe()
    await expect.poll(() => seen).toEqual([2])
    advance(100)
    isOffline = true
    subscribe()
    await expect.poll(() => seen).toEqual([2, 2])
    advance(600)
    subscribe()
    await expect.poll(() => failures).toMatchObject([{ message: 'offline' }])
  })
})
