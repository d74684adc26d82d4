import { collection } from 'mayfly'
import type { CollectionOptions, Former, MigrationProgress, Store } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { advance } from './support/clock.js'
import { settled } from './support/settled.js'
import { newName, open } from './support/stores.js'

/** As each version of the app has it: version 2 calls the name a title, and every migration counts itself. */
interface Note {
  id: string
  name?: string
  title?: string
  code?: string
  ttl?: number
  runs?: number
  from?: number[]
}

const counting = (old: Former, from: number): Note => ({
  ...(old as Note),
  runs: ((old as Note).runs ?? 0) + 1,
  from: [...((old as Note).from ?? []), from],
})

const renaming = (old: Former, from: number): Note => {
  const { name, ...rest } = counting(old, from)
  return name === undefined ? rest : { ...rest, title: name }
}

const first = (options: CollectionOptions<Note> = {}) => ({ notes: collection<Note>(options) })
const second = (options: CollectionOptions<Note> = {}) => ({
  notes: collection<Note>({ version: 2, migrate: renaming, ...options }).index('title'),
})
const third = (options: CollectionOptions<Note> = {}) => ({
  notes: collection<Note>({ version: 3, migrate: renaming, ...options })
    .index('title')
    .index('runs'),
  more: collection<Note>(),
})

/** A database as the first version of the app leaves it. */
async function left(docs: Note[], options?: CollectionOptions<Note>): Promise<string> {
  const name = newName()
  const store = open(first(options), name)
  await store.notes.upsertMany(docs)
  await store.close()
  return name
}

const many = (count: number): Note[] =>
  Array.from({ length: count }, (_, n) => ({ id: `n${String(n).padStart(5, '0')}`, name: `name ${n}` }))

/** What came to the app before, however it is asked. */
type Notes = Store<{ notes: ReturnType<typeof first>['notes'] }>

