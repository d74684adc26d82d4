import fc from 'fast-check'
import { collection, MayflyError } from 'mayfly'
import type { Collection, Store } from 'mayfly'
import { expect, inject, test } from 'vitest'
import { history } from './support/actions.js'
import type { Action, Step } from './support/actions.js'
import { advance, resetClock, START } from './support/clock.js'
import { Model, Refusal } from './support/model.js'
import type { Note, Shown } from './support/model.js'
import { newName, open } from './support/stores.js'

interface StoredNote extends Note {
  _etag: string
  _ts: number
}

type Notes = Collection<{ id: string; n?: number; code?: string; ttl?: number }>

/** Two tabs of one store, and the model that says what each of their answers must be. */
class Tabs {
  readonly #name = newName()
  #model: Model
  readonly #maxDocuments: number | undefined
  readonly #stores: Store<{ notes: ReturnType<typeof schemaOf>['notes'] }>[]
  /** The `_etag` last seen of each id, with the version that the model gives it. */
  readonly #known = new Map<string, { etag: string; version: number }>()

  constructor(declared: number | null, maxDocuments: number | undefined) {
    this.#model = new Model(START, declared, maxDocuments)
    this.#maxDocuments = maxDocuments
    this.#stores = [0, 1].map(() => open(schemaOf(declared, maxDocuments), this.#name))
  }

  async play(steps: Step[]): Promise<void> {
    await this.#move(0)
    for (const step of steps) await this.#take(step)
  }

  async #take(step: Step): Promise<void> {
    if ('calls' in step) await this.#call(this.#stores[step.tab]!.notes, step.calls)
    else if ('move' in step) await this.#move(step.move)
    else if ('leapBack' in step) await this.#leap(step.leapBack)
    else if ('sweep' in step) await this.#sweep(step.sweep)
    else await this.#restart(step.restart, step.declared)
  }

  async close(): Promise<void> {
    await this.#stores[1]!.close()
    await this.#stores[0]!.destroy()
  }

  /** The calls of one tick: every answer must be the model's, as if they had been made one after another. */
  async #call(notes: Notes, calls: Action[]): Promise<void> {
    const known = new Map(this.#known)
    const possible = futures(this.#model, calls, known)
    const answers = (await Promise.all(calls.map((call) => settle(() => tell(notes, call, known))))).map(plain)
    const left = plain(await notes.query().get())
    const actual = possible.find(({ model, expected }) => agree([answers, left], [expected, model.all()]))
    // Where none agrees, the first says best what was expected.
    const { model, expected } = actual ?? possible[0]!
    expect([answers, left]).toEqual([expected, model.all()])
    this.#model = model
    const versions = new Map([...model.entries].map(([id, { version }]) => [id, version]))
    // The versions are those after the last call, so only what is read now may be paired with them.
    for (const doc of await notes.getMany([...versions.keys()])) {
      const { id, _etag: etag } = doc!
      this.#known.set(id, { etag, version: versions.get(id)! })
    }
  }

  /** Somebody looks after every move: nothing can remember an expiry that nobody has been told of. */
  async #move(by: number): Promise<void> {
    advance(by / 1000)
    this.#model.move(by)
    for (const { notes } of this.#stores) await this.#call(notes, [{ do: 'stats' }])
  }

  /** Only a small step back keeps the dead dead, so they are swept away before a large one. */
  async #leap(by: number): Promise<void> {
    await this.#sweep(0)
    await this.#move(by)
  }

  async #sweep(tab: 0 | 1): Promise<void> {
    const store = this.#stores[tab]!
    const { expired } = await store.notes.stats()
    expect(await store.sweep()).toEqual({ deleted: expired })
    expect(await store.notes.stats()).toMatchObject({ live: this.#model.entries.size, expired: 0 })
  }

  async #restart(tab: 0 | 1, declared: number | null): Promise<void> {
    await this.#stores[tab]!.close()
    this.#stores[tab] = open(schemaOf(declared, this.#maxDocuments), this.#name)
    await this.#stores[tab].ready
    this.#model.declare(declared)
    await this.#call(this.#stores[tab].notes, [{ do: 'stats' }, { do: 'settings' }])
  }
}

function schemaOf(defaultTtl: number | null, maxDocuments: number | undefined) {
  return {
    notes: collection<{ id: string; n?: number; code?: string; ttl?: number }>({ defaultTtl, maxDocuments })
      .index('n')
      .uniqueIndex('code'),
  }
}

/** What the model may answer, and what it is then: of those that expire at once, any may make way. */
function futures(model: Model, calls: Action[], known: Known): { model: Model; expected: unknown[] }[] {
  const all = []
  const pending: number[][] = [[]]
  for (let choices = pending.pop(); choices; choices = pending.pop()) {
    const fork = model.fork(choices)
    all.push({ model: fork, expected: calls.map((call) => outcome(() => ask(fork, call, known))) })
    for (let at = choices.length; at < fork.chosen.length; at++) {
      const before = fork.chosen.slice(0, at).map(({ choice }) => choice)
      for (let other = 1; other < fork.chosen[at]!.among; other++) pending.push([...before, other])
    }
  }
  return all
}

function agree(actual: unknown, expected: unknown): boolean {
  try {
    expect(actual).toEqual(expected)
    return true
  } catch {
    return false
  }
}

