import { collection } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { advance, START } from './support/clock.js'
import { DAY, newName, open } from './support/stores.js'

interface Note {
  id: string
  text?: string
  ttl?: number
  code?: string
}

const LONG = 2_147_483_647

/** A store with one collection of notes under a setting. */
function notes(defaultTtl: number | null | undefined, name = newName()) {
  return open({ notes: collection<Note>({ defaultTtl }) }, name)
}

type NoteStore = ReturnType<typeof notes>

/** Whether a document is there, by every way of asking, which must agree. */
async function exists(store: NoteStore, id: string): Promise<boolean> {
  const { notes } = store
  const answers = await Promise.all([
    notes.get(id).then((doc) => doc !== undefined),
    notes.getMany([id]).then(([doc]) => doc !== undefined),
    notes
      .query()
      .get()
      .then((docs) => docs.some((doc) => doc.id === id)),
    notes
      .query({ where: { id } })
      .count()
      .then((count) => count === 1),
    notes
      .query({ where: { id }, order: 'desc' })
      .page()
      .then(({ items }) => items.length === 1),
    notes
      .query({ where: { id }, orderBy: 'id' })
      .first()
      .then((doc) => doc !== undefined),
    notes.expiresAt(id).then((at) => at !== undefined),
  ])
  expect(new Set(answers).size, `answers disagree: ${String(answers)}`).toBe(1)
  return answers[0]!
}

describe('T1: the nine cells', () => {
  const NEVER = null
  const cells: [setting: number | null, ttl: number | undefined, expires: number | null][] = [
    [null, undefined, NEVER],
    [null, -1, NEVER],
    [null, 5, NEVER],
    [-1, undefined, NEVER],
    [-1, -1, NEVER],
    [-1, 5, 5],
    [20, undefined, 20],
    [20, -1, NEVER],
    [20, 5, 5],
    [5, 20, 20],
  ]
  test.each(cells)('T1: defaultTtl %s and ttl %s expires after %s', async (setting, ttl, expires) => {
    const store = notes(setting)
    await store.notes.upsert(ttl === undefined ? { id: 'a' } : { id: 'a', ttl })
    expect(await store.notes.expiresAt('a')).toEqual(expires === null ? null : new Date(START + expires * 1000))
    advance(expires === null ? 100 * 365 * DAY : expires - 0.001)
    expect(await exists(store, 'a')).toBe(true)
    advance(0.001)
    expect(await exists(store, 'a')).toBe(expires === null)
  })
})

describe('T2: the boundary belongs to the dead', () => {
  test.each([0.001, 0.0004, 0.069, 0.57, 1, 1.001, 1.005, 4.035, 1e-10, LONG])('T2: ttl %s', async (ttl) => {
    const store = notes(-1)
    await store.notes.upsert({ id: 'a', ttl })
    const last = Math.max(1, Math.ceil(Number((ttl * 1000).toFixed(6)))) - 1
    advance(last / 1000)
    expect(await exists(store, 'a')).toBe(true)
    advance(0.001)
    expect(await exists(store, 'a')).toBe(false)
  })
})

const BAD_TTLS = [0, -2, -0.5, NaN, Infinity, -Infinity, '5', null, LONG + 1, true, [], {}, 5n]

