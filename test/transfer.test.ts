import { collection, MayflyError } from 'mayfly'
import type { ImportOptions } from 'mayfly'
import { describe, expect, test } from 'vitest'
import { advance, START } from './support/clock.js'
import { keepsStack, portrait } from './support/portrait.js'
import { DAY, newName, open } from './support/stores.js'

interface Thing {
  id: string
  value?: unknown
  code?: string
  ttl?: number
}

const schema = {
  things: collection<Thing>({ defaultTtl: 60 }).index('value').uniqueIndex('code'),
  others: collection<Thing>(),
}

const fresh = () => open(schema)
const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => new Response(stream).text()

/** What a store holds, without what an import makes anew. */
async function holds(store: ReturnType<typeof fresh>) {
  const [things, others] = await Promise.all([store.things.query().get(), store.others.query().get()])
  return { things: things.map(plain), others: others.map(plain) }
}

function plain(doc: Thing & { _etag: string }): Partial<typeof doc> {
  const { _etag: _, ...rest } = doc
  return rest
}

function fileOf(lines: unknown[], { end }: { end?: unknown[] } = {}) {
  const header = {
    format: 'mayfly',
    version: 1,
    store: 'any',
    collections: [
      { name: 'things', defaultTtl: 60, version: 1 },
      { name: 'others', defaultTtl: null, version: 1 },
    ],
  }
  const footer = { end: end ?? ['things', 'others'].map((name) => lines.filter((line) => isIn(line, name)).length) }
  return [header, ...lines, footer].map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
}

function isIn(line: unknown, name: string): boolean {
  return (typeof line === 'string' ? line.includes(`"in":"${name}"`) : (line as { in: string }).in === name) as boolean
}

const inThings = (doc: object) => ({ in: 'things', doc: { _ts: START / 1000, ...doc } })

async function refusal(file: Parameters<ReturnType<typeof fresh>['import']>[0], options?: ImportOptions) {
  const store = fresh()
  const kept = await store.things.upsert({ id: 'kept' })
  const error: unknown = await store.import(file, options).then(
    () => 'resolved',
    (reason) => reason,
  )
  expect(await store.things.query().get()).toEqual([kept])
  expect(await store.things.stats()).toMatchObject({ live: 1, expired: 0 })
  expect(error).toBeInstanceOf(MayflyError)
  return error as MayflyError
}

