import { collection } from 'mayfly'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { schema, World } from '../support/beset.js'
import type { Asked, Models, Thing } from '../support/beset.js'
import { install, WAYS } from '../support/injector.js'
import type { Note } from '../support/model.js'
import { Refusal } from '../support/model.js'

/** A part of the life of a store, in which every call of IndexedDB fails once. */
type Part = (world: World) => Promise<void>

const call = (tell: Asked['tell'], ask: Asked['ask'], isExpiry = false): Asked => ({ tell, ask, isExpiry })

/** All or nothing, as `atomic` is. */
function together(models: Models, writes: ((models: Models) => unknown)[]): unknown {
  const before = Object.values(models).map(({ entries }) => new Map(entries))
  try {
    return writes.map((write) => write(models))
  } catch (error) {
    Object.values(models).forEach(({ entries }, nth) => {
      entries.clear()
      for (const [id, entry] of before[nth]!) entries.set(id, entry)
    })
    throw error
  }
}

/** The others are written, whichever is refused. */
function each(world: World, docs: Thing[], write: (doc: Thing) => unknown): number {
  const refusals: Refusal[] = []
  for (const doc of docs) {
    try {
      if (world.uncloneable.has(doc.id)) throw new Refusal('invalid') as unknown as Error
      write(doc)
    } catch (error) {
      refusals.push(error as Refusal)
    }
  }
  if (refusals.length > 0) throw refusals[0] as unknown as Error
  return docs.length
}

function changed({ id, n = 0, code, ttl }: Note): Thing {
  return {
    id,
    n: n + 1,
    ...(code === undefined ? {} : { code }),
    ...(ttl === undefined ? {} : { ttl: ttl as number }),
  }
}

const notesOf = (world: World, tab = 0) => world.tabs[tab]!.store.notes

const settle = (world: World) =>
  world.expect(
    call(
      async () => (await notesOf(world).settings()).defaultTtl,
      ({ notes }) => notes.defaultTtl,
    ),
  )

