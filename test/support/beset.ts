import { collection, MayflyError } from 'mayfly'
import type { Collection, Store, Stored, StoreOptions } from 'mayfly'
import { expect } from 'vitest'
import * as carrier from '../../src/client/carrier.js'
import { hear } from '../../src/client/migrator.js'
import { Engine } from '../../src/engine/engine.js'
import { open } from '../../src/open.js'
import type { Listen, StoreShape } from '../../src/protocol.js'
import { START } from './clock.js'
import { readDisk } from './contents.js'
import { inject, Injector } from './injector.js'
import type { Fault } from './injector.js'
import { Model, Refusal } from './model.js'
import type { Note, Shown } from './model.js'
import { settled } from './settled.js'
import { newName } from './stores.js'

export interface Thing {
  id: string
  n?: number
  code?: string
  ttl?: number
}

export const schema = {
  notes: collection<Thing>({ defaultTtl: -1 }).index('n').index('n', 'code').uniqueIndex('code'),
  logs: collection<Thing>({ defaultTtl: -1 }).index('n'),
}

export type Things = Collection<Thing>
export type Names = keyof typeof schema
export type Models = Record<Names, Model>

/** A call of the store, and what the model says to it. */
export interface Asked {
  tell: () => Promise<unknown>
  ask: (models: Models) => unknown
  /** What is gone by it has expired. */
  isExpiry?: boolean
}

/** What the documentation says of a database that refuses. */
const REFUSALS = new Set(['quota', 'failed', 'blocked', 'invalid', 'lost', 'unavailable'])

/** A tab, everything that it heard, and whatever it must not have. */
export class Tab {
  readonly store: Store<typeof schema>
  readonly faults: string[] = []
  readonly #heard: Record<Names, string[]> = { notes: [], logs: [] }
  readonly #lives = new Map<object, string>()
  /** Where in the ledger each feed begins. */
  readonly #from = new Map<Names, number>()
  /** Where nobody else listened: what has expired till then may be told to the first, once. */
  readonly #first = new Set<Names>()
  readonly #stops: (() => void)[] = []
  #isOver = false

  constructor(name: string, world: World, definition: typeof schema, options: StoreOptions) {
    const clocks = { wall: () => world.now, steady: () => performance.now() + world.passed }
    class Timed extends Engine {
      constructor(shape: StoreShape, listen: Listen) {
        super(shape, listen, clocks)
      }
    }
    const all: StoreOptions = { worker: false, sweep: 'manual', patience: 0.5, ...options }
    const parts = { engine: async () => Timed, carrier: async () => carrier, migrator: async () => ({ hear }) }
    this.store = open(name, definition, all, parts)
  }

  /** From the place in the ledger on where a feed begins it must hear everything. */
  follow(name: Names, from: number, isFirst = false): void {
    this.#from.set(name, from)
    if (isFirst) this.#first.add(name)
    const heard = this.#heard[name]
    const stop = this.store[name].changes((change) => {
      heard.push(change.type === 'upsert' ? `${change.id} ${change.doc._etag}` : `${change.id} ${change.type}`)
    })
    this.#stops.push(stop)
  }