describe('what is exported', () => {
  test('comes back as it was, with its types', async () => {
    const buffer = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer
    const error = Object.assign(new RangeError('too far'), { cause: new TypeError('why') })
    const sparse: unknown[] = [undefined, , 2, 3]
    sparse.length = 5
    const values = {
      date: new Date(5),
      noDate: new Date(NaN),
      map: new Map<unknown, unknown>([
        [{ a: 1 }, new Set([1n, 'x'])],
        ['__proto__', undefined],
      ]),
      bytes: new Uint8Array(buffer, 2, 3),
      same: new Float32Array(buffer, 0, 2),
      view: new DataView(buffer, 1, 2),
      large: new Uint8Array(100_000).map((_, at) => at),
      bigs: new BigInt64Array([-5n]),
      buffer: new ArrayBuffer(3),
      regexp: /a\/[b"]\n/giu,
      bigint: -12345678901234567890123n,
      numbers: [NaN, Infinity, -Infinity, -0, 0, 1e300, 5e-324],
      nothing: [undefined, null, undefined],
      error,
      boxes: [Object(5), Object('s'), Object(true), Object(7n)],
      sparse,
      named: Object.assign([1, 2], { name: 'list' }),
      text: '\ud800 \u2028 " \\ \n ünï 𝒜',
      tagged: { $: 'Date', v: 5, $inner: { $: { $: 'ref', n: 0 } } },
      proto: JSON.parse('{"__proto__": {"admin": true}, "constructor": {"prototype": 1}, "toJSON": 1, "length": 2}'),
      empty: { '': { '\n': [] } },
    }
    const store = fresh()
    await store.things.upsert({ id: 'a', value: values })
    await store.others.upsert({ id: '__proto__', value: [] })
    const before = await holds(store)
    const other = fresh()
    expect(await other.import(store.export())).toEqual({ imported: 2, expired: 0, kept: 0, stopped: false })
    expect(portrait(await holds(other))).toEqual(portrait(before))
    const [{ value }] = (await holds(other)).things as unknown as [{ value: typeof values }]
    expect(value.bytes.buffer).toBe(value.same.buffer)
    expect(value.view.buffer).toBe(value.same.buffer)
    expect(Object.keys(value.sparse)).toEqual(['0', '2', '3'])
    // WebKit keeps no cause.
    const { cause, stack } = structuredClone(error)
    expect([value.error.name, portrait(value.error.cause)]).toEqual(['RangeError', portrait(cause)])
    if (keepsStack) expect(value.error.stack).toBe(stack)
    else expect(value.error.stack).toBeTypeOf('string')
    expect(Object.hasOwn(value.proto as object, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  test('keeps cycles, and what is shared', async () => {
    const store = fresh()
    const shared = { date: new Date(7), list: [1] }
    const map = new Map<unknown, unknown>()
    map.set(map, new Set([map]))
    const cause = new Error('why')
    cause.cause = shared
    const doc: Thing = { id: 'a', value: { map, cause, first: shared, second: [shared, shared.date, shared.list] } }
    ;(doc.value as { up: unknown }).up = doc
    await store.things.upsert(doc)
    const other = fresh()
    await other.import(await textOf(store.export()))
    const back = (await other.things.get('a'))!
    type Value = Record<'map' | 'cause' | 'up', unknown> & { first: typeof shared; second: unknown[] }
    const value = back.value as Value
    // WebKit makes two of a Date that is there twice, and keeps no cause.
    const clone = structuredClone(doc.value) as Value
    const isCause = ({ cause: of, first }: Value) => (of as Error).cause === first
    expect(value['up']).toBe(back)
    expect(value['second'][0]).toBe(value['first'])
    expect(value['second'][1]).toEqual(shared.date)
    expect(value['second'][1] === value.first.date).toBe(clone['second'][1] === clone.first.date)
    expect(value['second'][2]).toBe(value.first.list)
    expect(isCause(value)).toBe(isCause(clone))
    const again = value['map'] as typeof map
    expect([...(again.get(again) as Set<unknown>)]).toEqual([again])
  })

  test('holds Blobs with what is in them', async () => {
    const store = fresh()
    const blob = new Blob([new Uint8Array(70_000).map((_, at) => at)], { type: 'image/x' })
    await store.others.upsert({ id: 'a', value: [blob] })
    const other = fresh()
    await other.import(store.export())
    const [back] = (await other.others.get('a'))!.value as [Blob]
    expect([back.type, back.size]).toEqual(['image/x', 70_000])
    expect(new Uint8Array(await back.arrayBuffer())).toEqual(new Uint8Array(await blob.arrayBuffer()))
  })

  // Node cannot clone a File.
  if (typeof document !== 'undefined') {
    test('holds Files with their names', async () => {
      const store = fresh()
      await store.others.upsert({ id: 'a', value: new File(['text'], 'a.txt', { type: 'text/x', lastModified: 5 }) })
      const other = fresh()
      await other.import(store.export())
      const back = (await other.others.get('a'))!.value as File
      expect([back instanceof File, back.name, back.type, back.lastModified]).toEqual([true, 'a.txt', 'text/x', 5])
      expect(await back.text()).toBe('text')
    })

    test('fails, naming the document, where one holds what no text can', async () => {
      const store = fresh()
      await store.others.upsert({ id: 'a', value: new ImageData(1, 1) })
      await expect(store.export().getReader().read()).resolves.toMatchObject({ done: false })
      const reading = (async () => {
        const reader = store.export().getReader()
        while (!(await reader.read()).done);
      })()
      await expect(reading).rejects.toMatchObject({ code: 'invalid', collection: 'others', id: 'a' })
    })
  }

  test('is nested as deep as every browser can clone, and no deeper', async () => {
    const nest = (depth: number) => {
      let value: unknown = 1
      for (let level = 0; level < depth; level++) value = level % 2 ? [value] : new Map([[1, value]])
      return value
    }
    const store = fresh()
    await store.others.upsert({ id: 'a', value: nest(990) })
    const file = await textOf(store.export())
    expect(await fresh().import(file)).toMatchObject({ imported: 1 })
    await store.others.upsert({ id: 'b', value: nest(1010) })
    await expect(drain(store.export())).rejects.toMatchObject({ code: 'invalid', collection: 'others', id: 'b' })
  })

  test('may come in any parts, of bytes or of text', async () => {
    const value = 'aü\u20ac𝒜𝒜b'
    const file = fileOf([inThings({ id: '𝒜', value })])
    const units = Array.from({ length: file.length }, (_, at) => file[at]!)
    const bytes = Array.from(new TextEncoder().encode(file), (byte) => Uint8Array.of(byte))
    const halves = file.split(/(?<=[\ud800-\udbff])/).flatMap((part) => ['', part, ''])
    const mixed = [...new TextEncoder().encode(file.slice(0, 9))].map((byte) => Uint8Array.of(byte))
    for (const parts of [units, bytes, halves, [...mixed, ...units.slice(9)]] as (string | Uint8Array)[][]) {
      const store = fresh()
      async function* source() {
        yield* parts
      }
      expect(await store.import(source())).toMatchObject({ imported: 1 })
      expect(await store.things.get('𝒜')).toMatchObject({ value })
    }
  })

  test('goes through compression and out of a Blob', async () => {
    const store = fresh()
    await store.things.upsertMany(Array.from({ length: 1200 }, (_, n) => ({ id: `i${n}`, value: n })))
    const zipped = await new Response(store.export().pipeThrough(new CompressionStream('gzip'))).blob()
    const other = fresh()
    const unzipped = zipped.stream().pipeThrough(new DecompressionStream('gzip'))
    expect(await other.import(unzipped)).toMatchObject({ imported: 1200 })
    expect(await holds(other)).toEqual(await holds(store))
    expect(await fresh().import(new Blob([await textOf(store.export())]))).toMatchObject({ imported: 1200 })
    expect(await fresh().import(new Response(store.export()))).toMatchObject({ imported: 1200 })
    const error = await refusal(zipped)
    expect(error.message).toContain('DecompressionStream')
  })

  test('is read page by page, when somebody reads, and only of the collections asked for', async () => {
    const store = fresh()
    await store.things.upsertMany(Array.from({ length: 300 }, (_, n) => ({ id: `i${n}`, value: 'x'.repeat(10_000) })))
    await store.others.upsert({ id: 'other' })
    const reader = store.export({ collections: ['things'] }).getReader()
    const sizes: number[] = []
    for (let part = await reader.read(); !part.done; part = await reader.read()) sizes.push(part.value.length)
    expect(sizes.length).toBeGreaterThan(8)
    expect(Math.max(...sizes)).toBeLessThan(1_000_000)
    expect(await textOf(store.export({ collections: ['others'] }))).not.toContain('things')
    await expect(drain(store.export({ collections: ['nothing'] }))).rejects.toMatchObject({ code: 'invalid' })
  })

  test('ends with an error when the signal says so', async () => {
    const store = fresh()
    const stopping = new AbortController()
    const reader = store.export({ signal: stopping.signal }).getReader()
    await reader.read()
    stopping.abort(new Error('enough'))
    await expect(reader.read()).rejects.toThrow('enough')
    await expect(drain(store.export({ signal: stopping.signal }))).rejects.toThrow('enough')
  })
})

async function drain(stream: ReadableStream<unknown>): Promise<void> {
  const reader = stream.getReader()
  while (!(await reader.read()).done);
}

describe('lifetimes', () => {
  test('T5: what has expired is not exported, not even between two reads', async () => {
    const store = fresh()
    await store.things.upsertMany([
      { id: 'gone', ttl: 1 },
      { id: 'here', ttl: 100 },
    ])
    const reader = store.export().getReader()
    await reader.read()
    advance(1)
    const rest: string[] = []
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      rest.push(new TextDecoder().decode(part.value))
    }
    expect(rest.join('')).toContain('"here"')
    expect(rest.join('')).not.toContain('gone')
  })

  test('T10: an import is no write: documents live no longer than they would have', async () => {
    const store = fresh()
    await store.things.upsertMany([{ id: 'inherits' }, { id: 'own', ttl: 100 }, { id: 'ever', ttl: -1 }])
    const file = await textOf(store.export())
    advance(59.999)
    const other = fresh()
    expect(await other.import(file)).toMatchObject({ imported: 3, expired: 0 })
    expect(await other.things.get('own')).toMatchObject({ _ts: START / 1000, ttl: 100 })
    expect(await other.things.expiresAt('inherits')).toEqual(new Date(START + 60_000))
    advance(0.001)
    expect((await other.things.query().get()).map(({ id }) => id)).toEqual(['ever', 'own'])
    expect(await fresh().import(file)).toEqual({ imported: 2, expired: 1, kept: 0, stopped: false })
    advance(40)
    expect((await other.things.query().get()).map(({ id }) => id)).toEqual(['ever'])
  })

  test('a document from the future was written now', async () => {
    const store = fresh()
    await store.import(fileOf([inThings({ id: 'a', _ts: START / 1000 + 1000 })]))
    expect(await store.things.get('a')).toMatchObject({ _ts: START / 1000 })
  })

  test('T3: a bad ttl is refused with TTL on, at its line, and stored with TTL off', async () => {
    const error = await refusal(fileOf([inThings({ id: 'a' }), inThings({ id: 'b', ttl: 0 })]))
    expect(error).toMatchObject({ code: 'invalid', collection: 'things', id: 'b' })
    expect(error.message).toMatch(/^things\/b: line 3 .*a ttl is -1/)
    const store = fresh()
    await store.import(fileOf([{ in: 'others', doc: { id: 'b', _ts: 5, ttl: 'x' } }]))
    expect(await store.others.get('b')).toMatchObject({ ttl: 'x' })
  })

  test('T8: what was dead under the setting of the store stays dead, unless the file brings its setting', async () => {
    const long = { things: collection<Thing>({ defaultTtl: DAY }) }
    const store = open(long)
    await store.things.upsert({ id: 'a' })
    const file = await textOf(store.export())
    advance(3600)
    const other = fresh()
    expect(await other.import(file)).toMatchObject({ imported: 0, expired: 1 })
    expect(await other.things.settings()).toMatchObject({ defaultTtl: 60 })
    expect(await other.import(file, { settings: true })).toMatchObject({ imported: 1, expired: 0 })
    expect(await other.things.settings()).toMatchObject({ defaultTtl: DAY })
    expect(await other.things.expiresAt('a')).toEqual(new Date(START + DAY * 1000))
    const third = fresh()
    expect(await third.import(file, { settings: true, partial: true })).toMatchObject({ imported: 1 })
    expect(await third.things.get('a')).toMatchObject({ id: 'a' })
  })

  test('the expiry of an imported document is told, though a later one has been', async () => {
    const store = fresh()
    const told: string[] = []
    store.things.changes(({ type, id }) => told.push(`${type} ${id}`))
    await store.things.upsert({ id: 'a' })
    advance(60)
    await store.things.upsert({ id: 'b', ttl: -1 })
    await store.things.setDefaultTtl(DAY)
    await store.sweep()
    await store.import(fileOf([inThings({ id: 'c', _ts: START / 1000 - 100 })]))
    advance(DAY)
    await store.things.upsert({ id: 'd', ttl: -1 })
    await expect.poll(() => told).toEqual(['upsert a', 'expire a', 'upsert b', 'upsert c', 'expire c', 'upsert d'])
  })
})

describe('the shape of documents', () => {
  test('those of an earlier version are migrated once they are imported', async () => {
    const store = fresh()
    await store.things.upsertMany([
      { id: 'a', value: 1 },
      { id: 'b', value: 2 },
    ])
    const file = await textOf(store.export({ collections: ['things'] }))
    const migrate = (doc: object, from: number) => ({
      ...doc,
      value: `${from}: ${String((doc as Thing).value as number)}`,
    })
    const next = {
      things: collection<Thing>({ defaultTtl: 60, version: 2, migrate: (doc, from) => migrate(doc, from) as Thing }),
    }
    const other = open(next)
    await other.things.upsert({ id: 'c', value: 'new' })
    expect(await other.import(file)).toMatchObject({ imported: 2 })
    const values = (docs: Thing[]) => docs.map(({ value }) => value)
    expect(values(await other.things.query().get())).toEqual(['1: 1', '1: 2', 'new'])
    const third = open(next)
    await third.import(other.export())
    expect(values(await third.things.query().get())).toEqual(['1: 1', '1: 2', 'new'])
  })
})

describe('a limit of documents', () => {
  test('refuses a file that is larger; others make way for one that is not', async () => {
    const small = { things: collection<Thing>({ defaultTtl: 60, maxDocuments: 3 }) }
    const store = open(small)
    await store.things.upsertMany([{ id: 'soon', ttl: 5 }, { id: 'later' }])
    const file = (ids: string[]) => {
      const lines = fileOf(
        ids.map((id) => inThings({ id })),
        { end: [ids.length] },
      )
      return lines.replace(/,\{"name":"others"[^}]*\}/, '')
    }
    await expect(store.import(file(['a', 'b', 'c', 'd']))).rejects.toMatchObject({
      code: 'quota',
      collection: 'things',
    })
    expect((await store.things.query().get()).map(({ id }) => id)).toEqual(['later', 'soon'])
    expect(await store.import(file(['a', 'b']))).toMatchObject({ imported: 2 })
    expect((await store.things.query().get()).map(({ id }) => id)).toEqual(['a', 'b', 'later'])
    expect(await store.import(file(['a', 'b']), { onConflict: 'replace' })).toMatchObject({ imported: 2 })
    await store.things.delete('later')
    await store.things.upsertMany([{ id: 'x' }])
    expect(await store.things.query().count()).toBe(3)
  })
})

describe('what is there already', () => {
  const file = fileOf([
    inThings({ id: 'a', code: 'x', value: 'file' }),
    inThings({ id: 'b', code: 'y', value: 'file' }),
  ])

  test('is not overwritten unless asked, and then all of it', async () => {
    const store = fresh()
    await store.things.upsertMany([{ id: 'b', value: 'store' }])
    const before = await holds(store)
    await expect(store.import(file)).rejects.toMatchObject({ code: 'conflict', collection: 'things', id: 'b' })
    await expect(store.import(file)).rejects.toThrow(/onConflict.*Nothing was imported/)
    expect(await holds(store)).toEqual(before)
    expect(await store.import(file, { onConflict: 'keep' })).toMatchObject({ imported: 1, kept: 1 })
    expect((await store.things.getMany(['a', 'b'])).map((doc) => doc!.value)).toEqual(['file', 'store'])
    expect(await store.import(file, { onConflict: 'replace' })).toMatchObject({ imported: 2, kept: 0 })
    expect((await store.things.getMany(['a', 'b'])).map((doc) => doc!.value)).toEqual(['file', 'file'])
  })

  test('T6: an expired document is in nobody’s way', async () => {
    const store = fresh()
    await store.things.upsertMany([
      { id: 'a', ttl: 1 },
      { id: 'z', code: 'y', ttl: 1 },
    ])
    advance(1)
    expect(await store.import(file)).toMatchObject({ imported: 2 })
  })

  test('a unique value that another document holds refuses the file; one that changes hands does not', async () => {
    const store = fresh()
    await store.things.upsertMany([{ id: 'z', code: 'y' }])
    const before = await holds(store)
    await expect(store.import(file)).rejects.toMatchObject({ code: 'conflict', collection: 'things', id: 'b' })
    expect(await holds(store)).toEqual(before)
    await store.things.delete('z')
    await store.things.upsert({ id: 'b', code: 'x' })
    expect(await store.import(file, { onConflict: 'replace' })).toMatchObject({ imported: 2 })
    expect((await store.things.getMany(['a', 'b'])).map((doc) => doc!.code)).toEqual(['x', 'y'])
  })
})

describe('a damaged or hostile file is refused at the line, with nothing imported', () => {
  const tree = (value: unknown) => inThings({ id: 'b', value })
  const nested = (open: string, close: string, depth: number) =>
    `{"in":"things","doc":{"id":"b","_ts":1,"value":${open.repeat(depth)}1${close.repeat(depth)}}}`

  test.each<[string, unknown]>([
    ['no JSON', '{"in":"things"'],
    ['text with a secret', 'secret'],
    ['a list', '[]'],
    ['an unknown collection', { in: 'nothing', doc: { id: 'b', _ts: 1 } }],
    ['a collection of every object', { in: '__proto__', doc: { id: 'b', _ts: 1 } }],
    ['the constructor', { in: 'constructor', doc: { id: 'b', _ts: 1 } }],
    ['no document', { in: 'things' }],
    ['a document that is none', { in: 'things', doc: [{ id: 'b', _ts: 1 }] }],
    ['a Date for a document', { in: 'things', doc: { $: 'Date', v: 5 } }],
    ['no id', inThings({ value: 'secret' })],
    ['an id that is none', inThings({ id: 5 })],
    ['an id that is too long', inThings({ id: 'x'.repeat(1024) })],
    ['no time', { in: 'things', doc: { id: 'b' } }],
    ['a time that is none', inThings({ id: 'b', _ts: 'secret' })],
    ['a time before time', inThings({ id: 'b', _ts: -1 })],
    ['a type that there is not', tree({ $: 'Function', v: 'secret' })],
    ['the type of every object', tree({ $: '__proto__', v: 'secret' })],
    ['the constructor for a type', tree({ $: 'constructor', v: 'secret' })],
    ['a type that is none', tree({ $: ['Date'], v: 5 })],
    ['a Date that is none', tree({ $: 'Date', v: 'secret' })],
    ['a Map that is none', tree({ $: 'Map', v: [['secret']] })],
    ['a Map whose pairs are objects', tree({ $: 'Map', v: [{ 0: 1, 1: 2, length: 2 }] })],
    ['a Set that is none', tree({ $: 'Set', v: 'secret' })],
    ['no base64', tree({ $: 'ArrayBuffer', v: '!secret!' })],
    ['a view of nothing', tree({ $: 'Uint8Array', at: 0, length: 1, v: [1] })],
    ['a view beyond the end', tree({ $: 'Uint8Array', at: 0, length: 9, v: { $: 'ArrayBuffer', v: 'AAAA' } })],
    ['a view of a length that is none', tree({ $: 'Uint8Array', at: 0, v: { $: 'ArrayBuffer', v: 'AAAA' } })],
    ['a view that is no view', tree({ $: 'Array', at: 0, length: 1, v: { $: 'ArrayBuffer', v: 'AAAA' } })],
    ['an array beyond its end', tree({ $: 'Array', length: 1, v: [['5', 1]] })],
    ['an array with a length inside', tree({ $: 'Array', length: 1, v: [['length', 5]] })],
    ['an array of a length that is none', tree({ $: 'Array', length: -1, v: [] })],
    ['an expression that is none', tree({ $: 'RegExp', source: '(', flags: 'secret' })],
    ['an error that is none', tree({ $: 'Error', name: 'secret', message: '' })],
    ['a number that is none', tree({ $: 'number', v: 'secret' })],
    ['a bigint that is none', tree({ $: 'bigint', v: '0x5' })],
    ['a box of an object', tree({ $: 'boxed', v: { $: 'Map', v: [] } })],
    ['a reference to nothing', tree({ $: 'ref', n: 0 })],
    ['a definition of a reference', tree({ $: 'def', n: 0, v: { $: 'ref', n: 0 } })],
    ['a definition of a definition', tree({ $: 'def', n: 0, v: { $: 'def', n: 0, v: {} } })],
    ['a definition of a number', tree({ $: 'def', n: 0, v: 5 })],
    ['arrays in arrays without end', nested('[', ']', 200_000)],
    ['objects in objects without end', nested('{"a":', '}', 200_000)],
    ['Sets in Sets', nested('{"$":"Set","v":[', ']}', 1500)],
    ['the same document again', inThings({ id: 'a' })],
  ])('%s', async (_, line) => {
    const error = await refusal(fileOf([inThings({ id: 'a', value: 1 }), line], { end: [2, 0] }))
    expect(error.code).toBe('invalid')
    expect(error.message).toContain('line 3 of the file')
    expect(error.message).not.toContain('secret')
    expect(String(error.cause)).not.toContain('secret')
    expect(error.message.length).toBeLessThan(400)
  })

  test.each<[string, string, RegExp]>([
    ['nothing', '', /line 1 .*ends before/],
    ['another file', '{"name": "package"}', /line 1 .*no export/],
    ['a later version', '{"format": "mayfly", "version": 2}', /line 1 .*version 2/],
    ['no collections', '{"format": "mayfly", "version": 1}', /line 1/],
    ['collections that are none', '{"format":"mayfly","version":1,"collections":[null]}', /line 1/],
    ['a collection twice', headerOf('things', 'things'), /line 1 .*twice/],
    ['a collection that the store has not', headerOf('strange'), /line 1 .*strange.*collections/],
    ['a collection called like a method', headerOf('constructor'), /line 1/],
    ['a version that is none', headerOf('things').replace('"version":1}]', '"version":0}]'), /line 1/],
    ['a setting that is none', headerOf('things').replace('null', '0'), /line 1 .*defaultTtl/],
    [
      'the end missing',
      fileOf([inThings({ id: 'a' })])
        .split('\n')
        .slice(0, -1)
        .join('\n'),
      /line 3 .*ends before/,
    ],
    ['half a line', fileOf([inThings({ id: 'a' })]).slice(0, -3), /line 3 .*not JSON/],
    ['a line missing', fileOf([inThings({ id: 'a' })], { end: [2, 0] }), /line 3 .*other numbers/],
    ['a line more', fileOf([inThings({ id: 'a' })], { end: [0, 0] }), /line 3 .*other numbers/],
    ['something behind the end', `${fileOf([])}\n{}`, /line 3 .*after the end/],
  ])('a file with %s', async (_, file, says) => {
    const error = await refusal(file)
    expect(error).toMatchObject({ code: 'invalid' })
    expect(error.message).toMatch(says)
  })

  test('bytes that are no text', async () => {
    const bytes = new TextEncoder().encode(
      fileOf([inThings({ id: 'a' }), inThings({ id: 'b', value: 'x'.repeat(20) })]),
    )
    bytes.fill(0xff, bytes.length - 40, bytes.length - 35)
    expect((await refusal(new Blob([bytes]))).message).toMatch(/line 3 .*UTF-8/)
  })

  const twoLines = fileOf([inThings({ id: 'a' })])
    .split('\n')
    .slice(0, 2)
    .join('\n')
  test.each<[string, (lone: string) => (string | Uint8Array)[]]>([
    ['in one part', (lone) => [fileOf([inThings({ id: 'a' }), `"${lone}"`, inThings({ id: 'b' })])]],
    ['between two parts', (lone) => [`${twoLines}\n"${lone}`, '"\n']],
    ['before bytes', (lone) => [twoLines, `\n"${lone}`, new Uint8Array(9)]],
    ['at the end', (lone) => [`${twoLines}\n${lone}`]],
  ])('half of a character, which no encoder can keep: %s', async (_, partsWith) => {
    for (const lone of ['\ud835', '\udc9c', '\udc9c\ud835', '\ud835\ud835']) {
      async function* source() {
        yield* partsWith(lone)
      }
      expect((await refusal(source())).message).toMatch(/line 3 .*half of a character/)
    }
  })

  test('a line without end', async () => {
    const part = new Uint8Array(16 * 1024 * 1024).fill(0x20)
    let given = 0
    async function* endless() {
      yield `${fileOf([inThings({ id: 'a' })])
        .split('\n')
        .slice(0, 2)
        .join('\n')}\n`
      for (;;) {
        given++
        yield part
      }
    }
    const error = await refusal(endless())
    expect(error.message).toMatch(/line 3 .*longer than/)
    expect(given).toBeLessThan(20)
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a number', 5],
    ['an object', {}],
    ['a stream of numbers', new ReadableStream({ start: (controller) => controller.enqueue(5) })],
    ['a response that failed', new Response('', { status: 404 })],
  ])('a source that is %s', async (_, source) => {
    expect(await refusal(source as string)).toMatchObject({ code: 'invalid' })
  })

  test('a source that breaks off', async () => {
    async function* breaking() {
      yield `${fileOf([inThings({ id: 'a' })])
        .split('\n')
        .slice(0, 2)
        .join('\n')}\n`
      throw new Error('no network')
    }
    const error = await refusal(breaking())
    expect(error).toMatchObject({ code: 'failed', cause: { message: 'no network' } })
    expect(error.message).toContain('after line 2')
  })

  test('keys that lead to a prototype make fields, and change none', async () => {
    const store = fresh()
    const line =
      '{"in":"things","doc":{"id":"a","_ts":1893456000,"__proto__":{"admin":1},"value":{"$":"Array","length":0,"v":[["__proto__",{"admin":1}]]}}}'
    await store.import(fileOf([line]))
    const doc = (await store.things.get('a'))!
    expect(Object.getPrototypeOf(doc)).toBe(Object.prototype)
    expect(Array.isArray(doc.value)).toBe(true)
    expect([({} as Record<string, unknown>)['admin'], ([] as unknown as Record<string, unknown>)['admin']]).toEqual([
      undefined,
      undefined,
    ])
  })
})

function headerOf(...names: string[]): string {
  const collections = names.map((name) => ({ name, defaultTtl: null, version: 1 }))
  return JSON.stringify({ format: 'mayfly', version: 1, store: 'any', collections })
}

describe('an import', () => {
  const many = Array.from({ length: 2500 }, (_, n) => inThings({ id: `i${n}`, value: n }))

  test('is seen by nobody until it is whole, and then by everybody', async () => {
    const name = newName()
    const [store, other] = [open(schema, name), open(schema, name)]
    await other.things.upsert({ id: 'before' })
    const seen = new Set<number>()
    const stop = other.things.query().subscribe((docs) => seen.add(docs.length))
    const progress: unknown[] = []
    const counts: Promise<number>[] = []
    const result = await store.import(fileOf(many), {
      onProgress: (one) => {
        progress.push(one)
        if (!('total' in one)) counts.push(other.things.query().count(), store.things.query().count())
      },
    })
    expect(result).toMatchObject({ imported: 2500 })
    expect(progress).toEqual([{ done: 1000 }, { done: 2000 }, { done: 2500 }, { done: 2500, total: 2500 }])
    expect(new Set((await Promise.all(counts)).slice(0, -2))).toEqual(new Set([1]))
    await expect.poll(() => [...seen].at(-1)).toBe(2501)
    expect([...seen].filter((size) => size !== 0 && size !== 1 && size !== 2501)).toEqual([])
    stop()
    expect(await store.things.stats()).toMatchObject({ live: 2501, expired: 0 })
  })

  test('is told to those who follow every change', async () => {
    const store = fresh()
    const told: string[] = []
    store.things.changes(({ type, id }) => told.push(`${type} ${id}`))
    await store.import(fileOf(many))
    await expect.poll(() => told.length).toBe(2500)
    expect([told[0], told.at(-1)]).toEqual(['upsert i0', 'upsert i2499'])
  })

  test('is stopped by its signal, and leaves nothing', async () => {
    const store = fresh()
    const stopping = new AbortController()
    const stopped = { imported: 0, expired: 0, kept: 0, stopped: true }
    const options = { signal: stopping.signal, onProgress: () => stopping.abort() }
    expect(await store.import(fileOf(many), options)).toEqual(stopped)
    expect(await store.import(fileOf(many), options)).toEqual(stopped)
    expect(await store.things.stats()).toEqual({ live: 0, expired: 0, nextExpiry: null })
    expect(await store.import(fileOf(many))).toMatchObject({ imported: 2500 })
  })

  test('is stopped while it waits for a source that gives nothing more', async () => {
    const stopping = new AbortController()
    let cancelled: unknown
    const silent = new ReadableStream<string>({
      start: (controller) => controller.enqueue(fileOf(many).slice(0, 5000)),
      cancel: () => {
        cancelled = true
      },
    })
    const importing = fresh().import(silent, { signal: stopping.signal })
    stopping.abort()
    expect(await importing).toMatchObject({ imported: 0, stopped: true })
    expect(cancelled).toBe(true)
  })

  test('writes in parts when asked, and keeps what came before the damaged line', async () => {
    const store = fresh()
    const file = fileOf([...many.slice(0, 1500), 'secret', ...many.slice(1500)], { end: [2500, 0] })
    await expect(store.import(file, { partial: true })).rejects.toMatchObject({ code: 'invalid' })
    expect(await store.things.query().count()).toBe(1500)
    const error = await store.import(fileOf(many), { partial: true }).catch((reason: Error) => reason)
    expect(error).toMatchObject({ code: 'conflict', id: 'i0' })
    await expect(store.import(fileOf([inThings({ id: 'x' }), ...many]), { partial: true })).rejects.toThrow(
      /The 1 before it were imported/,
    )
    expect(await store.import(fileOf(many), { partial: true, onConflict: 'keep' })).toMatchObject({
      imported: 1000,
      kept: 1500,
    })
  })

  test('passes over what it was not asked for', async () => {
    const store = fresh()
    const file = fileOf([inThings({ id: 'a' }), { in: 'others', doc: { id: 'b', _ts: 1 } }])
    expect(await store.import(file, { collections: ['others'] })).toMatchObject({ imported: 1 })
    expect(await holds(store)).toMatchObject({ things: [], others: [{ id: 'b' }] })
    const strange = [
      headerOf('strange', 'others'),
      '{"in":"strange","doc":{}}',
      '{"in":"others","doc":{"id":"c","_ts":1}}',
    ]
    const whole = [...strange, '{"end":[1,1]}'].join('\n')
    expect(await store.import(whole, { collections: ['others'] })).toMatchObject({ imported: 1 })
  })

  test('that another one overtakes fails, and the other is whole', async () => {
    const name = newName()
    const [store, other] = [open(schema, name), open(schema, name)]
    let go!: () => void
    const waiting = new Promise<void>((resolve) => (go = resolve))
    async function* slow() {
      const lines = fileOf(many).split('\n')
      yield `${lines.slice(0, 1500).join('\n')}\n`
      await waiting
      yield lines.slice(1500).join('\n')
    }
    let begun!: () => void
    const staged = new Promise<void>((resolve) => (begun = resolve))
    const first = store.import(slow(), { onProgress: () => begun() })
    await staged
    expect(await other.import(fileOf(many.slice(0, 10)))).toMatchObject({ imported: 10 })
    go()
    await expect(first).rejects.toMatchObject({ code: 'failed', collection: 'things' })
    expect(await store.things.query().count()).toBe(10)
  })

  test('bad options are refused', async () => {
    const store = fresh()
    for (const options of [null, 5, { collections: ['nothing'] }, { collections: 'things' }, { onConflict: 'x' }]) {
      await expect(store.import('', options as never)).rejects.toMatchObject({ code: 'invalid' })
    }
    await expect(drain(store.export({ signal: 5 as never }))).rejects.toMatchObject({ code: 'invalid' })
  })
})