const PARTS: Record<string, Part> = {
  async 'create, upsert, replace and patch'(world) {
    await world.expect(world.write('create', { id: 'd', n: 4, code: 'dead', ttl: 50 }))
    await world.expect(world.write('create', { id: 'a', n: 4 }))
    await world.expect(world.write('upsert', { id: 'old1', n: 5 }))
    await world.expect(world.write('upsert', { id: 'e', n: 5, code: 'ca' }))
    await world.expect(world.write('replace', { id: 'b', n: 6, code: 'cb' }))
    await world.expect(world.write('replace', { id: 'nobody' }))
    await world.expect(
      call(
        () => world.notes.patch('c', { n: 7, code: undefined }),
        ({ notes }) => notes.patch('c', { n: 7, code: undefined } as never),
      ),
    )
  },

  async 'update, touch and delete'(world) {
    const update = (id: string) =>
      call(
        () => world.notes.update(id, (note) => changed(note)),
        ({ notes }) => {
          const note = notes.get(id)
          if (!note) throw new Refusal('not-found') as unknown as Error
          return notes.replace(changed(note) as Note)
        },
      )
    const touch = (id: string) =>
      call(
        () => world.notes.touch(id),
        ({ notes }) => notes.touch(id),
      )
    const remove = (id: string) =>
      call(
        () => world.notes.delete(id),
        ({ notes }) => notes.delete(id),
      )
    await world.expect(update('a'), update('b'), update('old1'))
    await world.expect(touch('b'), touch('old2'))
    await world.expect(remove('a'), remove('old1'))
  },

  async 'createMany, upsertMany and deleteMany'(world) {
    const docs: Thing[] = [{ id: 'd', n: 4 }, { id: 'a' }, { id: 'old1', code: 'dead' }, { id: 'e', code: 'cc' }]
    await world.expect(
      call(
        async () => (await world.notes.createMany(docs)).written,
        ({ notes }) => each(world, docs, (doc) => notes.create(doc as Note)),
      ),
    )
    const more: Thing[] = [
      { id: 'f', n: 4, code: 'cf' },
      { id: 'b', n: 8 },
      { id: 'g', ttl: 30 },
    ]
    await world.expect(
      call(
        async () => (await world.notes.upsertMany(more)).written,
        ({ notes }) => each(world, more, (doc) => notes.upsert(doc as Note)),
      ),
    )
    await world.expect(
      call(
        async () => (await world.notes.deleteMany(['c', 'old2', 'l', 'b'])).deleted,
        ({ notes }) => ['c', 'old2', 'l', 'b'].filter((id) => notes.delete(id)).length,
      ),
    )
  },

  async 'deleteMany and clear by themselves'(world) {
    await world.expect(
      call(
        async () => (await world.notes.deleteMany(['a', 'b'])).deleted,
        ({ notes }) => ['a', 'b'].filter((id) => notes.delete(id)).length,
      ),
    )
    await world.expect(
      call(
        () => world.notes.clear(),
        ({ notes }) => notes.clear(),
      ),
    )
    await world.expect(
      call(
        () => notesOf(world, 1).clear(),
        ({ notes }) => notes.clear(),
      ),
    )
  },

  async 'many calls of one tick'(world) {
    const { notes } = world
    await world.expect(
      world.write('create', { id: 'd', code: 'dead' }),
      world.write('upsert', { id: 'e', code: 'dead' }),
      world.write('upsert', { id: 'm', n: 1 }, 'logs'),
      call(
        () => notes.get('a'),
        (models) => models.notes.get('a'),
      ),
      call(
        () => notes.query().count(),
        (models) => models.notes.entries.size,
      ),
      call(
        () => notes.patch('nobody', { n: 1 }),
        (models) => models.notes.patch('nobody', { n: 1 }),
      ),
      call(
        () => notes.delete('b'),
        (models) => models.notes.delete('b'),
      ),
      world.write('replace', { id: 'b', n: 6 }),
      world.write('create', { id: 'b', n: 6 }),
    )
  },

  async 'atomic over two collections'(world) {
    await world.expect(
      call(
        async () =>
          world.store.atomic(({ notes, logs }) => {
            notes.delete('a')
            notes.upsert({ id: 'old1', n: 1, code: 'ca' })
            logs.patch('l', { n: 2 })
            logs.create({ id: 'm', n: 3 })
          }),
        (models) =>
          together(models, [
            ({ notes }) => notes.delete('a'),
            ({ notes }) => notes.upsert({ id: 'old1', n: 1, code: 'ca' }),
            ({ logs }) => logs.patch('l', { n: 2 }),
            ({ logs }) => logs.create({ id: 'm', n: 3 }),
          ]),
      ),
    )
    await world.expect(
      world.write('upsert', { id: 'x' }),
      call(
        async () =>
          world.store.atomic(({ notes, logs }) => {
            logs.delete('l')
            notes.upsert({ id: 'b', n: 1 })
            notes.create({ id: 'c' })
          }),
        (models) =>
          together(models, [
            ({ logs }) => logs.delete('l'),
            ({ notes }) => notes.upsert({ id: 'b', n: 1 }),
            ({ notes }) => notes.create({ id: 'c' }),
          ]),
      ),
      world.write('upsert', { id: 'y' }),
    )
  },

  async 'get, getMany, expiresAt, settings and stats'(world) {
    const { notes } = world
    await world.expect(
      call(
        () => notes.get('old1'),
        () => undefined,
      ),
      call(
        () => notes.get('b'),
        (models) => models.notes.get('b'),
      ),
    )
    await world.expect(
      call(
        () => notes.getMany(['a', 'old2', 'c']),
        (models) => ['a', 'old2', 'c'].map((id) => models.notes.get(id)),
      ),
    )
    await world.expect(
      call(
        () => notes.expiresAt('b'),
        (models) => models.notes.expiresAt('b'),
      ),
    )
    await settle(world)
    await world.expect(
      call(
        async () => (await notes.stats()).live,
        (models) => models.notes.entries.size,
      ),
    )
  },

  async queries(world) {
    const { notes } = world
    const byN = notes.query({ orderBy: 'n', limit: 2 })
    const sorted = (models: Models) => models.notes.all().toSorted((one, other) => one.n! - other.n!)
    await world.expect(
      call(
        () => byN.get(),
        (models) => sorted(models).slice(0, 2),
      ),
    )
    await world.expect(
      call(
        () => notes.query({ where: { code: 'cc' } }).first(),
        (models) => models.notes.get('c'),
      ),
    )
    await world.expect(
      call(
        () => notes.query({ where: { n: { gte: 2 } } }).count(),
        (models) => models.notes.all().filter(({ n }) => n! >= 2).length,
      ),
    )
    await world.expect(
      call(
        async () => (await byN.page((await byN.page()).next)).items,
        (models) => sorted(models).slice(2, 4),
      ),
    )
    await world.expect(
      call(
        async () => (await byN.explain()).index,
        () => 'n',
      ),
    )
    await world.expect(
      call(
        async () => {
          const all = []
          for await (const note of notes.query()) all.push(note)
          return all
        },
        (models) => models.notes.all(),
      ),
    )
  },

  async 'listeners that begin'(world) {
    const tab = world.open()
    // What was told before it came is told to nobody else.
    await world.expect(
      call(
        async () => (await world.notes.stats()).live,
        (models) => models.notes.entries.size,
      ),
    )
    tab.watch('notes', { orderBy: 'n', order: 'desc', limit: 1 })
    await world.expect(
      call(
        async () => (await tab.store.notes.stats()).live,
        (models) => models.notes.entries.size,
      ),
    )
    await world.expect(world.write('upsert', { id: 'z', n: 99 }))
  },

  async 'listeners that end'(world) {
    const [, other] = world.tabs
    other!.stop()
    await world.expect(world.write('upsert', { id: 'z', n: 99 }))
    const third = world.open()
    third.watch('logs', { orderBy: 'n' })
    await settle(world)
    await third.store.close().catch(() => undefined)
    third.stop()
    world.tabs.splice(world.tabs.indexOf(third), 1)
  },

  async 'a write in another tab'(world) {
    await world.expect(world.write('upsert', { id: 'a', n: 0 }, 'notes', 1))
    await world.expect(world.write('create', { id: 'z', code: 'dead' }, 'notes', 1))
    await settle(world)
  },

  async 'a new setting'(world) {
    const set = (defaultTtl: number | null) =>
      call(
        () => world.notes.setDefaultTtl(defaultTtl),
        ({ notes }) => notes.setDefaultTtl(defaultTtl),
        true,
      )
    // What was written two seconds ago and has no time of its own dies by it.
    await world.expect(world.write('upsert', { id: 'young', n: 1 }))
    await world.expect(set(1))
    await world.expect(world.write('upsert', { id: 'a', n: 1, code: 'ca' }))
    await world.expect(set(null))
    await world.expect(set(-1))
  },

  async 'expiry while tabs listen'(world) {
    world.move(200_000)
    for (const { store } of world.tabs) {
      await world.expect(
        call(
          async () => (await store.notes.stats()).live,
          ({ notes }) => notes.entries.size,
        ),
      )
    }
    await world.expect(world.write('create', { id: 'b', n: 1 }, 'notes', 1))
  },

  async sweep(world) {
    const sweep = (tab: number) =>
      call(
        async () => (await world.tabs[tab]!.store.sweep()).deleted >= 0,
        () => true,
      )
    await world.expect(sweep(0))
    await world.expect(world.write('upsert', { id: 'z', n: 9 }))
    await world.expect(sweep(1))
  },

  async 'deletion in idle time'(world) {
    const tab = world.open({ sweep: 'idle' })
    let expired = 1
    while (expired > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      // What has failed is tried again later.
      world.move(500)
      expired = (await tab.store.notes.stats().catch(() => ({ expired: 1 }))).expired
    }
  },

  async 'another tab, which declares another setting'(world) {
    const declared = { ...schema, logs: collection<Thing>({ defaultTtl: 1 }).index('n') }
    const tab = world.open({}, declared)
    const declare = call(
      () => tab.store.ready,
      ({ logs }) => logs.declare(1),
      true,
    )
    await world.expect(declare)
    // An opening that fails is tried again by the next call.
    await world.expect(
      call(
        async () => (await tab.store.logs.settings()).defaultTtl,
        () => 1,
      ),
    )
    if (world.models.logs.defaultTtl !== 1) {
      world.injector.disarm()
      await world.expect({
        tell: async () => void (await tab.store.logs.settings()),
        ask: ({ logs }) => logs.declare(1),
        isExpiry: true,
      })
    }
  },

  async 'another tab, which declares another index'(world) {
    const tab = world.open({}, { ...schema, notes: schema.notes.index('ttl') as never })
    await world.expect(
      call(
        () => tab.store.notes.get('a'),
        ({ notes }) => notes.get('a'),
      ),
    )
    await world.expect(
      call(
        () => world.notes.get('a'),
        ({ notes }) => notes.get('a'),
      ),
    )
    await world.expect(world.write('upsert', { id: 'b', n: 1, ttl: 500 }, 'notes', 1))
  },

  async 'closing and opening again'(world) {
    const [tab] = world.tabs
    await world.expect(
      world.write('upsert', { id: 'z', n: 9 }),
      call(
        () => tab!.store.close(),
        () => undefined,
      ),
    )
    tab!.stop()
    world.tabs[0] = world.open()
    world.tabs.pop()
    await world.expect(world.write('upsert', { id: 'y', n: 10 }))
  },

  async 'destroying and opening again'(world) {
    await world.expect(world.write('upsert', { id: 'z', n: 9 }))
    const [tab, other] = world.tabs.splice(0)
    other!.stop()
    await other!.store.close()
    tab!.stop()
    const destroyed = await tab!.store.destroy().then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ name: 'MayflyError' })
        return false
      },
    )
    world.isDestroyed = true
    const again = world.open()
    world.injector.disarm()
    const left = await again.store.notes.query().count()
    // A refusal may come before, or after, there was anything to refuse; but half a store is none.
    if (destroyed) expect(left).toBe(0)
    else expect([0, world.models.notes.entries.size]).toContain(left)
  },
}

