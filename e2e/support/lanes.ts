import type { Page } from '@playwright/test'
import type { Collection } from 'mayfly'
import type { Api } from './api.js'
import { expect } from './lab.js'
import { findDisagreements } from './raw.js'

export const LANES = 6

/** What a lane does to its own few documents, step by step. A lane is done by one tab, one step after the other. */
export interface Step {
  kind: 'one' | 'many' | 'atomic'
  writes: { verb: 'upsert' | 'patch' | 'delete'; collection: 'items' | 'others'; name: string }[]
}

const write = (verb: 'upsert' | 'patch' | 'delete', collection: 'items' | 'others', name: string) => ({
  verb,
  collection,
  name,
})

/** One round; over and over again. After the first, every document has been there before. */
export const STEPS: Step[] = [
  { kind: 'one', writes: [write('upsert', 'items', 'a')] },
  { kind: 'many', writes: ['b', 'c', 'd'].map((name) => write('upsert', 'items', name)) },
  { kind: 'atomic', writes: [write('upsert', 'items', 'e'), write('upsert', 'others', 'e')] },
  { kind: 'one', writes: [write('patch', 'items', 'a')] },
  {
    kind: 'atomic',
    writes: [write('delete', 'items', 'e'), write('patch', 'items', 'b'), write('patch', 'others', 'e')],
  },
  { kind: 'one', writes: [write('delete', 'others', 'e')] },
  { kind: 'one', writes: [write('delete', 'items', 'c')] },
  { kind: 'atomic', writes: [write('upsert', 'others', 'f'), write('patch', 'items', 'd')] },
]

/** What there is after so many steps: of each document, the step that wrote it and the one that patched it last. */
export function after(steps: number): Map<string, string> {
  const there = new Map<string, [written: number, patched: number]>()
  for (let step = 0; step < steps; step++) {
    for (const { verb, collection, name } of STEPS[step % STEPS.length]!.writes) {
      const key = `${collection}/${name}`
      if (verb === 'delete') there.delete(key)
      else there.set(key, [verb === 'patch' ? there.get(key)![0] : step, step])
    }
  }
  return new Map([...there].map(([key, [written, patched]]) => [key, `${written} ${patched}`]))
}

export interface Written {
  id: string
  /** The step that patched it last. */
  n: number
  /** The step that wrote it, many times: something half written would show. */
  text: string
  mark: string
}

interface Window {
  items: Collection<Written>
  others: Collection<Written>
}

/** Opens the store of the lanes as `window.store`; the worker is the package's own. */
export async function openLanes(tab: Page, durability: 'relaxed' | 'strict'): Promise<void> {
  await tab.evaluate(async (durability) => {
    const { collection, openStore } = window.lab
    const schema = {
      items: collection<Written>({ defaultTtl: 86_400 }).index('n').uniqueIndex('mark'),
      others: collection<Written>().index('n', 'mark'),
    }
    const { items, others } = (window.store = openStore('durable', schema, { durability, sweep: 'manual' }) as never)
    Object.assign(window, { items, others })
    await window.store.ready
  }, durability)
}

/** Writes until the end of the browser. Before a step begins, the server knows of all before the last. */
export async function writeForever(tab: Page, round: number): Promise<void> {
  await tab.evaluate(
    ([steps, lanes, round]) => {
      const { items, others } = window as unknown as Window
      const docOf = (lane: string, name: string, step: number): Written => {
        const id = `${lane}${name}`
        return { id, n: step, text: `${step} `.repeat(300), mark: `${id} ${step}` }
      }
      const perform = async (lane: string, step: number) => {
        const { kind, writes } = steps[step % steps.length]!
        if (kind === 'many') return items.upsertMany(writes.map(({ name }) => docOf(lane, name, step)))
        if (kind === 'atomic') {
          return window.store.atomic((inside) => {
            for (const { verb, collection, name } of writes) {
              if (verb === 'upsert') inside[collection].upsert(docOf(lane, name, step))
              else if (verb === 'patch') inside[collection].patch(`${lane}${name}`, { n: step })
              else inside[collection].delete(`${lane}${name}`)
            }
          })
        }
        const { verb, collection, name } = writes[0]!
        const target = collection === 'items' ? items : others
        if (verb === 'upsert') return target.upsert(docOf(lane, name, step))
        if (verb === 'patch') return target.patch(`${lane}${name}`, { n: step })
        return target.delete(`${lane}${name}`)
      }
      const run = async (lane: number) => {
        let told: Promise<unknown> = Promise.resolve()
        for (let step = 0; ; step++) {
          await perform(`${round}.${lane}.`, step)
          await told
          told = fetch(`/done?round=${round}&lane=${lane}&steps=${step + 1}`)
        }
      }
      for (let lane = 0; lane < lanes; lane++) run(lane).catch((error: unknown) => fetch(`/failed?${error}`))
    },
    [STEPS, LANES, round] as const,
  )
}