describe('a new version of the documents', () => {
  test('is given to each of them once, before the first answer', async () => {
    const name = await left(many(1000))
    const asked: [string, number][] = []
    const migrate = (old: Former, from: number) => {
      asked.push([old.id, from])
      return renaming(old, from)
    }
    for (let opening = 0; opening < 2; opening++) {
      const store = open(second({ migrate }), name)
      const [one, found, count] = await Promise.all([
        store.notes.get('n00500'),
        store.notes.query({ where: { title: { startsWith: 'name ' } }, orderBy: 'title' }).get(),
        store.notes.query({ where: { runs: 1 } }).count(),
      ])
      expect(one).toMatchObject({ title: 'name 500', runs: 1, from: [1] })
      expect(one).not.toHaveProperty('name')
      expect(found).toHaveLength(1000)
      expect(count).toBe(1000)
      await store.close()
    }
    expect(asked).toEqual(many(1000).map(({ id }) => [id, 1]))
  })

  test('keeps when a document was written, so that it expires when it would have; its _etag is another', async () => {
    const name = newName()
    const old = open(first({ defaultTtl: 60 }), name)
    const [a] = await Promise.all([old.notes.upsert({ id: 'a' }), old.notes.upsert({ id: 'b', ttl: 30 })])
    advance(20)
    const { notes } = open(second({ defaultTtl: 60 }), name)
    const now = await notes.get('a')
    expect(now).toMatchObject({ runs: 1, _ts: a._ts })
    expect(now!._etag).not.toBe(a._etag)
    await expect(old.notes.replace({ id: 'a' }, { ifMatch: a._etag })).rejects.toMatchObject({
      code: 'precondition-failed',
    })
    expect(await notes.expiresAt('b')).toEqual(new Date(Math.round(a._ts * 1000) + 30_000))
    advance(10)
    expect(await notes.query().get()).toMatchObject([{ id: 'a' }])
    advance(30)
    expect(await notes.query().get()).toEqual([])
  })

  test('T11: a ttl that it gives is counted from when the document was written', async () => {
    const name = await left([{ id: 'long' }, { id: 'over' }, { id: 'same' }], { defaultTtl: 60 })
    advance(20)
    const migrate = (old: Former): Note => ({
      id: old.id,
      ...(old.id === 'long' ? { ttl: 100 } : old.id === 'over' ? { ttl: 15 } : {}),
    })
    const { notes } = open(second({ defaultTtl: 60, migrate }), name)
    expect((await notes.query().get()).map(({ id }) => id)).toEqual(['long', 'same'])
    expect(await notes.query().count()).toBe(2)
    expect(await notes.create({ id: 'over' })).toMatchObject({ id: 'over' })
    advance(40)
    expect(await notes.get('same')).toBeUndefined()
    advance(39.999)
    expect(await notes.get('long')).toBeDefined()
    advance(0.001)
    expect(await notes.get('long')).toBeUndefined()
  })

  test('T5: is not given to a document that has expired', async () => {
    const name = await left([{ id: 'a', ttl: 5 }, { id: 'b' }, { id: 'c', ttl: 10 }], { defaultTtl: -1 })
    advance(5)
    const asked: string[] = []
    const migrate = (old: Former, from: number) => {
      asked.push(old.id)
      return renaming(old, from)
    }
    const store = open(second({ defaultTtl: -1, migrate }), name)
    expect((await store.notes.query().get()).map(({ id }) => id)).toEqual(['b', 'c'])
    expect(asked).toEqual(['b', 'c'])
    expect(await store.notes.stats()).toMatchObject({ live: 2, expired: 0 })
  })

  test('deletes those for which it gives null', async () => {
    const name = await left(many(10))
    const migrate = (old: Former, from: number) => (old.id < 'n00005' ? null : renaming(old, from))
    const { notes } = open(second({ migrate }), name)
    expect(await notes.query().count()).toBe(5)
    expect((await notes.query().get()).map(({ id }) => id)).toEqual(
      many(10)
        .slice(5)
        .map(({ id }) => id),
    )
  })

  test('needs no migrate: then documents count as they are, also where one is given later', async () => {
    const name = await left([{ id: 'a', name: 'x' }])
    const without = open({ notes: collection<Note>({ version: 2 }) }, name)
    expect(await without.notes.get('a')).toMatchObject({ name: 'x' })
    await without.notes.upsert({ id: 'b', title: 'y' })
    await without.close()
    const { notes } = open(second(), name)
    expect(await notes.query().get()).toMatchObject([
      { id: 'a', title: 'x', runs: 1 },
      { id: 'b', title: 'y' },
    ])
    expect(await notes.get('b')).not.toHaveProperty('runs')
  })

  test('is what a new store begins with', async () => {
    const name = newName()
    const migrate = () => {
      throw new Error('There is nothing to migrate.')
    }
    const store = open(second({ migrate }), name)
    await store.notes.upsert({ id: 'a', title: 'x' })
    await store.close()
    expect(await open(second({ migrate }), name).notes.get('a')).toMatchObject({ title: 'x' })
  })

  test('skips versions: each document says of which it is', async () => {
    const name = await left([{ id: 'a' }, { id: 'b' }, { id: 'c' }])
    const two = open(second(), name)
    await two.notes.upsert({ id: 'd' })
    await two.close()
    const { notes } = open(third(), name)
    expect((await notes.query().get()).map(({ id, from }) => [id, from])).toEqual([
      ['a', [1, 2]],
      ['b', [1, 2]],
      ['c', [1, 2]],
      ['d', [2]],
    ])
    const other = open(third(), await left([{ id: 'a' }]))
    expect(await other.notes.get('a')).toMatchObject({ from: [1] })
  })

  test('reports how far it has come, up to all of them, and nothing where there is nothing to do', async () => {
    const name = await left(many(450))
    const told: MigrationProgress[] = []
    const onMigrate = (progress: MigrationProgress) => void told.push(progress)
    await open(second({ onMigrate }), name).ready
    await settled(() => expect(told.at(-1)).toEqual({ done: 450, total: 450 }))
    expect(told.length).toBeGreaterThan(1)
    expect(told.map(({ done }) => done)).toEqual(told.map(({ done }) => done).toSorted((a, b) => a - b))
    const { length } = told
    await open(second({ onMigrate }), name).notes.get('a')
    expect(told).toHaveLength(length)
  })

  test('moves every index with the documents, and lets unique values change hands', async () => {
    const name = newName()
    const schema = (options: CollectionOptions<Note>) => ({ notes: collection<Note>(options).uniqueIndex('code') })
    const old = open(schema({}), name)
    await old.notes.upsertMany([
      { id: 'a', code: '1' },
      { id: 'b', code: '2' },
      { id: 'c', code: '3' },
    ])
    await old.close()
    const migrate = (doc: Former) => ({ id: doc.id, code: String(Number(doc['code']) + 1) })
    const { notes } = open(schema({ version: 2, migrate }), name)
    expect(await notes.query({ where: { code: { gte: '2' } }, orderBy: 'code' }).get()).toMatchObject([
      { id: 'a', code: '2' },
      { id: 'b', code: '3' },
      { id: 'c', code: '4' },
    ])
    expect(await notes.query({ where: { code: '1' } }).count()).toBe(0)
    await expect(notes.create({ id: 'd', code: '2' })).rejects.toMatchObject({ code: 'conflict' })
    await notes.create({ id: 'd', code: '1' })
  })

  test('works for a collection without indexes too', async () => {
    const name = await left(many(300), { indexing: 'none' })
    const options: CollectionOptions<Note> = { version: 2, migrate: renaming, indexing: 'none' }
    const { notes } = open({ notes: collection<Note>(options) }, name)
    expect(await notes.query({ where: { runs: 1 } }).count()).toBe(300)
  })

  test('large documents come over a few at a time', async () => {
    const name = newName()
    const schema = (options: CollectionOptions<{ id: string; data: Uint8Array; runs?: number }>) => ({
      files: collection<{ id: string; data: Uint8Array; runs?: number }>(options),
    })
    const old = open(schema({}), name)
    await old.files.upsertMany(many(12).map(({ id }) => ({ id, data: new Uint8Array(250_000).fill(7) })))
    await old.close()
    const told: MigrationProgress[] = []
    const migrate = (doc: Former) => ({ id: doc.id, data: doc['data'] as Uint8Array, runs: 1 })
    const { files } = open(schema({ version: 2, migrate, onMigrate: (progress) => void told.push(progress) }), name)
    expect(await files.query({ where: { runs: 1 } }).count()).toBe(12)
    expect((await files.get('n00011'))!.data[249_999]).toBe(7)
    await settled(() => expect(told).toHaveLength(12))
  })
})