  watch(name: Names, question: object): void {
    const key = { name, question }
    const stop = this.store[name].query(question).subscribe(
      (docs) => {
        const told = docs.map((doc) => `${doc.id}:${doc._etag}`).join()
        if (this.#isOver) this.faults.push(`${JSON.stringify(question)} was called after its end`)
        if (told === this.#lives.get(key)) this.faults.push(`${JSON.stringify(question)} was called twice alike`)
        this.#lives.set(key, told)
      },
      (error) => {
        if (!(error instanceof MayflyError) || !REFUSALS.has(error.code)) this.faults.push(String(error))
      },
    )
    this.#stops.push(stop)
  }

  isFollowing(name: Names): boolean {
    return this.#from.has(name)
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop()
    this.#from.clear()
    this.#lives.clear()
    this.#isOver = true
  }

  async isRight(told: Record<Names, string[]>): Promise<void> {
    await settled(() => this.hasHeardOnce(told))
    for (const [key] of this.#lives) {
      const { name, question } = key as { name: Names; question: object }
      const docs = await this.store[name].query(question).get()
      const right = docs.map((doc) => `${doc.id}:${doc._etag}`).join()
      await settled(() => expect({ question, told: this.#lives.get(key) }).toEqual({ question, told: right }))
    }
    expect(this.faults).toEqual([])
  }

  /** That nothing came twice, late. */
  hasHeardOnce(told: Record<Names, string[]>): void {
    for (const [name, from] of this.#from) {
      const right = byId(told[name].slice(from))
      const heard = Object.entries(byId(this.#heard[name])).flatMap(([id, told]) => {
        const isExtra = this.#first.has(name) && told.length > (right[id]?.length ?? 0) && told[0]!.endsWith(' expire')
        const all = isExtra ? told.slice(1) : told
        return all.length === 0
          ? []
          : [[id, all.map((one, nth) => (right[id]?.[nth] === `${id} ?` && isMark(one) ? `${id} ?` : one))]]
      })
      expect(Object.fromEntries(heard)).toEqual(right)
    }
  }
}

/** Whoever writes several at once is not told of their marks. */
function isMark(one: string): boolean {
  return !one.endsWith(' delete') && !one.endsWith(' expire')
}

function byId(told: string[]): Record<string, string[]> {
  const all: Record<string, string[]> = {}
  for (const one of told) (all[one.split(' ')[0]!] ??= []).push(one)
  return all
}

/** Two tabs of one store, a model, and a fault that comes over them. */
export class World {
  readonly name = newName()
  readonly injector: Injector
  readonly models: Models = { notes: new Model(START, -1), logs: new Model(START, -1) }
  readonly tabs: Tab[] = []
  /** What every tab that follows has to hear: the `_etag` of what was written, or how it went. */
  readonly told: Record<Names, string[]> = { notes: [], logs: [] }
  now = START
  /** How much of the time has really passed, and not just been set. */
  passed = 0
  refused = 0
  isDestroyed = false
  /** Of the documents of a call for many those that alone were refused. */
  uncloneable = new Set<string>()
  readonly #uninject: () => void

  constructor(fault: Fault) {
    this.injector = new Injector(fault)
    this.#uninject = inject(this.name, this.injector)
  }

  get notes(): Things {
    return this.tabs[0]!.store.notes
  }

  get store(): Store<typeof schema> {
    return this.tabs[0]!.store
  }

  open(options: StoreOptions = {}, definition = schema): Tab {
    const tab = new Tab(this.name, this, definition, options)
    this.tabs.push(tab)
    return tab
  }

  /** Documents that live, others that are about to expire, tabs that listen. */
  async prepare(): Promise<void> {
    this.open()
    this.open()
    await Promise.all(this.tabs.map(({ store }) => store.ready))
    for (const tab of this.tabs) {
      for (const name of ['notes', 'logs'] as const) tab.follow(name, 0)
      tab.watch('notes', { orderBy: 'n', limit: 2 })
      tab.watch('notes', { where: { code: { exists: true } } })
      await tab.store.notes.stats()
      await tab.store.logs.stats()
    }
    const docs: Thing[] = [
      { id: 'a', n: 1, code: 'ca' },
      { id: 'b', n: 2, ttl: 100 },
      { id: 'c', n: 3, code: 'cc' },
      { id: 'old1', n: 0, code: 'dead', ttl: 1 },
      { id: 'old2', n: 1, ttl: 1.5 },
    ]
    for (const doc of docs) await this.expect(this.write('upsert', doc))
    await this.expect(this.write('upsert', { id: 'l', n: 1 }, 'logs'))
    this.move(2000)
  }

  /** The documents whose time has come are told as expired by whoever comes first. */
  move(by: number): void {
    this.now += by
    this.#noting(true, () => {
      for (const model of Object.values(this.models)) model.move(by)
    })
  }

  /** Time that passes, for every clock. */
  pass(by: number): void {
    this.passed += by
    this.move(by)
  }

  /** How far the clock may step back and still be said to have been put right, not set to another time. */
  get leeway(): number {
    return 240_000 - (this.models.notes.now - this.now)
  }

  /** Takes in what somebody has written of whom no answer came. */
  found(name: Names, { id, _etag }: Note & { _etag: string }, note: Note): void {
    this.#noting(false, () => this.models[name].upsert(note), new Map([[id, _etag]]))
  }

  write(verb: 'create' | 'upsert' | 'replace', doc: Thing, name: Names = 'notes', tab = 0): Asked {
    return {
      tell: () => this.tabs[tab]!.store[name][verb](doc),
      ask: (models) => models[name][verb](doc as Note),
    }
  }

  /** Calls of one tick. Those that the database refuses were not made; the answers of the others are the model's. */
  async expect(...calls: Asked[]): Promise<void> {
    const answers = await Promise.all(calls.map(({ tell }) => attempt(tell)))
    for (const [nth, { ask, isExpiry = false }] of calls.entries()) {
      const answer = answers[nth]
      if (answer instanceof MayflyError) expect(`${answer.message} ${String(answer.cause)}`).not.toContain('secret')
      const some = refusedOf(answer)
      this.uncloneable = new Set(some)
      if (answer instanceof MayflyError && REFUSALS.has(answer.code) && !some) {
        expect(this.injector.fired, `${answer.message} ${answer.stack}`).toBeDefined()
        this.refused++
        continue
      }
      const before = new Map(etagsOf(answer))
      const expected = this.#noting(isExpiry, () => outcome(() => ask(this.models)), before)
      const plainAnswer = answer instanceof MayflyError ? new Refusal(answer.code) : plain(answer)
      expect(plainAnswer).toEqual(plain(expected))
    }
  }

  /** What the model says has changed is what a feed has to tell. */
  #noting<T>(isExpiry: boolean, work: () => T, etags = new Map<string, string>()): T {
    const names = ['notes', 'logs'] as const
    const before = names.map((name) => new Map(this.models[name].entries))
    const answer = work()
    names.forEach((name, nth) => {
      const { entries } = this.models[name]
      for (const [id, entry] of entries) {
        if (before[nth]!.get(id)?.version !== entry.version) this.told[name].push(`${id} ${etags.get(id) ?? '?'}`)
      }
      for (const id of before[nth]!.keys()) {
        if (!entries.has(id)) this.told[name].push(`${id} ${isExpiry ? 'expire' : 'delete'}`)
      }
    })
    return answer
  }

  /** All that must hold after a fault. */
  async isRight(): Promise<void> {
    this.injector.disarm()
    if (this.isDestroyed) return this.end()
    // It works again.
    await this.expect(this.write('upsert', { id: 'after', n: 9, code: 'after' }))
    await this.expect({
      tell: () => this.tabs[1]!.store.logs.create({ id: 'after' }),
      ask: ({ logs }) => logs.create({ id: 'after' }),
    })
    for (const tab of this.tabs) await this.#agrees(tab.store)
    for (const tab of this.tabs) await tab.isRight(this.told)
    const disk = await readDisk(this.name)
    for (const name of ['notes', 'logs'] as const) {
      const { records, setting } = disk[name]!
      expect(setting.defaultTtl).toBe(this.models[name].defaultTtl)
      const ids = new Set(records.map(({ doc }) => doc.id))
      for (const id of this.models[name].entries.keys()) expect(ids).toContain(id)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
    for (const tab of this.tabs) tab.hasHeardOnce(this.told)
    await this.#agrees(this.open().store)
    await this.store.sweep()
    const swept = await readDisk(this.name)
    for (const name of ['notes', 'logs'] as const) {
      expect(swept[name]!.records.map(({ doc }) => doc.id)).toEqual([...this.models[name].entries.keys()].toSorted())
    }
    await this.end()
  }

  async end(): Promise<void> {
    this.injector.disarm()
    const [first, ...others] = this.tabs
    for (const tab of this.tabs) tab.stop()
    await Promise.all(others.map(({ store }) => store.close()))
    await first?.store.destroy().catch((error: MayflyError) => expect(error.code).toBe('closed'))
    this.#uninject()
  }

  async #agrees(store: Store<typeof schema>): Promise<void> {
    for (const name of ['notes', 'logs'] as const) {
      expect(plain(await store[name].query().get())).toEqual(this.models[name].all())
      expect(await store[name].query().count()).toBe(this.models[name].entries.size)
    }
  }
}

async function attempt(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MayflyError) return error
    throw error
  }
}

/** The ids that a call for many says were refused by the database, if any of the others was not. */
function refusedOf(answer: unknown): string[] | undefined {
  const { cause } = answer instanceof MayflyError ? answer : {}
  if (!(cause instanceof AggregateError)) return undefined
  const errors = cause.errors as MayflyError[]
  for (const { code } of errors) expect(['invalid', 'conflict']).toContain(code)
  return errors.filter(({ code }) => code === 'invalid').map(({ id }) => id!)
}

function outcome(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** All documents of an answer, with their marks. */
function etagsOf(answer: unknown): [string, string][] {
  if (Array.isArray(answer)) return answer.flatMap(etagsOf)
  if (typeof answer !== 'object' || answer === null || !('_etag' in answer)) return []
  const { id, _etag } = answer as Stored<Thing>
  return [[id, _etag]]
}

function plain(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(plain)
  if (answer instanceof Date) return answer.getTime()
  if (answer instanceof Refusal || typeof answer !== 'object' || answer === null) return answer
  if (!('_etag' in answer)) return answer
  const { _etag: _, ...shown } = answer as Stored<Thing>
  return shown as unknown as Shown
}