/** What lies in the store, by round and lane, in the words of `after`; and whether all of it is whole. */
async function read(tab: Page): Promise<{ lanes: Map<string, Map<string, string>>; wrong: string[] }> {
  const wrong = await tab.evaluate(findDisagreements, 'durable')
  const found = await tab.evaluate(async () => {
    const { items, others } = window.store as unknown as Window
    const [first, second] = await Promise.all([items.query().get(), others.query().get()])
    const counts = await Promise.all([
      items.query({ where: { n: { gte: 0 } } }).count(),
      items.query({ where: { mark: { gte: '' } } }).count(),
      others.query({ where: { n: { gte: 0 } } }).count(),
    ])
    return { first, second, agree: counts.join() === [first.length, first.length, second.length].join() }
  })
  if (!found.agree) wrong.push('the indexes find something else')
  const lanes = new Map<string, Map<string, string>>()
  for (const [collection, docs] of [
    ['items', found.first],
    ['others', found.second],
  ] as const) {
    for (const { id, n, text, mark, _etag } of docs) {
      const [round, lane, name] = id.split('.')
      const step = Number.parseInt(text)
      if (text !== `${step} `.repeat(300) || mark !== `${id} ${step}` || !_etag) wrong.push(`${id} is torn`)
      const key = `${round}.${lane}`
      if (!lanes.has(key)) lanes.set(key, new Map())
      lanes.get(key)!.set(`${collection}/${name}`, `${step} ${n}`)
    }
  }
  return { lanes, wrong }
}

/** What is known to have been answered: to the server, so that it outlives the tab and the browser. */
export class Answers {
  count = 0
  /** How many steps of each lane, by round. */
  readonly #steps: number[][] = []
  readonly #failures: unknown[] = []
  /** What each lane was found to be at after its round: from then on, it stays. */
  readonly #settled = new Map<string, Map<string, string>>()
  #told: () => void = () => undefined

  constructor(server: Api) {
    server.on('/failed', (_, { url }) => this.#failures.push(url))
    server.on('/done', (response, { url = '' }) => {
      const { searchParams } = new URL(url, server.url)
      const [round, lane, steps] = ['round', 'lane', 'steps'].map((name) => Number(searchParams.get(name)))
      const lanes = (this.#steps[round!] ??= Array.from({ length: LANES }, () => 0))
      lanes[lane!] = Math.max(lanes[lane!]!, steps!)
      response.setHeader('Cache-Control', 'no-store').end()
      this.count++
      this.#told()
    })
  }

  /** Resolves when so many more have come. */
  more(count: number): Promise<void> {
    const last = this.count + count
    return new Promise((resolve) => {
      this.#told = () => this.count >= last && resolve()
    })
  }

  /** What was found before is not looked for any more: another profile has nothing of it. */
  forget(): void {
    this.#settled.clear()
  }

  /** Proves that the round's lanes are where they may be, and that those of earlier rounds are where they were. */
  async check(tab: Page, round: number): Promise<void> {
    const { lanes, wrong } = await read(tab)
    expect(wrong).toEqual([])
    expect(this.#failures).toEqual([])
    for (const [lane, acknowledged] of this.#steps[round]?.entries() ?? []) {
      const key = `${round}.${lane}`
      // One step may have been answered without the server's knowledge, and one more may have been under way.
      const possible = [0, 1, 2].map((more) => after(acknowledged + more))
      const where = `${key} after ${acknowledged} steps; there is something of ${lanes.size} lanes`
      expect(possible, where).toContainEqual(lanes.get(key) ?? new Map())
      this.#settled.set(key, lanes.get(key) ?? new Map())
    }
    for (const [key, docs] of this.#settled) expect(lanes.get(key) ?? new Map(), key).toEqual(docs)
  }
}