describe('T3: a ttl is interpreted only while TTL is on', () => {
  test.each(BAD_TTLS)('T3: ttl %s is stored as it came while TTL is off', async (ttl) => {
    const store = notes(null)
    const stored = await store.notes.upsert({ id: 'a', ttl } as Note)
    expect(stored.ttl).toEqual(ttl)
    expect((await store.notes.get('a'))?.ttl).toEqual(ttl)
    await store.notes.patch('a', { text: 'new' })
    expect((await store.notes.get('a'))?.ttl).toEqual(ttl)

    // Once TTL is on, it counts as absent.
    await store.notes.setDefaultTtl(-1)
    expect(await store.notes.expiresAt('a')).toBeNull()
    await store.notes.setDefaultTtl(10)
    expect(await store.notes.expiresAt('a')).toEqual(new Date(START + 10_000))
    await store.notes.patch('a', { text: 'newer' })
    expect(await store.notes.touch('a')).toBe(true)
    advance(10)
    expect(await exists(store, 'a')).toBe(false)
  })

  test.each([-1, 60])('T3: with TTL on (%s) a bad ttl is refused and nothing is written', async (setting) => {
    const store = notes(setting)
    const before = await store.notes.upsert({ id: 'a', text: 'old' })
    for (const ttl of BAD_TTLS) {
      const bad = { id: 'a', text: 'bad', ttl } as Note
      const writes = [
        store.notes.upsert(bad),
        store.notes.create({ ...bad, id: 'b' }),
        store.notes.replace(bad),
        store.notes.patch('a', { ttl } as Note),
        store.notes.update('a', () => bad),
        store.notes.upsertMany([bad]),
        store.notes.createMany([{ ...bad, id: 'b' }]),
      ]
      for (const write of writes) {
        await expect(write).rejects.toMatchObject({ name: 'MayflyError', code: 'invalid', collection: 'notes' })
        await expect(write).rejects.toThrow(/^notes.*ttl is -1 .* above 0 and up to 2147483647/s)
      }
    }
    expect(await store.notes.query().get()).toEqual([before])
  })

  test.each([-1, 0.001, 1, 2.5, LONG, undefined])('T3: ttl %s is valid', async (ttl) => {
    const store = notes(-1)
    expect(await store.notes.upsert({ id: 'a', ttl } as Note)).toMatchObject({ id: 'a' })
  })
})

describe('T4: the setting itself', () => {
  test('T4: anything but null, -1 or seconds is refused and the old setting stands', async () => {
    const store = notes(30)
    for (const bad of [...BAD_TTLS.filter((ttl) => ttl !== null), undefined]) {
      await expect(store.notes.setDefaultTtl(bad as number)).rejects.toMatchObject({
        code: 'invalid',
        collection: 'notes',
      })
      expect(await store.notes.settings()).toEqual({ defaultTtl: 30, indexing: 'consistent' })
      if (bad !== undefined) expect(() => collection({ defaultTtl: bad as number })).toThrow('defaultTtl is null')
    }
    for (const good of [null, -1, 0.5, LONG]) {
      await store.notes.setDefaultTtl(good)
      expect((await store.notes.settings()).defaultTtl).toBe(good)
    }
  })
})

describe('T5: an expired document does not exist', () => {
  test('T5: every verb answers as for an unknown id', async () => {
    const store = notes(10)
    const { _etag } = await store.notes.upsert({ id: 'dead' })
    advance(10)
    for (const id of ['dead', 'unknown']) {
      expect(await exists(store, id)).toBe(false)
      const missing = { code: 'not-found', collection: 'notes', id }
      await expect(store.notes.replace({ id })).rejects.toMatchObject(missing)
      await expect(store.notes.replace({ id }, { ifMatch: _etag })).rejects.toMatchObject(missing)
      await expect(store.notes.patch(id, { text: 'x' })).rejects.toMatchObject(missing)
      await expect(store.notes.patch(id, { text: 'x' }, { ifMatch: _etag })).rejects.toMatchObject(missing)
      await expect(store.notes.update(id, (note) => note)).rejects.toMatchObject(missing)
      await expect(store.notes.upsert({ id }, { ifMatch: _etag })).rejects.toMatchObject({
        code: 'precondition-failed',
      })
      expect(await store.notes.touch(id)).toBe(false)
      expect(await store.notes.delete(id)).toBe(false)
      expect(await store.notes.delete(id, { ifMatch: _etag })).toBe(false)
      expect(await store.notes.deleteMany([id])).toEqual({ deleted: 0, stopped: false })
      expect(await exists(store, id)).toBe(false)
    }
  })

  test('T5: for await passes over what expires while it goes on, and its limit counts what it gives', async () => {
    const store = notes(10)
    const docs = [{ id: 'a' }, { id: 'b', ttl: 5 }, { id: 'c', ttl: -1 }, { id: 'd' }, { id: 'e', ttl: 11 }]
    await store.notes.upsertMany(docs)
    const read = async (options: object, moves: Record<string, number>) => {
      const given: string[] = []
      for await (const { id } of store.notes.query(options)) {
        given.push(id)
        advance(moves[id] ?? 0)
      }
      return given
    }
    expect(await read({}, { a: 5 })).toEqual(['a', 'c', 'd', 'e'])
    expect(await read({ limit: 3 }, { a: 4.999, c: 0.001 })).toEqual(['a', 'c', 'e'])
    expect(await read({ order: 'desc', limit: 1 }, {})).toEqual(['e'])
    await store.notes.setDefaultTtl(null)
    expect(await read({}, { c: 100 })).toEqual(['c', 'e'])
  })

  test('T5: a second connection sees the expiry at the same millisecond', async () => {
    const name = newName()
    const [one, two] = [notes(10, name), notes(10, name)]
    await one.notes.upsert({ id: 'a' })
    advance(9.999)
    expect([await exists(one, 'a'), await exists(two, 'a')]).toEqual([true, true])
    advance(0.001)
    expect([await exists(one, 'a'), await exists(two, 'a')]).toEqual([false, false])
  })
})

