import fc from 'fast-check'
import { collection } from 'mayfly'
import type { Collection, CollectionDefinition, Store } from 'mayfly'
import { beforeAll, expect, inject, test } from 'vitest'
import { advance, resetClock } from './support/clock.js'
import { isAfter, isAlive, matches } from './support/naive.js'
import type { Doc, Question } from './support/naive.js'
import { aimed, defaultTtl, indexes, item, items, manyIndexes, question, step } from './support/questions.js'
import type { Index, Item, Step } from './support/questions.js'
import { newName, open } from './support/stores.js'

type Items = CollectionDefinition<Item>

/** A collection, and beside it the documents that it must hold, in a plain Map. */
class World {
  /** The ids that were written or deleted. */
  readonly touched = new Set<string>()
  readonly #name = newName()
  readonly #defaultTtl: number | null
  readonly #docs = new Map<string, Doc>()
  #indexes: Index[]
  #store: Store<{ items: Items }>

  constructor(indexes: Index[], defaultTtl: number | null) {
    this.#defaultTtl = defaultTtl
    this.#indexes = indexes
    this.#store = this.#open()
  }

  get items(): Collection<Item> {
    return this.#store.items
  }

  get live(): Doc[] {
    return [...this.#docs.values()].filter((doc) => isAlive(doc, this.#defaultTtl, Date.now()))
  }

  /** As a reload does, of the same app or of another version of it. */
  async reopen(indexes: Index[]): Promise<void> {
    await this.#store.close()
    this.#indexes = indexes
    this.#store = this.#open()
  }

  async destroy(): Promise<void> {
    await this.#store.destroy()
  }

  async take(step: Step): Promise<void> {
    if ('move' in step) advance(step.move)
    else if ('delete' in step) await this.#delete(step.delete)
    else await this.upsert(step.upsert)
  }

  async upsert(items: Item[]): Promise<void> {
    for (const item of items) {
      this.#docs.set(item.id, { ...item, _ts: Date.now() / 1000 })
      this.touched.add(item.id)
    }
    await this.items.upsertMany(items)
  }

  async #delete(ids: string[]): Promise<void> {
    for (const id of ids) {
      this.#docs.delete(id)
      this.touched.add(id)
    }
    await this.items.deleteMany(ids)
  }

  /** The documents, the first of them and their number are those of the plain array. */
  async agrees(question: Question): Promise<void> {
    await this.telling(question, async () => {
      const query = this.query(question)
      const [got, first, count] = await Promise.all([query.get(), query.first(), query.count()])
      const all = matches(this.live, question)
      const asked = all.slice(0, question.limit)
      expect({ got: got.map(plain), first: first?.id, count }).toEqual({
        got: asked,
        first: all[0]?.id,
        count: all.length,
      })
    })
  }

  /** So is what is read page by page, and what is said of it. */
  async agreesAtLength(question: Question): Promise<void> {
    await this.telling(question, async () => {
      const query = this.query(question)
      const [read, { returned }] = await Promise.all([listOf(query), query.explain()])
      const asked = matches(this.live, question).slice(0, question.limit)
      expect({ read: read.map(plain), returned }).toEqual({ read: asked, returned: asked.length })
    })
  }

  query(question: Question) {
    return this.items.query(question as never)
  }