/** So many worlds at a time: most of them wait. */
const AT_ONCE = 24

const seed = inject('seed')
const runs = inject('runs')
/** Of the ways in which each call can fail this many are tried, beginning anywhere. */
const ways = Math.min(WAYS, Math.ceil(runs / 500))

let uninstall: () => void
beforeAll(() => {
  console.log(`faults: seed ${seed}, ${ways} of ${WAYS} ways (SEED=${seed} RUNS=${WAYS * 500} tries them all)`)
  uninstall = install()
})
afterAll(() => uninstall())

/** Whether the fault came. */
async function play(part: Part, nth: number, way: number): Promise<boolean> {
  const world = new World({ nth, way })
  try {
    await world.prepare()
    world.injector.arm()
    await part(world)
    await world.isRight()
  } catch (error) {
    await world.end().catch(() => undefined)
    throw new Error(`call ${nth}, way ${way}: ${world.injector.fired}`, { cause: error })
  }
  return world.injector.fired !== undefined
}

describe('whichever call of IndexedDB fails, nothing is half written, and all goes on', () => {
  test.each(Object.entries(PARTS))('%s', { timeout: 120_000 * ways }, async (_, part) => {
    let isOver = false
    const failures: unknown[] = []
    let next = 0
    const worker = async () => {
      while (!isOver && failures.length === 0) {
        const turn = next++
        const nth = Math.floor(turn / ways) + 1
        try {
          if (!(await play(part, nth, seed + nth * 5 + (turn % ways)))) isOver = true
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    if (failures.length > 0) throw failures[0] as Error
    expect(next).toBeGreaterThan(1)
  })
})