describe('T6: an expired document stands in nobody’s way', () => {
  test('T6: create with its id succeeds', async () => {
    const store = notes(10)
    await store.notes.create({ id: 'a', text: 'old' })
    await expect(store.notes.create({ id: 'a' })).rejects.toMatchObject({ code: 'conflict', id: 'a' })
    advance(10)
    expect(await store.notes.create({ id: 'a', text: 'new' })).toMatchObject({ text: 'new' })
    advance(10)
    expect(await store.notes.createMany([{ id: 'a', text: 'newer' }])).toEqual({ written: 1, stopped: false })
    expect(await store.notes.get('a')).toMatchObject({ text: 'newer' })
  })

  test('T6: a unique value that it held is free', async () => {
    const store = open({ notes: collection<Note>({ defaultTtl: 10 }).uniqueIndex('code') })
    await store.notes.upsert({ id: 'a', code: 'X' })
    await expect(store.notes.upsert({ id: 'b', code: 'X' })).rejects.toMatchObject({ code: 'conflict', id: 'b' })
    await expect(store.notes.upsert({ id: 'b', code: 'X' })).rejects.toThrow('code must be unique')
    advance(10)
    await store.notes.upsert({ id: 'b', code: 'X' })
    expect(await store.notes.query().get()).toMatchObject([{ id: 'b' }])
    // The one that held it is not merely hidden: turning TTL off cannot make two of them.
    await store.notes.setDefaultTtl(null)
    expect(await store.notes.query().count()).toBe(1)
  })

  test('T6: it is not counted', async () => {
    const store = notes(10)
    await store.notes.upsertMany([{ id: 'a' }, { id: 'b', ttl: 20 }, { id: 'c', ttl: -1 }, { id: 'd', ttl: 5 }])
    const counts = []
    for (const seconds of [0, 5, 5, 10, 10]) {
      advance(seconds)
      const { live, expired } = await store.notes.stats()
      counts.push([live, expired, await store.notes.query().count()])
    }
    expect(counts).toEqual([
      [4, 0, 4],
      [3, 1, 3],
      [2, 2, 2],
      [1, 3, 1],
      [1, 3, 1],
    ])
  })
})

describe('T7: pages stay full', () => {
  test.each(['asc', 'desc'] as const)('T7: 20 live documents however many dead ones lie between, %s', async (order) => {
    const store = notes(-1)
    const ids = Array.from({ length: 3000 }, (_, at) => String(at).padStart(5, '0'))
    await store.notes.upsertMany(ids.map((id, at) => (at % 100 === 50 ? { id } : { id, ttl: 5 })))
    advance(5)
    const live = ids.filter((_, at) => at % 100 === 50)
    const expected = order === 'asc' ? live : live.toReversed()
    for (const orderBy of [undefined, 'id'] as const) {
      const query = store.notes.query({ order, limit: 20, ...(orderBy && { orderBy }) })
      const first = await query.page()
      expect(first.items.map((note) => note.id)).toEqual(expected.slice(0, 20))
      const second = await query.page(first.next)
      expect(second.items.map((note) => note.id)).toEqual(expected.slice(20))
      expect(second.next).toBeUndefined()
    }
  })
})