describe('a migration that fails', () => {
  const refused: [string, (old: Former) => unknown, RegExp, string?][] = [
    [
      'throws',
      () => {
        throw new TypeError('no name')
      },
      /threw/,
    ],
    ['gives nothing', () => undefined, /gave nothing.*null to delete/],
    ['gives no object', () => 5, /not a document/],
    ['gives an array', () => [], /not a document/],
    ['is async', async (old: Former) => old, /not be async/],
    ['changes the id', (old: Former) => ({ ...old, id: 'other' }), /changed the id/],
    ['gives what cannot be stored', (old: Former) => ({ ...old, run: () => 5 }), /not a document/],
    ['gives a bad ttl', (old: Former) => ({ ...old, ttl: 0 }), /ttl/],
    ['gives a unique value twice', (old: Former) => ({ ...old, code: 'same' }), /must be unique/, 'conflict'],
  ]
  for (const [what, migrate, text, code = 'invalid'] of refused) {
    test(`because it ${what} fails the opening, and the next one goes on from there`, async () => {
      const name = await left(many(400), { defaultTtl: -1 })
      const bad = (old: Former, from: number) =>
        (code === 'conflict' ? old.id >= 'n00250' : old.id === 'n00250') ? migrate(old) : renaming(old, from)
      const failing = (options: CollectionOptions<Note>) => ({
        notes: collection<Note>({ version: 2, defaultTtl: -1, ...options }).uniqueIndex('code'),
      })
      const culprit = { code, collection: 'notes', id: code === 'conflict' ? 'n00251' : 'n00250' }
      const store = open(failing({ migrate: bad as never }), name)
      await expect(store.ready).rejects.toMatchObject({ ...culprit, message: expect.stringMatching(text) })
      await expect(store.notes.get('n00001')).rejects.toMatchObject(culprit)
      await store.close()

      // A tab that does not migrate sees what is stored: what was done is done, the rest is as it was.
      const raw = open(first({ defaultTtl: -1 }), name)
      const half = await raw.notes.query().get()
      const done = code === 'conflict' ? 251 : 250
      expect(half.map(({ title, name: before }) => title ?? before)).toEqual(many(400).map((note) => note.name))
      expect(half.filter(({ runs }) => runs === 1)).toHaveLength(code === 'conflict' ? 250 : done)
      await raw.close()

      const mended = open(failing({ migrate: renaming, defaultTtl: -1 }), name)
      const all = await mended.notes.query().get()
      expect(all).toHaveLength(400)
      expect(all.filter(({ id, runs }) => runs !== (code === 'conflict' && id === 'n00250' ? undefined : 1))).toEqual(
        [],
      )
    })
  }

  test('does not touch what the cause was: it comes with the error', async () => {
    const name = await left([{ id: 'a' }])
    const migrate = () => {
      throw new TypeError('no name')
    }
    const store = open(second({ migrate }), name)
    await expect(store.ready).rejects.toMatchObject({ cause: { name: 'TypeError', message: 'no name' } })
  })

  test('is refused beforehand where it cannot work', () => {
    const bad = [
      { version: 0 },
      { version: 1.5 },
      { version: '2' },
      { version: null },
      { version: 2, migrate: {} },
      { migrate: renaming },
      { version: 1, migrate: renaming },
      { version: 2, onMigrate: () => undefined },
      { version: 2, migrate: renaming, onMigrate: 5 },
    ]
    for (const options of bad) {
      expect(() => collection<Note>(options as never), JSON.stringify(options)).toThrow(
        expect.objectContaining({ code: 'invalid' }),
      )
    }
  })
})