  /** A failure says what was asked, of which documents, with which indexes. */
  async telling<T>(question: Question, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const live = this.live.slice(0, 30).map((doc) => `\n  ${fc.stringify(doc)}`)
      const names = this.#indexes.map(({ paths }) => paths.join('+')).join(', ')
      const told = `question: ${fc.stringify(question)}\nindexes: ${names || 'none'}\nlive: ${this.live.length}${live.join('')}`
      throw new Error(`${told}\n${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }

  #open(): Store<{ items: Items }> {
    let items = collection<Item>({ defaultTtl: this.#defaultTtl })
    for (const { paths, unique } of this.#indexes) {
      items = unique ? items.uniqueIndex(...(paths as ['id'])) : items.index(...(paths as ['id']))
    }
    return open({ items }, this.#name)
  }
}

/** The pages of a collection that stands still. */
class Walk {
  readonly #world: World
  readonly #question: Question & { limit: number }
  readonly #ids: string[]
  /** What `page()` is given for each of them. */
  readonly #bookmarks: (string | undefined)[] = []

  constructor(world: World, question: Question & { limit: number }) {
    this.#world = world
    this.#question = question
    this.#ids = matches(world.live, question).map(idOf)
  }

  async toTheEnd(): Promise<void> {
    let after: string | undefined
    do {
      this.#bookmarks.push(after)
      after = await this.#turn(this.#bookmarks.length - 1)
    } while (after !== undefined)
  }

  async fromEveryBookmark(): Promise<void> {
    await Promise.all(this.#bookmarks.map((_, page) => this.#turn(page)))
  }

  /** Each page is full unless it is the last, and begins where the one before ended. */
  async #turn(page: number): Promise<string | undefined> {
    const { limit } = this.#question
    return this.#world.telling(this.#question, async () => {
      const { items, next } = await this.#world.query(this.#question).page(this.#bookmarks[page])
      const ids = this.#ids.slice(page * limit, (page + 1) * limit)
      const more = (page + 1) * limit < this.#ids.length
      expect({ page, ids: items.map(idOf), more: next !== undefined }).toEqual({ page, ids, more })
      return next
    })
  }
}

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

function idOf({ id }: { id: string }): string {
  return id
}

/** A document without its `_etag`, which nobody can foretell. */
function plain(stored: { id: string; _etag: string; _ts: number }): Doc {
  const { _etag: _, ...doc } = stored
  return doc
}

const seed = inject('seed')

/** A browser takes several times as long to open a store, and walks the first part of what fake-indexeddb does. */
const share = typeof document === 'undefined' ? 1 : 4

/** A part of the runs. Nothing is gained by the small and simple, which fast-check would begin with. */
function part(of: number) {
  return { seed, numRuns: Math.ceil(inject('runs') / of / share), unbiased: true }
}

/** A property of a fresh collection with random documents and indexes, at a random time. */
async function always<T>(of: number, given: fc.Arbitrary<T>, holds: (world: World, given: T) => Promise<void>) {
  const start = fc.record({ indexes, defaultTtl, items, steps: fc.array(step, { maxLength: 4 }) })
  await fc.assert(
    fc.asyncProperty(start, given, async ({ indexes, defaultTtl, items, steps }, given) => {
      resetClock()
      const world = new World(indexes, defaultTtl)
      try {
        for (const step of [{ upsert: items }, ...steps]) await world.take(step)
        await holds(world, given)
      } finally {
        await world.destroy()
      }
    }),
    part(of),
  )
}

/** Opening a store costs more than asking it. */
const questions = fc.array(question, { minLength: 1, maxLength: 40, size: 'max' })
const pageSize = fc.integer({ min: 1, max: 4 })

beforeAll(() => {
  console.log(`queries: seed ${seed} (SEED=${seed} repeats them)`)
})

const timeout = 600_000

test('every query gives what a filter and a sort of a plain array give', { timeout }, async () => {
  await always(6, questions, async (world, questions) => {
    await Promise.all(questions.map((question) => world.agrees(question)))
  })
})

test('every query about what is there does, by several fields, up to the ends of a kind', { timeout }, async () => {
  await always(5, aimed, async (world, { indexes, items, questions }) => {
    await world.reopen(indexes)
    await world.upsert(items)
    await Promise.all(questions.map((question) => world.agrees(question)))
  })
})

test('for await gives what get() does, and explain() says how many those are', { timeout }, async () => {
  await always(10, questions, async (world, questions) => {
    await Promise.all(questions.map((question) => world.agreesAtLength(question)))
  })
})

test('every query does over more documents than are read at once', { timeout }, async () => {
  const world = new World(fc.sample(manyIndexes, { seed, numRuns: 1 })[0]!, 3)
  const many = fc.sample(fc.noBias(item), { seed, numRuns: 1300 }).map((item, n) => ({ ...item, id: `${item.id}${n}` }))
  try {
    await world.upsert(many.slice(0, 700))
    advance(2)
    await world.upsert(many.slice(700))
    await fc.assert(
      fc.asyncProperty(question, async (question) => {
        await world.agrees(question)
        await world.agreesAtLength(question)
      }),
      part(20),
    )
  } finally {
    await world.destroy()
  }
})

test('pages neither skip nor repeat, and go on after a reload', { timeout }, async () => {
  const asked = fc.array(fc.tuple(question, pageSize), { minLength: 1, maxLength: 6, size: 'max' })
  await always(5, fc.tuple(asked, indexes), async (world, [asked, newIndexes]) => {
    const walks = asked.map(([question, limit]) => new Walk(world, { ...question, limit }))
    await Promise.all(walks.map((walk) => walk.toTheEnd()))
    await world.reopen(newIndexes)
    await Promise.all(walks.map((walk) => walk.fromEveryBookmark()))
  })
})

test('pages show once what is left alone, and nothing that is dead, while all else changes', { timeout }, async () => {
  const meanwhile = fc.array(fc.array(step, { maxLength: 2 }), { maxLength: 8, size: 'max' })
  await always(4, fc.tuple(question, pageSize, meanwhile), async (world, [question, limit, meanwhile]) => {
    await world.telling({ ...question, limit }, async () => {
      const query = world.query({ ...question, limit })
      const seen: string[] = []
      const pauses = meanwhile.values()
      let last: Doc | undefined
      let after: string | undefined
      world.touched.clear()
      do {
        const { items, next } = await query.page(after)
        const ahead = matches(world.live, question).filter((doc) => !last || isAfter(doc, last, question))
        expect({ items: items.map(plain), more: next !== undefined }).toEqual({
          items: ahead.slice(0, limit),
          more: ahead.length > limit,
        })
        seen.push(...items.map(idOf))
        last = ahead[limit - 1]
        after = next
        for (const step of pauses.next().value ?? []) await world.take(step)
      } while (after !== undefined)
      const leftAlone = matches(world.live, question)
        .map(idOf)
        .filter((id) => !world.touched.has(id))
      expect(seen.filter((id) => leftAlone.includes(id))).toEqual(leftAlone)
    })
  })
})

test('indexes that come and go over the documents that are there change no answer', { timeout }, async () => {
  const versions = fc.array(fc.record({ indexes, steps: fc.array(step, { maxLength: 2 }), questions }), {
    minLength: 1,
    maxLength: 3,
  })
  await always(15, versions, async (world, versions) => {
    for (const { indexes, steps, questions } of versions) {
      await world.reopen(indexes)
      await Promise.all(questions.map((question) => world.agrees(question)))
      for (const step of steps) await world.take(step)
      await Promise.all(questions.map((question) => world.agrees(question)))
    }
  })
})