type Known = ReadonlyMap<string, { etag: string; version: number }>

/** Puts a call to the store. */
async function tell(notes: Notes, call: Action, known: Known): Promise<unknown> {
  const options = (id: string) => {
    if (!('ifMatch' in call) || call.ifMatch === 'none') return {}
    return { ifMatch: (call.ifMatch === 'known' && known.get(id)?.etag) || 'wrong' }
  }
  switch (call.do) {
    case 'create':
      return notes.create(call.note as never)
    case 'upsert':
    case 'replace':
      return notes[call.do](call.note as never, options(call.note.id))
    case 'patch':
      return notes.patch(call.id, call.fields as never, options(call.id))
    case 'update':
      return notes.update(call.id, (note) => changed(note, call) as never)
    case 'touch':
    case 'delete':
      return notes[call.do](call.id, options(call.id))
    case 'createMany':
    case 'upsertMany':
      return (await notes[call.do](call.notes as never)).written
    case 'deleteMany':
      return (await notes.deleteMany(call.ids)).deleted
    case 'getMany':
      return notes.getMany(call.ids)
    case 'get':
      return notes.get(call.id)
    case 'expiresAt': {
      const at = await notes.expiresAt(call.id)
      return at instanceof Date ? at.getTime() : at
    }
    case 'clear':
      return notes.clear()
    case 'stats': {
      const { live, nextExpiry } = await notes.stats()
      return { live, nextExpiry: nextExpiry?.getTime() ?? null }
    }
    case 'count':
      return notes.query().count()
    case 'settings':
      return (await notes.settings()).defaultTtl
    case 'query': {
      const { least, orderBy, order, limit } = call
      const query = notes.query({ where: { n: { gte: least } }, order, limit, ...(orderBy && { orderBy }) })
      return query.page().then(({ items }) => items)
    }
    case 'setDefaultTtl':
      return notes.setDefaultTtl(call.defaultTtl as never)
  }
}

/** Puts the same call to the model. */
function ask(model: Model, call: Action, known: Known): unknown {
  const version = (id: string) => {
    if (!('ifMatch' in call) || call.ifMatch === 'none') return undefined
    return (call.ifMatch === 'known' && known.get(id)?.version) || -1
  }
  switch (call.do) {
    case 'create':
      return model.create(call.note)
    case 'upsert':
    case 'replace':
      return model[call.do](call.note, version(call.note.id))
    case 'patch':
      return model.patch(call.id, call.fields, version(call.id))
    case 'update': {
      const note = model.get(call.id)
      if (!note) throw new Refusal('not-found')
      return model.replace(changed(note, call))
    }
    case 'touch':
    case 'delete':
      return model[call.do](call.id, version(call.id))
    case 'createMany':
    case 'upsertMany':
      return many(call.notes.map((note) => () => (call.do === 'createMany' ? model.create(note) : model.upsert(note))))
    case 'deleteMany':
      return call.ids.filter((id) => model.delete(id)).length
    case 'getMany':
      return call.ids.map((id) => model.get(id))
    case 'get':
      return model.get(call.id)
    case 'expiresAt':
      return model.expiresAt(call.id)
    case 'clear':
      return model.clear()
    case 'stats':
      return { live: model.entries.size, nextExpiry: model.nextExpiry() }
    case 'count':
      return model.entries.size
    case 'settings':
      return model.defaultTtl
    case 'query': {
      const matches = model.all().filter(({ n }) => n !== undefined && n >= call.least)
      if (call.orderBy === 'n') matches.sort((one, other) => one.n! - other.n!)
      return (call.order === 'asc' ? matches : matches.toReversed()).slice(0, call.limit)
    }
    case 'setDefaultTtl':
      return model.setDefaultTtl(call.defaultTtl)
  }
}

function changed({ id, n = 0, code, ttl }: Note, { add, ttl: newTtl }: { add: number; ttl: unknown }): Note {
  const next = { id, n: (n + add) % 4, ...(code === undefined ? {} : { code }) }
  const kept = newTtl ?? ttl
  return kept === undefined ? next : { ...next, ttl: kept }
}

/** The first refusal stands for them all; the others are written. */
function many(writes: (() => unknown)[]): number {
  const outcomes = writes.map(outcome)
  const refusal = outcomes.find((one) => one instanceof Refusal)
  if (refusal) throw refusal
  return outcomes.length
}

function outcome(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

async function settle(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MayflyError) return new Refusal(error.code)
    throw error
  }
}

/** An answer without its `_etag`s, which the model does not know. */
function plain(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(plain)
  if (typeof answer !== 'object' || answer === null || !('_etag' in answer)) return answer
  const { _etag: _, ...shown } = answer as StoredNote
  return shown satisfies Shown
}

test('every answer agrees with a literal reading of the rules, whatever happens', { timeout: 600_000 }, async () => {
  const seed = inject('seed')
  const runs = inject('runs')
  console.log(`model: seed ${seed}, ${runs} histories (SEED=${seed} repeats them)`)
  await fc.assert(
    fc.asyncProperty(history, async ({ declared, maxDocuments, steps }) => {
      resetClock()
      const tabs = new Tabs(declared, maxDocuments)
      try {
        await tabs.play(steps)
      } finally {
        await tabs.close()
      }
    }),
    { seed, numRuns: runs },
  )
})
