import fc from 'fast-check'
import { collection, MayflyError } from 'mayfly'
import type { Collection, Store, Stored } from 'mayfly'
import { beforeAll, expect, inject, test } from 'vitest'
import { advance, resetClock, START } from './support/clock.js'
import { Ledger } from './support/ledger.js'
import type { Told } from './support/ledger.js'
import { listening } from './support/listening.js'
import type { Call, Happening, Write } from './support/listening.js'
import { matches } from './support/naive.js'
import type { Doc, Question } from './support/naive.js'
import type { Item } from './support/questions.js'
import { countRequests } from './support/requests.js'
import { settled } from './support/settled.js'
import { newName, open } from './support/stores.js'

const schemaOf = (defaultTtl: number | null) => ({
  items: collection<Item>({ defaultTtl }).index('a').index('a', 'b').index('_ts'),
})

/** A call that the ledger can foretell. */
type Foretold = Exclude<Call, { do: 'watch' | 'unwatch' | 'follow' | 'unfollow' }>

type Items = Store<ReturnType<typeof schemaOf>>

/** A live query, and everything that it was ever called with. */
class Live {
  readonly #items: Collection<Item>
  readonly #question: Question
  readonly #stop: () => void
  /** What must never happen, and did. */
  readonly faults: string[] = []
  #last: string | undefined
  #isOver = false

  constructor(items: Collection<Item>, question: Question) {
    this.#items = items
    this.#question = question
    this.#stop = items.query(question as never).subscribe((docs) => this.#hear(docs))
  }

  stop(): void {
    this.#isOver = true
    this.#stop()
  }

  /** That the store was closed: no more may come. */
  end(): void {
    this.#isOver = true
  }