describe('T8: expiry is final', () => {
  test.each([null, -1, 1000])('T8: defaultTtl %s brings nothing back', async (later) => {
    const store = notes(10)
    await store.notes.upsertMany([{ id: 'inherits' }, { id: 'own', ttl: 10 }])
    advance(5)
    await store.notes.upsertMany([{ id: 'younger' }, { id: 'own younger', ttl: 10 }])
    advance(5)
    await store.notes.setDefaultTtl(later)
    const ids = async () => (await store.notes.query().get()).map((note) => note.id)
    expect(await ids()).toEqual(['own younger', 'younger'])
    expect(await store.notes.stats()).toMatchObject({ live: 2, expired: 2 })
    for (const setting of [null, 5000, -1, null]) {
      await store.notes.setDefaultTtl(setting)
      expect(await ids()).toEqual(['own younger', 'younger'])
    }
    expect(await store.sweep()).toEqual({ deleted: 2 })
    expect(await store.notes.stats()).toMatchObject({ live: 2, expired: 0 })
    await store.notes.setDefaultTtl(9999)
    expect(await ids()).toEqual(['own younger', 'younger'])
  })

  test('T8: the dead of several settings stay dead together', async () => {
    const store = notes(10)
    await store.notes.upsert({ id: 'a' })
    advance(10)
    await store.notes.setDefaultTtl(100)
    await store.notes.upsert({ id: 'b' })
    advance(50)
    await store.notes.setDefaultTtl(20)
    await store.notes.upsert({ id: 'c' })
    await store.notes.setDefaultTtl(null)
    expect(await store.notes.query().get()).toMatchObject([{ id: 'c' }])
  })

  test('T8: no restart brings a document back', async () => {
    const name = newName()
    const first = notes(10, name)
    await first.notes.upsert({ id: 'a' })
    advance(10)
    await first.notes.setDefaultTtl(null)
    await first.close()
    const second = notes(10, name)
    expect((await second.notes.settings()).defaultTtl).toBeNull()
    expect(await exists(second, 'a')).toBe(false)
    await second.close()
    expect(await exists(notes(1000, name), 'a')).toBe(false)
  })

  test('T8: no small step back of the clock does, in this tab, after a restart or in another', async () => {
    const asks: ((store: NoteStore) => Promise<unknown>)[] = [
      (store) => store.notes.get('a'),
      (store) => store.notes.getMany(['b', 'a']),
      (store) => store.notes.query().get(),
      (store) => store.notes.query({ order: 'desc' }).first(),
      (store) => store.notes.query().count(),
      (store) => store.notes.query({ where: { text: 'x' } }).count(),
      (store) => store.notes.stats(),
      (store) => store.notes.expiresAt('a'),
      (store) => store.notes.touch('a'),
      (store) => store.notes.delete('a'),
      (store) => store.notes.setDefaultTtl(10),
      (store) => Promise.all([store.notes.get('a'), store.notes.upsert({ id: 'b' })]),
    ]
    for (const ask of asks) {
      const name = newName()
      const store = notes(10, name)
      const other = notes(10, name)
      await store.notes.upsert({ id: 'a' })
      advance(10)
      await ask(store)
      advance(-60)
      expect(await exists(store, 'a'), `here, after ${ask}`).toBe(false)
      expect(await exists(other, 'a'), `in another tab, after ${ask}`).toBe(false)
      await store.close()
      expect(await exists(notes(10, name), 'a'), `after a restart, after ${ask}`).toBe(false)
      advance(60)
    }
  })

  test('T8: a document that is written again is a new one', async () => {
    const store = notes(10)
    await store.notes.upsert({ id: 'a' })
    advance(10)
    await store.notes.setDefaultTtl(null)
    await store.notes.upsert({ id: 'a', ttl: 3 })
    expect(await exists(store, 'a')).toBe(true)
    await store.notes.setDefaultTtl(-1)
    expect(await exists(store, 'a')).toBe(true)
    advance(3)
    expect(await exists(store, 'a')).toBe(false)
  })

  test('T8: a clock that was once far ahead does not kill new documents', async () => {
    const name = newName()
    const store = notes(10, name)
    advance(365 * DAY)
    await store.notes.upsert({ id: 'early' })
    await store.notes.setDefaultTtl(null)
    advance(-365 * DAY)
    await store.notes.upsertMany([{ id: 'a' }, { id: 'b', ttl: 10 }])
    await store.close()
    const later = notes(10, name)
    for (const seconds of [0, 20, 364 * DAY, 2 * DAY]) {
      advance(seconds)
      expect(await later.notes.getMany(['a', 'b'])).toMatchObject([{ id: 'a' }, { id: 'b' }])
    }
  })
})