describe('an old version of the app that is still open', () => {
  test('goes on; what it writes is migrated before the new one reads it', async () => {
    const name = await left(many(3))
    const old = open(first(), name)
    await old.ready
    const { notes } = open(second(), name)
    expect(await notes.query().count()).toBe(3)
    // It sees what the new one has written, and writes in its own way.
    expect(await old.notes.get('n00001')).toMatchObject({ title: 'name 1' })
    await old.notes.upsert({ id: 'n00001', name: 'changed' })
    await old.notes.create({ id: 'new', name: 'made' })
    await old.notes.delete('n00002')
    expect(await notes.get('n00001')).toMatchObject({ title: 'changed', runs: 1 })
    expect(await notes.query({ where: { title: 'made' } }).get()).toMatchObject([{ id: 'new', runs: 1 }])
    expect(await notes.query({ where: { name: { exists: true } } }).count()).toBe(0)
    expect(await notes.query().count()).toBe(3)
    // A write of the new one does not lose what the old one has changed.
    await old.notes.upsert({ id: 'n00001', name: 'again' })
    await notes.update('n00001', (note) => ({ ...note, code: 'x' }))
    expect(await notes.get('n00001')).toMatchObject({ title: 'again', code: 'x', runs: 1 })
  })

  test('leaves a document that it merely touches as it is', async () => {
    const name = await left([{ id: 'a', name: 'x' }])
    const old = open(first(), name)
    const { notes } = open(second(), name)
    await notes.get('a')
    expect(await old.notes.touch('a')).toBe(true)
    expect(await notes.get('a')).toMatchObject({ title: 'x', runs: 1 })
    await old.notes.patch('a', { name: 'y' })
    expect(await notes.get('a')).toMatchObject({ title: 'y', runs: 2 })
  })

  test('may write more than can be listed', async () => {
    const name = await left(many(500))
    const old = open(first(), name)
    const { notes } = open(second(), name)
    await notes.query().count()
    await old.notes.upsertMany(many(300))
    expect(await notes.query({ where: { title: { exists: true } } }).count()).toBe(500)
    expect(await notes.query({ where: { runs: 1 } }).count()).toBe(500)
    await old.notes.upsertMany(many(30))
    expect(await notes.query({ where: { runs: 1 } }).count()).toBe(500)
  })

  test('does not keep the new one waiting, however fast it writes', async () => {
    const name = await left(many(3))
    const elders = [open(first(), name), open(first(), name)]
    const { notes } = open(second(), name)
    await notes.get('n00001')
    let isOver = false
    let writes = 0
    const writing = elders.map(async (old, at) => {
      while (!isOver) {
        await old.notes.upsert({ id: `${at}-${writes++ % 10}`, name: 'x' })
      }
    })
    for (let n = 0; n < 10; n++) {
      const before = writes
      await settled(() => expect(writes).toBeGreaterThan(before))
      expect(await notes.query({ where: { name: { exists: true } } }).count()).toBe(0)
    }
    isOver = true
    await Promise.all(writing)
  })

  test('cannot put a second document with a unique value past the new one', async () => {
    const name = await left([{ id: 'a', name: 'x' }])
    const old = open(first(), name)
    const schema = { notes: collection<Note>({ version: 2, migrate: renaming }).uniqueIndex('title') }
    const { notes } = open(schema, name)
    await notes.get('a')
    await old.notes.upsert({ id: 'b', name: 'x' })
    await expect(notes.get('a')).rejects.toMatchObject({ code: 'conflict', collection: 'notes', id: 'b' })
    await old.notes.delete('b')
    expect(await notes.query({ where: { title: 'x' } }).get()).toMatchObject([{ id: 'a' }])
  })

  test('is followed by live queries and listeners of the new one, in the new shape only', async () => {
    const name = await left(many(3))
    const old = open(first(), name)
    await old.ready
    const { notes } = open(second(), name)
    const results: (string | undefined)[][] = []
    const changes: unknown[] = []
    const errors: unknown[] = []
    const stop = notes.query({ orderBy: 'title' }).subscribe(
      (found) => results.push(found.map(({ title }) => title)),
      (error) => errors.push(error),
    )
    const unlisten = notes.changes((change) => {
      changes.push(change.type === 'upsert' ? [change.id, change.doc.title, change.doc.name] : [change.id, change.type])
    })
    await settled(() => expect(results.at(-1)).toEqual(['name 0', 'name 1', 'name 2']))
    await old.notes.upsert({ id: 'n00001', name: 'zebra' })
    await settled(() => expect(results.at(-1)).toEqual(['name 0', 'name 2', 'zebra']))
    await old.notes.delete('n00000')
    await settled(() => expect(results.at(-1)).toEqual(['name 2', 'zebra']))
    await settled(() =>
      expect(changes).toEqual([
        ['n00001', 'zebra', undefined],
        ['n00000', 'delete'],
      ]),
    )
    expect(errors).toEqual([])
    stop()
    unlisten()
  })

  test('sees the migration in its live queries, and its listeners hear of no single document', async () => {
    const name = await left(many(450))
    const old = open(first(), name)
    const results: number[] = []
    const changes: string[] = []
    const stop = old.notes
      .query({ where: { title: { exists: true } } })
      .subscribe((found) => results.push(found.length))
    const unlisten = old.notes.changes(({ id }) => changes.push(id))
    await settled(() => expect(results).toEqual([0]))
    await open(second(), name).ready
    await settled(() => expect(results.at(-1)).toBe(450))
    // Once.
    expect(results).toEqual([0, 450])
    await old.notes.upsert({ id: 'last' })
    await settled(() => expect(changes).toEqual(['last']))
    stop()
    unlisten()
  })
})

