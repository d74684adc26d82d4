import fc from 'fast-check'
import { collection, openStore } from 'mayfly'
import { expect, inject, test } from 'vitest'
import { hostile, prototypes } from '../support/hostile.js'
import { PortWorker } from '../support/port-worker.js'
import { newName } from '../support/stores.js'

interface Item {
  id: string
  n?: number
}

const CODES = 'conflict not-found precondition-failed invalid quota blocked closed lost unavailable failed'.split(' ')
const VERBS =
  'get getMany expiresAt create upsert replace patch touch delete createMany upsertMany deleteMany clear find explain count settings setDefaultTtl stats watch unwatch follow unfollow heed bury leave atomic stage unstage discard restore sweep'.split(
    ' ',
  )
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'then', 'valueOf', '$mayfly-1', '']
const FIELDS =
  'id ids doc docs fields ifMatch question after key since joining due tab keeps operations limit from isWhole defaultTtl token part parts times onConflict'.split(
    ' ',
  )

const seed = inject('seed')
const numRuns = inject('runs')

/** What can be sent at all. */
const sendable = hostile.map((make) => clone(make()))

function clone(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return undefined
  }
}

/** An operation that is almost one. */
const operation = fc.oneof(
  { weight: 1, arbitrary: sendable },
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom<unknown>(...VERBS) },
          fc.constantFrom<unknown>(...NAMES),
          sendable,
        ),
        fc.oneof({ weight: 6, arbitrary: fc.constant<unknown>('items') }, fc.constantFrom<unknown>(...NAMES), sendable),
        fc.array(
          fc.tuple(
            fc.constantFrom(...FIELDS),
            fc.oneof(sendable, fc.constantFrom<unknown>('a', ['a'], { id: 'a' }, 1, {})),
          ),
          {
            maxLength: 4,
          },
        ),
      )
      .map(([verb, of, fields]) => ({ ...Object.fromEntries(fields), verb, collection: of })),
  },
)

async function begin() {
  const worker = new PortWorker()
  const store = openStore(
    newName(),
    { items: collection<Item>({ defaultTtl: -1 }).index('n') },
    {
      worker: () => worker as unknown as Worker,
      sweep: 'manual',
    },
  )
  await store.ready
  const answers = new Map<unknown, (data: unknown) => void>()
  worker.addEventListener('message', ({ data }: Event & { data?: { id?: unknown; value?: unknown } }) => {
    answers.get(data?.id)?.(data?.value)
  })
  let asked = 0
  /** Calls the wire as the page's side would. */
  const call = (method: string, ...args: unknown[]) => {
    const id = `intruder-${++asked}`
    const answer = new Promise<unknown>((resolve) => answers.set(id, resolve))
    worker.intrude({ id, type: 'APPLY', path: [method], argumentList: args.map((value) => ({ type: 'RAW', value })) })
    return answer.finally(() => answers.delete(id))
  }
  return { store, worker, call }
}

test(
  'whatever operations arrive, each has a reply of its own, and the others are done',
  { timeout: 600_000 },
  async () => {
    console.log(`wire fuzz: seed ${seed} (SEED=${seed} repeats it)`)
    const before = prototypes()
    const { store, call } = await begin()
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 4 }), fc.nat(4), async (operations, at) => {
        const all = [...operations]
        all.splice(at, 0, { verb: 'upsert', collection: 'items', doc: { id: 'probe', n: at } })
        const where = Math.min(at, operations.length)
        const replies = (await call('run', -1, clone(all))) as {
          ok: boolean
          value?: unknown
          failure?: { code: string }
        }[]
        expect(replies.length).toBe(all.length)
        for (const reply of replies) if (!reply.ok) expect(CODES).toContain(reply.failure!.code)
        expect(replies[where]).toMatchObject({ ok: true, value: { _etag: expect.any(String) } })
      }),
      { seed, numRuns },
    )
    expect(await store.items.upsert({ id: 'a' })).toMatchObject({ id: 'a' })
    expect(prototypes()).toBe(before)
    await store.close()
  },
)

test('whatever else arrives, the worker answers afterwards', { timeout: 600_000 }, async () => {
  const before = prototypes()
  const { store, worker, call } = await begin()
  const message = fc.oneof(
    sendable,
    fc.record(
      {
        id: sendable,
        type: fc.oneof(fc.constantFrom<unknown>('APPLY', 'GET', 'SET', 'CONSTRUCT', 'ENDPOINT', 'RELEASE'), sendable),
        path: fc.oneof(
          fc.constantFrom<unknown>(
            ['run'],
            ['open'],
            ['tidy'],
            ['ping'],
            ['sweep'],
            ['constructor'],
            ['__proto__'],
            ['run', 'call'],
          ),
          sendable,
        ),
        argumentList: fc.oneof(
          fc.array(
            fc.record({
              type: fc.oneof(fc.constantFrom<unknown>('RAW', 'HANDLER'), sendable),
              name: fc.constantFrom('proxy', 'throw', 'none'),
              value: sendable,
            }),
            { maxLength: 3 },
          ),
          sendable,
        ),
        value: sendable,
      },
      { requiredKeys: [] },
    ),
  )
  await fc.assert(
    fc.asyncProperty(message, async (one) => {
      worker.intrude(clone(one))
      expect(await store.items.upsert({ id: 'a', n: 1 })).toMatchObject({ id: 'a', n: 1 })
      await call('ping')
    }),
    { seed, numRuns },
  )
  expect(await store.items.query().count()).toBe(1)
  expect(prototypes()).toBe(before)
  await store.close()
})

test('a wire has one store, and an opening that is none opens nothing', async () => {
  const { store, call } = await begin()
  await store.items.upsert({ id: 'a' })
  const shape = { name: newName(), collections: [], durability: 'relaxed', patience: 5 }
  expect(await call('open', shape)).toMatchObject({ ok: false, failure: { code: 'invalid' } })
  const items = { name: 'items', defaultTtl: null, indexing: 'consistent', indexes: [] }
  for (const bad of [
    undefined,
    null,
    5,
    {},
    { ...shape, name: 5 },
    { ...shape, collections: [5] },
    { ...shape, collections: [{ ...items, name: '$mayfly-1' }] },
  ]) {
    expect(await call('open', bad)).toMatchObject({ ok: false, failure: { code: 'invalid' } })
  }
  expect(await call('run', 1, 5)).toEqual([])
  expect(await store.items.query().count()).toBe(1)
  await store.close()
})

test('what is asked before the store is open is answered', async () => {
  const worker = new PortWorker()
  const answers: unknown[] = []
  worker.addEventListener('message', ({ data }: Event & { data?: { id?: unknown } }) => {
    if (data?.id !== undefined) answers.push(data.id)
  })
  const methods = ['run', 'tidy', 'sweep', 'close', 'destroy', 'ping']
  for (const method of methods) worker.intrude({ id: method, type: 'APPLY', path: [method], argumentList: [] })
  await expect.poll(() => answers.length).toBe(methods.length)
  worker.terminate()
})