describe('T9: the whole document expires', () => {
  test('T9: no field of it is left, and none goes before', async () => {
    const store = open({
      orders: collection<{ id: string; lines: { sku: string; ttl: number }[] }>({ defaultTtl: 10 }),
    })
    const lines = [{ sku: 'A', ttl: 1 }]
    await store.orders.upsert({ id: 'a', lines })
    advance(9.999)
    expect((await store.orders.get('a'))?.lines).toEqual(lines)
    advance(0.001)
    expect(await store.orders.get('a')).toBeUndefined()
    expect(await store.orders.upsert({ id: 'a', lines: [] })).toMatchObject({ lines: [] })
  })
})

describe('T10: a write starts the countdown again', () => {
  const writes: [string, (store: NoteStore) => Promise<unknown>][] = [
    ['replace', ({ notes }) => notes.replace({ id: 'a' })],
    ['upsert', ({ notes }) => notes.upsert({ id: 'a' })],
    ['update', ({ notes }) => notes.update('a', (note) => note)],
    ['patch', ({ notes }) => notes.patch('a', {})],
    ['touch', ({ notes }) => notes.touch('a')],
    ['upsertMany', ({ notes }) => notes.upsertMany([{ id: 'a' }])],
  ]
  test.each(writes)('T10: %s sets _ts to now', async (_, write) => {
    const store = notes(10)
    const before = await store.notes.create({ id: 'a' })
    expect(before._ts).toBe(START / 1000)
    advance(6.5)
    await write(store)
    const after = await store.notes.get('a')
    expect(after?._ts).toBe(START / 1000 + 6.5)
    expect(after?._etag).not.toBe(before._etag)
    advance(9.999)
    expect(await exists(store, 'a')).toBe(true)
    advance(0.001)
    expect(await exists(store, 'a')).toBe(false)
  })

  test('T10: a refused write does not', async () => {
    const store = notes(10)
    const before = await store.notes.create({ id: 'a' })
    advance(6)
    const refused = [
      store.notes.create({ id: 'a' }),
      store.notes.upsert({ id: 'a', ttl: 0 }),
      store.notes.replace({ id: 'a' }, { ifMatch: 'no' }),
      store.notes.patch('a', {}, { ifMatch: 'no' }),
      store.notes.touch('a', { ifMatch: 'no' }),
      store.notes.delete('a', { ifMatch: 'no' }),
      store.notes.update('a', () => {
        throw new Error('no')
      }),
    ]
    expect((await Promise.allSettled(refused)).map(({ status }) => status)).toEqual(refused.map(() => 'rejected'))
    expect(await store.notes.get('a')).toEqual(before)
    advance(4)
    expect(await exists(store, 'a')).toBe(false)
  })
})

describe('T11: another ttl', () => {
  test('T11: the new one applies, none inherits, -1 lives for ever', async () => {
    const store = notes(10)
    const expiry = async () => {
      const at = await store.notes.expiresAt('a')
      return at && (at.getTime() - START) / 1000
    }
    await store.notes.upsert({ id: 'a', ttl: 5 })
    expect(await expiry()).toBe(5)
    await store.notes.upsert({ id: 'a', ttl: 50 })
    expect(await expiry()).toBe(50)
    await store.notes.upsert({ id: 'a' })
    expect(await expiry()).toBe(10)
    await store.notes.replace({ id: 'a', ttl: -1 })
    expect(await expiry()).toBeNull()
    await store.notes.patch('a', { ttl: 7 })
    expect(await expiry()).toBe(7)
    await store.notes.touch('a')
    expect(await expiry()).toBe(7)
    await store.notes.patch('a', { ttl: undefined })
    expect(await expiry()).toBe(10)
    expect(await store.notes.get('a')).not.toHaveProperty('ttl')
    await store.notes.update('a', (note) => ({ ...note, ttl: 3 }))
    expect(await expiry()).toBe(3)
  })
})