describe('two tabs that open a new version at once', () => {
  test('migrate every document once', async () => {
    const name = await left(many(700))
    const stores = [open(second(), name), open(second(), name), open(second(), name)]
    for (const { notes } of stores) expect(await notes.query({ where: { runs: 1 } }).count()).toBe(700)
  })
})

describe('three versions of the app at once', () => {
  const versions: Record<string, (name: string) => Notes> = {
    'N-1': (name) => open(first({ defaultTtl: 500 }), name),
    N: (name) => open(second({ defaultTtl: 1000 }), name),
    'N+1': (name) => open(third({ defaultTtl: 2000 }), name) as unknown as Notes,
  }
  const orders = Object.keys(versions).flatMap((a) =>
    Object.keys(versions).flatMap((b) => Object.keys(versions).map((c) => [a, b, c])),
  )
  for (const order of orders.filter((names) => new Set(names).size === 3)) {
    test(`opened as ${order.join(', ')}: each reads, writes, queries and follows`, async () => {
      const name = await left([{ id: 'first', name: 'first', code: '0' }])
      const tabs: { version: string; store: Notes; seen: Map<string, Note> }[] = []
      for (const version of order) {
        const store = versions[version]!(name)
        await store.ready
        tabs.push({ version, store, seen: new Map() })
      }
      const stops: (() => void)[] = []
      for (const [at, { version, store, seen }] of tabs.entries()) {
        const field = version === 'N-1' ? 'name' : 'title'
        await store.notes.upsert({ id: version, [field]: `by ${version}`, code: String(at) })
        stops.push(
          store.notes.query().subscribe((found) => {
            seen.clear()
            for (const note of found) seen.set(note.id, note)
          }),
        )
      }
      for (const { version, store } of tabs) {
        const field = version === 'N-1' ? 'name' : 'title'
        // Each writes what another has made, and all see it, those of newer versions as their own.
        await store.notes.upsert({ id: 'shared', [field]: `shared by ${version}` })
        for (const other of tabs) {
          const found = await other.store.notes.query({ orderBy: 'id' }).get()
          expect(found.map(({ id }) => id)).toEqual(['N', 'N+1', 'N-1', 'first', 'shared'].toSorted())
          const shared = (await other.store.notes.get('shared'))!
          expect(shared.title ?? shared.name).toBe(`shared by ${version}`)
          if (other.version === 'N-1') continue
          for (const note of found) expect(note, `${other.version} reads ${note.id}`).not.toHaveProperty('name')
          const where = { title: `shared by ${version}` }
          expect(await other.store.notes.query({ where }).get()).toMatchObject([{ id: 'shared' }])
          await settled(() => expect(other.seen.get('shared')?.title).toBe(`shared by ${version}`))
        }
      }
      // An index that only the newest has covers what the oldest wrote.
      const newest = tabs.find(({ version }) => version === 'N+1')!.store
      expect(await newest.notes.query({ where: { runs: { gte: 1 } } }).explain()).toMatchObject({ index: 'runs' })
      expect(await newest.notes.query({ where: { runs: { gte: 1 }, id: 'N-1' } }).count()).toBe(1)
      // The last that declared another defaultTtl has set it, for all.
      const [one, two, three] = await Promise.all(tabs.map(({ store }) => store.notes.settings()))
      const declared = { 'N-1': 500, N: 1000, 'N+1': 2000 }[order[2]!]
      expect([one, two, three].map((settings) => settings!.defaultTtl)).toEqual([declared, declared, declared])
      for (const stop of stops) stop()
    })
  }
})