  async isRight(): Promise<void> {
    const expected = marks(await this.#items.query(this.#question as never).get())
    await settled(() =>
      expect({ question: this.#question, last: this.#last }).toEqual({ question: this.#question, last: expected }),
    )
    expect(this.faults).toEqual([])
  }

  #hear(docs: Stored<Item>[]): void {
    const told = marks(docs)
    const asked = fc.stringify(this.#question)
    if (this.#isOver) this.faults.push(`${asked} was called after it had been stopped`)
    if (told === this.#last) this.faults.push(`${asked} was called twice with ${told}`)
    if (marks(matches(docs as unknown as Doc[], this.#question)) !== told) this.faults.push(`${asked} gave ${told}`)
    if (docs.length > (this.#question.limit ?? Infinity)) this.faults.push(`${asked} gave too many`)
    if (new Set(docs.map(({ id }) => id)).size < docs.length) this.faults.push(`${asked} gave one twice: ${told}`)
    this.#last = told
  }
}

/** A listener of changes: from a place of the ledger on it must hear what stands there, of each document in order. */
class Feed {
  readonly faults: string[] = []
  readonly #told: Told[] = []
  readonly #ledger: Ledger
  readonly #from: number
  /** What was noted in the same tick before: it may be told, or not. */
  readonly #sure: number
  /** What has died while nobody listened: it may be told first, once. */
  readonly #unheard: Set<string>
  readonly #stop: () => void
  #isOver = false

  constructor(items: Collection<Item>, ledger: Ledger, sure: number, unheard: Set<string>) {
    this.#ledger = ledger
    this.#from = ledger.told.length
    this.#sure = sure
    this.#unheard = unheard
    this.#stop = items.changes((change) => {
      if (this.#isOver) this.faults.push(`heard of ${change.type} ${change.id} after it had been stopped`)
      if (change.type === 'upsert' && change.doc?.id !== change.id)
        this.faults.push(`${change.id} came without its doc`)
      const { type, id } = change
      this.#told.push(change.type === 'upsert' ? { type, id, etag: change.doc?._etag } : { type, id })
    })
  }

  stop(): void {
    this.#isOver = true
    this.#stop()
  }

  end(): void {
    this.#isOver = true
  }

  async isRight(): Promise<void> {
    await settled(() => this.#check())
    // What is told too often comes late.
    await new Promise((resolve) => setTimeout(resolve, 5))
    this.#check()
  }

  #check(): void {
    expect(this.faults).toEqual([])
    const expected = byId(this.#ledger.told.slice(this.#from))
    const before = byId(this.#ledger.told.slice(this.#sure, this.#from))
    const told = byId(this.#told)
    const all: Record<string, string[]> = {}
    for (const id of new Set([...Object.keys(told), ...Object.keys(expected)])) {
      const [mine, right] = [told[id] ?? [], expected[id] ?? []]
      const extra = mine.length - right.length
      const maybe = [...(this.#unheard.has(id) ? ['expire'] : []), ...(before[id] ?? [])]
      const isFine = extra > 0 && extra <= maybe.length && isSubsequence(mine.slice(0, extra), maybe)
      all[id] = (isFine ? mine.slice(extra) : mine).map((one, at) =>
        right[at] === 'upsert' ? one.split(' ')[0]! : one,
      )
    }
    const right = Object.fromEntries(Object.keys(all).map((id) => [id, expected[id] ?? []]))
    expect(all).toEqual(right)
  }
}

function isSubsequence(some: string[], of: string[]): boolean {
  let at = 0
  for (const one of of) if (at < some.length && (one === some[at] || one === some[at]!.split(' ')[0])) at++
  return at === some.length
}

function byId(told: Told[]): Record<string, string[]> {
  const all: Record<string, string[]> = {}
  for (const { type, id, etag } of told) (all[id] ??= []).push(etag === undefined ? type : `${type} ${etag}`)
  return all
}

function marks(docs: { id: string }[]): string {
  return docs.map((doc) => `${doc.id}:${(doc as Stored<Item>)._etag}`).join()
}

class Tab {
  readonly store: Items
  readonly lives: Live[] = []
  feed: Feed | undefined
  /** What was noted since may still be on its way to a listener, and reach one that takes its place in the same tick. */
  quietAt = 0
  hasLeft = false

  constructor(name: string, declared: number | null) {
    this.store = open(schemaOf(declared), name)
  }
}

/** Up to three tabs of one store, and the ledger that says what each of them must hear. */
class World {
  readonly name = newName()
  readonly #ledger: Ledger
  readonly #tabs: (Tab | undefined)[]
  readonly #ended: (Live | Feed)[] = []
  #declared: number | null
  #unheard = new Set<string>()
  hasGhosts = false

  constructor(declared: number | null) {
    this.#declared = declared
    this.#ledger = new Ledger(START, declared)
    this.#tabs = [0, 1, undefined].map((n) => (n === undefined ? undefined : new Tab(this.name, declared)))
  }

  get #open(): Tab[] {
    return this.#tabs.filter((tab) => tab !== undefined)
  }

  async play(happenings: Happening[]): Promise<void> {
    await this.#look()
    for (const happening of happenings) await this.#let(happening)
    await this.isQuiet()
  }

  async destroy(): Promise<void> {
    const [first, ...others] = this.#open
    await Promise.all(others.map(({ store }) => store.close()))
    await first!.store.destroy()
  }

  async stopAll(): Promise<Items> {
    for (const tab of this.#open) {
      for (const live of tab.lives.splice(0)) this.#stop(live)
      if (tab.feed) this.#stop(tab.feed)
      tab.feed = undefined
      await tab.store.items.stats()
    }
    return this.#open[0]!.store
  }

  async isQuiet(): Promise<void> {
    await this.#look()
    for (const tab of this.#open) {
      for (const live of tab.lives) await live.isRight()
      await tab.feed?.isRight()
      tab.quietAt = this.#ledger.told.length
    }
    for (const { faults } of this.#ended) expect(faults).toEqual([])
  }

  async #let(happening: Happening): Promise<void> {
    if ('calls' in happening) await this.#call(happening.tab, happening.calls)
    else if ('move' in happening) await this.#move(happening.move)
    else if ('sweep' in happening) await this.#tabs[happening.sweep]?.store.sweep()
    else if ('close' in happening) await this.#close(happening.close)
    else if ('reopen' in happening) await this.#reopen(happening)
    else await this.isQuiet()
  }

  async #look(): Promise<void> {
    for (const { store } of this.#open) {
      expect(await store.items.stats()).toMatchObject({ live: this.#ledger.ids.length })
    }
  }

  /** Nothing can remember an expiry that nobody has been told of, so every tab looks. */
  async #move(by: number): Promise<void> {
    advance(by / 1000)
    this.#noting(() => this.#ledger.move(by))
    await this.#look()
  }

  async #close(at: number): Promise<void> {
    const tab = this.#tabs[at]
    if (!tab || this.#open.length === 1) return
    this.#tabs[at] = undefined
    for (const one of [...tab.lives, ...(tab.feed ? [tab.feed] : [])]) {
      one.end()
      this.#ended.push(one)
    }
    await tab.store.close()
  }

  async #reopen({ reopen: at, declared, isKilled }: { reopen: number; declared: number | null; isKilled: boolean }) {
    if (this.#tabs[at] && isKilled) this.hasGhosts = true
    else await this.#close(at)
    if (this.#tabs[at] && !isKilled) return
    // Tabs of one time have the same code, mostly.
    const code = at === 0 ? declared : this.#declared
    this.#declared = code
    this.#tabs[at] = new Tab(this.name, code)
    await this.#tabs[at].store.ready
    this.#noting(() => this.#ledger.declare(code))
    await this.#look()
  }

  /** What dies while nobody listens may be told to the first that does. */
  #noting(work: () => void): void {
    const { length } = this.#ledger.told
    work()
    if (this.#open.some(({ feed }) => feed)) return
    for (const { type, id } of this.#ledger.told.slice(length)) if (type === 'expire') this.#unheard.add(id)
  }

  #stop(one: Live | Feed): void {
    one.stop()
    this.#ended.push(one)
  }

  async #call(at: number, calls: Call[]): Promise<void> {
    const tab = this.#tabs[at]
    if (!tab) return
    const sure = this.#ledger.told.length
    tab.hasLeft = false
    const answers = calls.map((call) => this.#make(tab, call, sure))
    await Promise.all([...answers, tab.store.items.settings()])
  }

  #make(tab: Tab, call: Call, sure: number): unknown {
    const { items } = tab.store
    switch (call.do) {
      case 'watch':
        return tab.lives.push(new Live(items, call.question))
      case 'unwatch':
        for (const live of tab.lives.splice(call.nth, 1)) this.#stop(live)
        return
      case 'follow':
        if (tab.feed) return
        tab.feed = new Feed(items, this.#ledger, tab.hasLeft ? tab.quietAt : sure, this.#unheard)
        this.#unheard = new Set()
        return
      case 'unfollow':
        if (!tab.feed) return
        this.#stop(tab.feed)
        tab.feed = undefined
        tab.hasLeft = true
        return
      default:
        return this.#agree(call, tab.store)
    }
  }

  /** The answer must be the ledger's. */
  async #agree(call: Foretold, store: Items): Promise<void> {
    let expected: unknown
    let learn: (answer: never) => void = () => undefined
    this.#noting(() => ({ expected, learn } = this.#foretell(call)))
    const answer = await tell(store, call).catch((error: unknown) => {
      if (error instanceof MayflyError) return error.code
      throw error
    })
    if (expected === 'a document') expect(answer).toHaveProperty('_etag')
    else if (expected instanceof Array) expect(answer).toHaveLength(expected.length)
    else expect(answer).toEqual(expected)
    learn(answer as never)
  }

  #foretell(call: Foretold): {
    expected: unknown
    learn: (answer: never) => void
  } {
    const ledger = this.#ledger
    const learn = () => undefined
    switch (call.do) {
      case 'setDefaultTtl':
        ledger.setDefaultTtl(call.defaultTtl)
        return { expected: undefined, learn }
      case 'clear':
        ledger.clear()
        return { expected: undefined, learn }
      case 'deleteMany':
        return { expected: call.ids.filter((id) => ledger.delete(id)).length, learn }
      case 'upsertMany':
        for (const { id, ttl } of call.items) ledger.write(id, ttl)
        return { expected: call.items.length, learn }
      case 'createMany': {
        const there = call.items.filter(({ id, ttl }) => ledger.has(id) || void ledger.write(id, ttl))
        return { expected: there.length > 0 ? 'conflict' : call.items.length, learn }
      }
      case 'update': {
        if (!ledger.has(call.id)) return { expected: 'not-found', learn }
        const know = ledger.write(call.id, ledger.ttlOf(call.id))
        return { expected: 'a document', learn: ({ _etag }: Stored<Item>) => know(_etag) }
      }
      case 'atomic': {
        const undo = ledger.save()
        const all = call.writes.map((write) => this.#write(write))
        const failure = all.find(({ expected }) => expected === 'not-found' || expected === 'conflict')
        if (failure) undo()
        return {
          expected: failure ? failure.expected : all,
          learn: (answers: never[]) => !failure && all.forEach((one, at) => one.learn(answers[at]!)),
        }
      }
      default:
        return this.#write(call)
    }
  }

  #write(write: Write): { expected: unknown; learn: (answer: never) => void } {
    const ledger = this.#ledger
    const id = 'item' in write ? write.item.id : write.id
    const learn = () => undefined
    if (write.do === 'delete') return { expected: ledger.delete(id), learn }
    if (write.do === 'touch') {
      if (ledger.has(id)) ledger.write(id, ledger.ttlOf(id))
      return { expected: ledger.has(id), learn }
    }
    if (write.do === 'create' && ledger.has(id)) return { expected: 'conflict', learn }
    if ((write.do === 'replace' || write.do === 'patch') && !ledger.has(id)) return { expected: 'not-found', learn }
    const ttl = 'fields' in write ? (write.fields.ttl ?? ledger.ttlOf(id)) : (write as { item: Item }).item.ttl
    const know = ledger.write(id, ttl)
    return { expected: 'a document', learn: ({ _etag }: Stored<Item>) => know(_etag) }
  }
}

async function tell(store: Items, call: Foretold): Promise<unknown> {
  const { items } = store
  switch (call.do) {
    case 'setDefaultTtl':
      return items.setDefaultTtl(call.defaultTtl)
    case 'clear':
      return items.clear()
    case 'deleteMany':
      return (await items.deleteMany(call.ids)).deleted
    case 'upsertMany':
    case 'createMany':
      return (await items[call.do](call.items)).written
    case 'update':
      return items.update(call.id, (doc) => ({ ...doc, a: call.a }))
    case 'atomic':
      return store.atomic(({ items }) => {
        for (const write of call.writes) put(items as never, write)
      })
    case 'create':
    case 'upsert':
    case 'replace':
    case 'patch':
    case 'touch':
    case 'delete':
      return put(items, call)
  }
}

function put(items: Collection<Item>, write: Write): unknown {
  if ('item' in write) return items[write.do](write.item)
  return write.do === 'patch' ? items.patch(write.id, write.fields) : items[write.do](write.id)
}

const seed = inject('seed')
const share = typeof document === 'undefined' ? 1 : 4

function part(of: number) {
  return { seed, numRuns: Math.ceil(inject('runs') / of / share), unbiased: true }
}

beforeAll(() => {
  console.log(`live: seed ${seed} (SEED=${seed} repeats them)`)
})

const timeout = 600_000

test('live queries and feeds in several tabs agree with what was written, whatever happens', { timeout }, async () => {
  await fc.assert(
    fc.asyncProperty(listening, async ({ declared, happenings }) => {
      resetClock()
      const world = new World(declared)
      try {
        await world.play(happenings)
      } finally {
        await world.destroy()
      }
    }),
    part(8),
  )
})

test('when nobody listens any more, nothing of it is left', { timeout }, async () => {
  await fc.assert(
    fc.asyncProperty(listening, async ({ declared, happenings }) => {
      resetClock()
      const world = new World(declared)
      try {
        await world.play(happenings.filter((one) => !('isKilled' in one && one.isKilled)))
        const store = await world.stopAll()
        await settledLater(async () => expect(await residue(world.name)).toEqual({ audience: {}, entries: [] }))
        if (inject('engine') !== 'here') return
        // The first of its kind is noted in the setting.
        await store.items.upsert({ id: 'z', a: 0, b: 0 })
        const { put } = await countRequests(() => store.items.upsert({ id: 'z', a: 0, b: 0 }))
        expect(put).toBe(1)
      } finally {
        await world.destroy()
      }
    }),
    part(30),
  )
})

test('tabs that write at the same time all hear the same', { timeout }, async () => {
  const writes = fc.array(fc.tuple(fc.nat(2), fc.constantFrom('a', 'b', 'c'), fc.nat(4)), {
    minLength: 10,
    maxLength: 60,
  })
  await fc.assert(
    fc.asyncProperty(writes, async (writes) => {
      resetClock()
      const name = newName()
      const tabs = [0, 1, 2].map(() => open(schemaOf(-1), name))
      const heard = tabs.map((): string[] => [])
      tabs.forEach(({ items }, at) =>
        items.changes((change) =>
          heard[at]!.push(`${change.type} ${change.id} ${change.type === 'upsert' ? change.doc._etag : ''}`),
        ),
      )
      const lives = tabs.map(({ items }) => new Live(items, { orderBy: '_ts', order: 'desc', limit: 2 }))
      try {
        for (const { items } of tabs) await items.stats()
        const answers = await Promise.all(
          writes.map(async ([tab, id, what]): Promise<string[]> => {
            const { items } = tabs[tab]!
            await new Promise((resolve) => setTimeout(resolve, what))
            if (what === 0) return (await items.delete(id)) ? [`delete ${id} `] : []
            if (what > 1) return [`upsert ${id} ${(await items.upsert({ id, a: what }))._etag}`]
            const done = await items.update(id, (doc) => ({ ...doc, b: 1 })).catch(() => undefined)
            return done ? [`upsert ${id} ${done._etag}`] : []
          }),
        )
        const all = answers.flat().toSorted()
        for (const list of heard) await settled(() => expect(list.toSorted()).toEqual(all))
        expect(heard[1]).toEqual(heard[0])
        expect(heard[2]).toEqual(heard[0])
        for (const id of ['a', 'b', 'c']) {
          const last = heard[0]!.findLast((one) => one.split(' ')[1] === id)
          const doc = await tabs[0]!.items.get(id)
          expect(last ?? `delete ${id} `).toBe(doc ? `upsert ${id} ${doc._etag}` : `delete ${id} `)
        }
        for (const live of lives) await live.isRight()
      } finally {
        await Promise.all(tabs.map((tab) => tab.close()))
      }
    }),
    part(20),
  )
})

/** What the collection still holds for those who listen. */
async function residue(name: string): Promise<{ audience: unknown; entries: unknown[] }> {
  const database = await asked(indexedDB.open(name))
  try {
    const store = database.transaction('items').objectStore('items')
    const [setting, entries] = await Promise.all([
      asked(store.get(0)) as Promise<{ audience?: object } | undefined>,
      asked(store.getAllKeys(IDBKeyRange.bound(1, Infinity))),
    ])
    return { audience: setting?.audience ?? {}, entries }
  } finally {
    database.close()
  }
}

function asked<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error!))
  })
}

async function settledLater(check: () => Promise<void>): Promise<void> {
  let failure: unknown = 'never looked'
  const look = () =>
    check().then(
      () => (failure = undefined),
      (error: unknown) => (failure = error),
    )
  const end = performance.now() + 10_000
  while (failure !== undefined && performance.now() < end) await look()
  if (failure !== undefined) throw failure as Error
}