describe('T12: a new default acts at once', () => {
  test('T12: on every document that inherits, in every tab', async () => {
    const name = newName()
    const [one, two] = [notes(100, name), notes(100, name)]
    await one.notes.upsertMany([{ id: 'inherits' }, { id: 'own', ttl: 50 }, { id: 'for ever', ttl: -1 }])
    advance(10)
    expect(await exists(two, 'inherits')).toBe(true)
    await one.notes.setDefaultTtl(10)
    expect((await two.notes.settings()).defaultTtl).toBe(10)
    expect(await exists(two, 'inherits')).toBe(false)
    expect(await exists(one, 'inherits')).toBe(false)
    expect(await two.notes.query().count()).toBe(2)
    await expect(two.notes.create({ id: 'own' })).rejects.toMatchObject({ code: 'conflict' })
    expect(await two.notes.create({ id: 'inherits' })).toMatchObject({ id: 'inherits' })
  })

  test('T12: in the order of the calls of one tick', async () => {
    const store = notes(100)
    await store.notes.upsert({ id: 'a' })
    advance(10)
    const [before, , after] = await Promise.all([
      store.notes.get('a'),
      store.notes.setDefaultTtl(10),
      store.notes.get('a'),
      store.notes.setDefaultTtl(1000),
    ])
    expect(before).toMatchObject({ id: 'a' })
    expect(after).toBeUndefined()
    expect(await store.notes.get('a')).toBeUndefined()
  })

  test('T12: a longer default keeps those that still live', async () => {
    const store = notes(10)
    await store.notes.upsert({ id: 'a' })
    advance(9.999)
    await store.notes.setDefaultTtl(20)
    advance(10)
    expect(await exists(store, 'a')).toBe(true)
    advance(0.001)
    expect(await exists(store, 'a')).toBe(false)
  })
})

describe('T14: turning TTL off and on', () => {
  test('T14: off means that nothing expires; on again counts from _ts', async () => {
    const store = notes(-1)
    await store.notes.upsertMany([{ id: 'short', ttl: 10 }, { id: 'long', ttl: 100 }, { id: 'none' }])
    advance(5)
    await store.notes.setDefaultTtl(null)
    advance(45)
    expect(await store.notes.expiresAt('short')).toBeNull()
    expect(await store.notes.stats()).toEqual({ live: 3, expired: 0, nextExpiry: null })
    expect(await store.sweep()).toEqual({ deleted: 0 })
    await store.notes.upsert({ id: 'written while off', ttl: 100 })
    await store.notes.setDefaultTtl(-1)
    expect((await store.notes.query().get()).map((note) => note.id)).toEqual(['long', 'none', 'written while off'])
    expect(await store.notes.expiresAt('long')).toEqual(new Date(START + 100_000))
    expect(await store.notes.expiresAt('written while off')).toEqual(new Date(START + 150_000))
  })
})

describe('T15: what the code declares', () => {
  test('T15: is applied when it differs from last time; a setting made at run time stays otherwise', async () => {
    const name = newName()
    const reopen = async (declared: number | null | undefined, then?: number | null) => {
      const store = notes(declared, name)
      const { defaultTtl } = await store.notes.settings()
      if (then !== undefined) await store.notes.setDefaultTtl(then)
      await store.close()
      return defaultTtl
    }
    expect(await reopen(10)).toBe(10)
    expect(await reopen(10, 99)).toBe(10)
    expect(await reopen(10)).toBe(99)
    expect(await reopen(20)).toBe(20)
    expect(await reopen(20, null)).toBe(20)
    expect(await reopen(20)).toBeNull()
    expect(await reopen(-1)).toBe(-1)
    expect(await reopen(-1, 5)).toBe(-1)
    expect(await reopen(undefined)).toBeNull()
    expect(await reopen(null, 7)).toBeNull()
    expect(await reopen(undefined)).toBe(7)
  })

  test('T15: applying it is a change like any other: the dead stay dead', async () => {
    const name = newName()
    const first = notes(10, name)
    await first.notes.upsert({ id: 'a' })
    await first.close()
    advance(10)
    const second = notes(1000, name)
    expect(await exists(second, 'a')).toBe(false)
  })
})

