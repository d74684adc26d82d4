import type { Page } from '@playwright/test'
import { expect, openShop, test } from './support/lab.js'

/** Machines are shared: what they do beside can only add to a measurement, so the best of some rounds counts. */
const ROUNDS = 3

/** The longest task of the page while something is done; 0 when none was longer than the 50 ms that make a long one. */
async function longestTask(page: Page, work: () => Promise<unknown>): Promise<number> {
  const observer = await page.evaluateHandle(() => {
    window.log = []
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.log.push(duration)
    })
    observer.observe({ type: 'longtask' })
    return observer
  })
  await work()
  return observer.evaluate(async (observer) => {
    // The entry of a task is made after it, and delivered when the page is idle.
    await new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve)))
    const late = observer.takeRecords().map(({ duration }) => duration)
    observer.disconnect()
    return Math.max(0, ...late, ...(window.log as number[]))
  })
}

async function best(measure: (round: number) => Promise<number>, good: number): Promise<number> {
  let least = Infinity
  for (let round = 0; round < ROUNDS && least > good; round++) least = Math.min(least, await measure(round))
  return least
}

test('a long task of the page is noticed', async ({ tab }) => {
  const longest = await longestTask(tab, () =>
    tab.evaluate(
      () =>
        new Promise<void>((resolve) => {
          setTimeout(() => {
            const end = performance.now() + 80
            while (performance.now() < end);
            resolve()
          })
        }),
    ),
  )
  expect(longest).toBeGreaterThan(50)
})

test('writing 20,000 documents, and reading them, leave the page without a long task', async ({ tab }) => {
  await openShop(tab, { defaultTtl: 3600, index: 'n' })
  const writing = await best(
    (round) =>
      longestTask(tab, () =>
        tab.evaluate(async (round) => {
          const text = 'x'.repeat(350)
          function* docs() {
            for (let n = 0; n < 20_000; n++) yield { id: `i${n}`, n: round, text }
          }
          await window.store.items.upsertMany(docs())
        }, round),
      ),
    0,
  )
  expect(writing).toBe(0)
  const reading = await best(
    () => longestTask(tab, () => tab.evaluate(async () => void (await window.store.items.query().get()))),
    0,
  )
  expect(reading).toBe(0)
  expect(await tab.evaluate(async () => (await window.store.items.query().get()).length)).toBe(20_000)
})

test('large documents leave it without one too: written, read at once, and read one by one', async ({ tab }) => {
  await openShop(tab, { sweep: 'manual' })
  const longest = await best(
    () =>
      longestTask(tab, () =>
        tab.evaluate(async () => {
          const { items } = window.store
          const text = 'x'.repeat(10_000)
          function* docs() {
            for (let n = 0; n < 1000; n++) yield { id: `i${n}`, n, text: text + n }
          }
          await items.upsertMany(docs())
          await items.query().get()
          await Promise.all(Array.from({ length: 1000 }, (_, n) => items.get(`i${n}`)))
        }),
      ),
    0,
  )
  expect(longest).toBe(0)
})

test('deleting 100,000 expired documents leaves the page without a long task', async ({ tab }) => {
  test.setTimeout(180_000)
  await openShop(tab, { defaultTtl: -1 })
  const deleting = await best(async () => {
    await tab.evaluate(async () => {
      const text = 'x'.repeat(350)
      await window.store.items.upsertMany(Array.from({ length: 100_000 }, (_, n) => ({ id: `i${n}`, ttl: 250, text })))
      await window.lab.askWorkers({ pass: 255 })
    })
    return longestTask(tab, async () => {
      // A write wakes the deletion, whose alarm was set before time passed in the worker.
      await tab.evaluate(() => window.store.items.upsert({ id: 'fence', ttl: 0.001 }))
      await expect
        .poll(() => tab.evaluate(async () => (await window.store.items.stats()).expired), { timeout: 100_000 })
        .toBe(0)
    })
  }, 0)
  expect(deleting).toBe(0)
})

interface Latency {
  median: number
  p99: number
}

test('T17: a get every 5 ms hardly notices that 10,000 of 50,000 documents are being deleted', async ({ tab }) => {
  test.setTimeout(180_000)
  const ratios = await best(async (round) => {
    const { idle, meanwhile } = await tab.evaluate(async (round) => {
      const { collection, openStore } = window.lab
      const store = openStore(`latency-${round}`, {
        items: collection<{ id: string; ttl: number; text: string }>({ defaultTtl: -1 }),
      })
      const text = 'x'.repeat(350)
      const docs = Array.from({ length: 50_000 }, (_, n) => ({ id: `i${n}`, ttl: n % 5 ? -1 : 250, text }))
      await store.items.upsertMany(docs)

      /** Latencies from the instant at which each get was due. */
      async function gets(end: Promise<unknown>): Promise<Latency> {
        const times: number[] = []
        const calls: Promise<unknown>[] = []
        let isOver = false
        void end.then(() => (isOver = true))
        for (let due = performance.now(); !isOver; due += 5) {
          const wait = due - performance.now()
          if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
          const started = due
          calls.push(
            store.items
              .get(`i${Math.floor(Math.random() * 9000) * 5 + 1}`)
              .then(() => times.push(performance.now() - started)),
          )
        }
        await Promise.all(calls)
        times.sort((a, b) => a - b)
        return { median: times[times.length >> 1]!, p99: times[Math.floor(times.length * 0.99)]! }
      }
      const idle = await gets(new Promise((resolve) => setTimeout(resolve, 2000)))
      await window.lab.askWorkers({ pass: 255 })
      const meanwhile = await gets(store.sweep())
      await store.destroy()
      return { idle, meanwhile }
    }, round)
    // Both limits at once, as a share of what is allowed. In every other library the median is hundreds of times as
    // long; the 99th percentile is that of a dozen gets, which a busy machine alone can hold up.
    return Math.max(meanwhile.median / idle.median / 1.5, meanwhile.p99 / idle.p99 / 20)
  }, 1)
  expect(ratios).toBeLessThanOrEqual(1)
})