test('what a future version of mayfly keeps in a setting, or beside it, is kept', async () => {
  const name = await left([{ id: 'a', name: 'x' }], { defaultTtl: 60 })
  // Version 2 adds an index, for which every other connection steps aside.
  await open(second({ defaultTtl: 60 }), name).ready
  const raw = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name)
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
  const ask = <T>(mode: IDBTransactionMode, make: (store: IDBObjectStore) => IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      const request = make(raw.transaction('notes', mode).objectStore('notes'))
      request.addEventListener('success', () => resolve(request.result))
      request.addEventListener('error', () => reject(request.error))
    })
  const setting = await ask<Record<string, unknown>>('readonly', (store) => store.get(0))
  await ask('readwrite', (store) => store.put({ ...setting, shade: { of: ['things'] } }, 0))
  const store = open(second({ defaultTtl: 90 }), name)
  await store.notes.setDefaultTtl(30)
  await store.notes.upsert({ id: 'b', title: 'y' })
  const stop = store.notes.changes(() => undefined)
  await store.notes.upsert({ id: 'c', title: 'z' })
  stop()
  await store.sweep()
  expect(await ask<Record<string, unknown>>('readonly', (notes) => notes.get(0))).toMatchObject({
    shade: { of: ['things'] },
    defaultTtl: 30,
  })
  raw.close()
})