describe('T21: time to live needs its index', () => {
  test('T21: a collection without indexing is plain key-value, and cannot have a default', async () => {
    expect(() => collection({ indexing: 'none', defaultTtl: 5 })).toThrow(/indexing: 'none'/)
    expect(() => collection({ indexing: 'none', defaultTtl: -1 })).toThrow(/indexing: 'none'/)
    expect(() => collection<Note>({ indexing: 'none' }).index('text')).toThrow(/no indexes/)
    const store = open({ notes: collection<Note>({ indexing: 'none', defaultTtl: null }) })
    for (const ttl of [5, -1]) {
      const setting = store.notes.setDefaultTtl(ttl)
      await expect(setting).rejects.toMatchObject({ code: 'invalid', collection: 'notes' })
    }
    await store.notes.setDefaultTtl(null)
    await store.notes.upsert({ id: 'a', ttl: 1 })
    advance(DAY)
    expect(await store.notes.settings()).toEqual({ defaultTtl: null, indexing: 'none' })
    expect(await store.notes.get('a')).toMatchObject({ ttl: 1 })
    expect(await store.notes.stats()).toEqual({ live: 1, expired: 0, nextExpiry: null })
    expect(await store.sweep()).toEqual({ deleted: 0 })
    expect(await store.notes.query().count()).toBe(1)
  })

  test('T21: a collection that has a default cannot be declared without indexing', async () => {
    const name = newName()
    const first = notes(10, name)
    const kept = await first.notes.upsert({ id: 'a', ttl: -1 })
    await first.close()
    const bad = open({ notes: collection<Note>({ indexing: 'none' }) }, name)
    await expect(bad.ready).rejects.toMatchObject({ code: 'invalid', collection: 'notes' })
    await expect(bad.notes.get('a')).rejects.toThrow(/time to live needs its index/)
    await bad.close()
    const again = notes(10, name)
    expect(await again.notes.get('a')).toEqual(kept)
    await again.notes.setDefaultTtl(null)
    await again.close()
    const plain = open({ notes: collection<Note>({ indexing: 'none' }) }, name)
    expect(await plain.notes.get('a')).toEqual(kept)
  })

  test('T21: a plain collection can be given time to live later, for the documents it has', async () => {
    const name = newName()
    const plain = open({ notes: collection<Note>({ indexing: 'none' }) }, name)
    await plain.notes.upsertMany([{ id: 'a' }, { id: 'b', ttl: 5 }, { id: 'c', ttl: -1 }])
    await plain.close()
    const store = notes(10, name)
    advance(5)
    expect(await store.notes.stats()).toEqual({ live: 2, expired: 1, nextExpiry: new Date(START + 10_000) })
    advance(5)
    expect((await store.notes.query().get()).map((note) => note.id)).toEqual(['c'])
    expect(await store.sweep()).toEqual({ deleted: 2 })
  })
})

describe('T22: reads are always exact', () => {
  test('T22: while an index is being added, and after', async () => {
    const name = newName()
    const first = notes(10, name)
    await first.notes.upsertMany(
      Array.from({ length: 500 }, (_, at) => ({ id: `n${at}`, text: `t${at % 5}`, ttl: at < 100 ? 5 : 50 })),
    )
    advance(5)
    const second = open({ notes: collection<Note>({ defaultTtl: 10 }).index('text') }, name)
    const answers = await Promise.all(
      [first, second].flatMap((store) => [
        store.notes.query({ where: { text: 't1' } }).count(),
        store.notes.query().count(),
        store.notes.stats().then(({ expired }) => expired),
      ]),
    )
    expect(answers).toEqual([80, 400, 100, 80, 400, 100])
  })

  test('T22: when a setting has just changed', async () => {
    const store = notes(100)
    await store.notes.upsertMany(Array.from({ length: 50 }, (_, at) => ({ id: `n${at}` })))
    advance(10)
    const [, count, docs, stats] = await Promise.all([
      store.notes.setDefaultTtl(10),
      store.notes.query().count(),
      store.notes.query().get(),
      store.notes.stats(),
    ])
    expect([count, docs.length, stats.live, stats.expired]).toEqual([0, 0, 0, 50])
  })
})

