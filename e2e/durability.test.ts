import type { Page } from '@playwright/test'
import type { Collection } from 'mayfly'
import { serveApi } from './support/api.js'
import { expect, newTab, test } from './support/lab.js'
import { after, STEPS } from './support/lanes.js'
import { startChromium, withProfile } from './support/own-chromium.js'
import { findDisagreements } from './support/raw.js'

/** `KILLS=200 npx playwright test durability` kills more often. */
const KILLS = Number(process.env['KILLS'] ?? 20)
const LANES = 6

interface Written {
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

/** Opens the store as `window.store`; the worker is the package's own. */
async function open(tab: Page, durability: 'relaxed' | 'strict'): Promise<void> {
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
async function writeForever(tab: Page, round: number): Promise<void> {
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

test('a resolved write is committed, and stays after the browser is killed', async () => {
  test.setTimeout(30_000 + KILLS * 20_000)
  await using server = await serveApi()
  /** How many steps of each lane are known to have been answered, by round. */
  const done: number[][] = []
  let answers = 0
  let told: () => unknown = () => undefined
  server.on('/done', (response, { url = '' }) => {
    const { searchParams } = new URL(url, server.url)
    const [round, lane, steps] = ['round', 'lane', 'steps'].map((name) => Number(searchParams.get(name)))
    const lanes = (done[round!] ??= Array.from({ length: LANES }, () => 0))
    lanes[lane!] = Math.max(lanes[lane!]!, steps!)
    response.setHeader('Cache-Control', 'no-store').end()
    answers++
    told()
  })
  const failures: unknown[] = []
  server.on('/failed', (_, { url }) => failures.push(url))
  /** What each lane was found to be at after its round: from then on, it stays. */
  const settled = new Map<string, Map<string, string>>()
  await withProfile(async (profile) => {
    for (let round = 0; round <= KILLS; round++) {
      const chromium = await startChromium(profile)
      try {
        const tab = await newTab(chromium.context, server)
        await open(tab, round % 2 === 0 ? 'relaxed' : 'strict')
        const { lanes, wrong } = await read(tab)
        expect(wrong).toEqual([])
        for (let lane = 0; round > 0 && lane < LANES; lane++) {
          const key = `${round - 1}.${lane}`
          const there = lanes.get(key) ?? new Map()
          const acknowledged = done[round - 1]![lane]!
          // One step may have been answered without the server's knowledge, and one more may have been under way.
          const possible = [0, 1, 2].map((more) => after(acknowledged + more))
          expect(possible, `${key} after ${acknowledged} steps`).toContainEqual(there)
          settled.set(key, there)
        }
        for (const [key, docs] of settled) expect(lanes.get(key) ?? new Map(), key).toEqual(docs)
        if (round === KILLS) break
        // It is killed after a number of answers that is another in every round.
        const last = answers + LANES + Math.floor(((round * 0.618) % 1) * 200)
        const enough = new Promise<void>((resolve) => {
          told = () => answers >= last && resolve()
        })
        await writeForever(tab, round)
        await enough
      } finally {
        await chromium.kill()
      }
    }
  })
  expect(failures).toEqual([])
  expect(settled.size).toBe(KILLS * LANES)
  expect(done.flat().reduce((sum, steps) => sum + steps)).toBeGreaterThan(KILLS * LANES)
})
