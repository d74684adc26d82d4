import type { Page } from '@playwright/test'
import type { Collection } from 'mayfly'
import { expect, newTab, openShop, test } from './support/lab.js'
import { numbers } from './support/random.js'
import { findDisagreements } from './support/raw.js'

/** `DEATHS=500 npx playwright test whole` lets the worker die more often. */
const DEATHS = Number(process.env['DEATHS'] ?? 50)
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const LANES = 5
const EACH = 100

interface Account {
  id: string
  n: number
  /** The transfer that wrote it last. */
  text: string
}

interface Window {
  bank: { items: Collection<Account>; others: Collection<Account> }
  worker: Worker
}

interface Round {
  done: string[]
  refused: string[]
  lost: string[]
  codes: string[]
}

/** Every lane has an account in each of two collections, and moves money between them. */
async function openBank(tab: Page): Promise<void> {
  await openShop(tab, { index: 'n' })
  await tab.evaluate(async () => {
    const { collection, openStore } = window.lab
    const bank = openStore(
      'bank',
      { items: collection<Account>().index('n'), others: collection<Account>().index('text') },
      {
        sweep: 'manual',
        worker: () => {
          const worker = new Worker('/dist/mayfly-worker.js', { type: 'module' })
          Object.assign(window, { worker })
          return worker
        },
      },
    )
    Object.assign(window, { bank })
    await bank.ready
  })
}

/** Moves money in every lane, again and again, until the worker dies; says what came of each call. */
function moveUntilDeath(tab: Page, round: number, hops: number): Promise<Round> {
  return tab.evaluate(
    async ([round, hops, lanes, each]) => {
      const page = window as unknown as Window
      const store = page.bank as never as typeof window.store
      const { items, others } = page.bank
      const outcome: Round = { done: [], refused: [], lost: [], codes: [] }
      let isOver = false
      const move = async (lane: number, n: number) => {
        const id = `${round}.${lane}.${n}`
        const [from, to] = await Promise.all([items.get(`account${lane}`), others.get(`account${lane}`)])
        const amount = (n % 7) + 1
        const isBad = n % 5 === 4
        try {
          await store.atomic((inside) => {
            const ifMatch = (doc?: { _etag: string }) => (doc ? { ifMatch: doc._etag } : {})
            inside.items.upsert({ id: `account${lane}`, n: (from?.n ?? each) - amount, text: id }, ifMatch(from))
            inside.items.create({ id, n: amount, text: 'x'.repeat(2000) })
            // One that is taken fails when all before it has been made.
            if (isBad) inside.others.create({ id: `account${lane}`, n: 0, text: 'taken' })
            inside.others.upsert({ id: `account${lane}`, n: (to?.n ?? each) + amount, text: id }, ifMatch(to))
            inside.others.create({ id, n: amount, text: 'x'.repeat(2000) })
          })
          outcome.done.push(id)
        } catch (error) {
          const { code } = error as { code: string }
          outcome.codes.push(code)
          outcome[code === 'lost' ? 'lost' : 'refused'].push(id)
        }
      }
      const run = async (lane: number) => {
        for (let n = 0; !isOver; n++) await move(lane, n)
      }
      await items.get('nobody')
      const runs = Array.from({ length: lanes }, (_, lane) => run(lane))
      const { port1, port2 } = new MessageChannel()
      for (let hop = 0; hop < hops; hop++) {
        await new Promise((resolve) => {
          port1.addEventListener('message', resolve, { once: true })
          port1.start()
          port2.postMessage(0)
        })
      }
      page.worker.terminate()
      isOver = true
      await Promise.all(runs)
      return outcome
    },
    [round, hops, LANES, EACH] as const,
  )
}

/** The accounts, and which transfers are noted where. */
function look(tab: Page): Promise<{ items: Account[]; others: Account[] }> {
  return tab.evaluate(async () => {
    const { items, others } = (window as unknown as Window).bank
    const [first, second] = await Promise.all([items.query().get(), others.query().get()])
    return { items: first, others: second }
  })
}

const isNote = ({ id }: Account) => !id.startsWith('account')

test('atomic is all or nothing wherever the worker dies, and every call settles', async ({ context, site, tab }) => {
  test.setTimeout(60_000 + DEATHS * 2000)
  console.log(`SEED=${SEED}`)
  const random = numbers(SEED)
  await openBank(tab)
  const witness = await newTab(context, site)
  await openBank(witness)
  const done = new Set<string>()
  const never = new Set<string>()
  let lost = 0
  for (let round = 0; round < DEATHS; round++) {
    const outcome = await moveUntilDeath(tab, round, Math.floor(random.next().value ** 2 * 600))
    for (const code of outcome.codes) expect(['lost', 'conflict']).toContain(code)
    for (const id of outcome.done) done.add(id)
    for (const id of outcome.refused) never.add(id)
    lost += outcome.lost.length

    const { items, others } = await look(witness)
    const notes = items.filter(isNote).map(({ id }) => id)
    expect(others.filter(isNote).map(({ id }) => id)).toEqual(notes)
    const there = new Set(notes)
    expect([...done].filter((id) => !there.has(id))).toEqual([])
    expect([...never].filter((id) => there.has(id))).toEqual([])
    // What was lost and is there is from now on as good as done; what is not never comes.
    for (const id of outcome.lost) (there.has(id) ? done : never).add(id)

    const accounts = [...items, ...others].filter((doc) => !isNote(doc))
    const sum = accounts.reduce((total, { n }) => total + n, 0)
    expect(sum).toBe(accounts.length * EACH)
    for (const { id, text } of items.filter((doc) => !isNote(doc))) {
      expect(others.find((other) => other.id === id)?.text).toBe(text)
      expect(there.has(text)).toBe(true)
      // The balance is the sum of the transfers that are noted.
      const lane = id.slice('account'.length)
      const moved = others.filter((note) => note.id.split('.')[1] === lane).reduce((total, { n }) => total + n, 0)
      expect(others.find((other) => other.id === id)?.n).toBe(EACH + moved)
    }
  }
  expect(await witness.evaluate(findDisagreements, 'bank')).toEqual([])
  expect(done.size).toBeGreaterThan(DEATHS)
  expect(lost).toBeGreaterThan(DEATHS)
})