describe('T24: anyone can ask', () => {
  test('T24: when a document expires, how many live, how many wait, when the next is due', async () => {
    const store = notes(30)
    expect(await store.notes.stats()).toEqual({ live: 0, expired: 0, nextExpiry: null })
    await store.notes.upsertMany([{ id: 'a', ttl: 40 }, { id: 'b' }, { id: 'c', ttl: -1 }, { id: 'd', ttl: 20.5 }])
    const due = (seconds: number) => new Date(START + seconds * 1000)
    expect(await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => store.notes.expiresAt(id)))).toEqual([
      due(40),
      due(30),
      null,
      due(20.5),
      undefined,
    ])
    const history = []
    for (const to of [0, 20.499, 20.5, 30, 40]) {
      advance(to - (Date.now() - START) / 1000)
      history.push(await store.notes.stats())
    }
    expect(history).toEqual([
      { live: 4, expired: 0, nextExpiry: due(20.5) },
      { live: 4, expired: 0, nextExpiry: due(20.5) },
      { live: 3, expired: 1, nextExpiry: due(30) },
      { live: 2, expired: 2, nextExpiry: due(40) },
      { live: 1, expired: 3, nextExpiry: null },
    ])
    await store.notes.setDefaultTtl(-1)
    await store.notes.upsert({ id: 'f' })
    expect((await store.notes.stats()).nextExpiry).toBeNull()
  })

  test('T24: what an earlier setting killed counts as waiting, not as due', async () => {
    const store = notes(10)
    await store.notes.upsert({ id: 'a' })
    advance(10)
    await store.notes.setDefaultTtl(1000)
    await store.notes.upsert({ id: 'b' })
    expect(await store.notes.stats()).toEqual({ live: 1, expired: 1, nextExpiry: new Date(START + 1_010_000) })
  })
})

describe('a clock that was wrong for a while', () => {
  test('T8: what an earlier setting had killed stays dead when the clock is right again', async () => {
    const store = notes(10)
    await store.notes.upsert({ id: 'old' })
    advance(20)
    expect(await exists(store, 'old')).toBe(false)
    await store.notes.setDefaultTtl(null)
    advance(-3600)
    await store.notes.get('old')
    advance(3601)
    expect(await exists(store, 'old')).toBe(false)
  })

  test('T8: also when it was ahead of time', async () => {
    const store = notes(10)
    await store.notes.upsertMany([{ id: 'old' }, { id: 'later', ttl: 3600 }])
    advance(20)
    await store.notes.setDefaultTtl(100_000)
    advance(10)
    advance(86_400)
    await store.notes.get('later')
    advance(-86_400)
    expect(await exists(store, 'old')).toBe(false)
    expect(await exists(store, 'later')).toBe(true)
  })

  test('T8: it does not kill, one day, what was written since', async () => {
    const store = notes(10)
    await store.notes.upsert({ id: 'old' })
    advance(86_400)
    await store.notes.setDefaultTtl(null)
    advance(-86_400)
    await store.notes.upsert({ id: 'new' })
    advance(86_401)
    expect(await exists(store, 'new')).toBe(true)
  })

  test('T8: what expired before a restart stays dead, though nobody had looked', async () => {
    const name = newName()
    const store = notes(10, name)
    await store.notes.upsert({ id: 'old' })
    advance(10.5)
    await store.notes.upsert({ id: 'new' })
    await store.close()
    advance(-1)
    const again = notes(10, name)
    expect(await exists(again, 'old')).toBe(false)
    expect(await exists(again, 'new')).toBe(true)
  })
})
