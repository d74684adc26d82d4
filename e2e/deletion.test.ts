import type { Page } from '@playwright/test'
import { onDisk } from './support/disk.js'
import { expect, newTab, openShop, slowDown, test } from './support/lab.js'

/** Writes documents that expire after so many seconds. */
async function fill(page: Page, count: number, ttl: number, collection: 'items' | 'others' = 'items'): Promise<void> {
  await page.evaluate(
    ([count, ttl, collection]) =>
      window.store[collection].upsertMany(Array.from({ length: count }, (_, n) => ({ id: `t${ttl}-${n}`, n, ttl }))),
    [count, ttl, collection] as const,
  )
}

const pass = (page: Page, seconds: number, workers = 1) =>
  page.evaluate(([seconds, workers]) => window.lab.askWorkers({ pass: seconds }, workers), [seconds, workers] as const)

test('T16, T18: what expires is deleted by itself, driven by idle callbacks, and nothing else is', async ({ tab }) => {
  await openShop(tab, { defaultTtl: -1 })
  await fill(tab, 500, 1)
  await fill(tab, 100, 3600)
  const before = await tab.evaluate(() => window.lab.idleCallbacks)
  await expect.poll(() => onDisk(tab)).toBe(100)
  expect(await tab.evaluate(() => window.lab.idleCallbacks)).toBeGreaterThan(before)
  expect(await tab.evaluate(() => window.store.items.stats())).toMatchObject({ live: 100, expired: 0 })
})

test('T16: in a hidden page, background tasks drive it', async ({ tab }) => {
  await openShop(tab, { defaultTtl: -1 })
  await tab.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  const before = await tab.evaluate(() => ({ idle: window.lab.idleCallbacks, tasks: window.lab.backgroundTasks }))
  await fill(tab, 100, 1)
  await expect.poll(() => onDisk(tab)).toBe(0)
  const after = await tab.evaluate(() => ({ idle: window.lab.idleCallbacks, tasks: window.lab.backgroundTasks }))
  expect(after.tasks).toBeGreaterThan(before.tasks)
  expect(after.idle).toBe(before.idle)
})

test('T16: where there are neither idle callbacks nor background tasks, a timer drives it', async ({
  context,
  site,
}) => {
  await context.addInitScript(() => {
    Object.defineProperty(Object.getPrototypeOf(window), 'scheduler', { value: undefined })
  })
  const tab = await newTab(context, site)
  await tab.evaluate(() => Reflect.deleteProperty(window, 'requestIdleCallback'))
  await tab.evaluate(() => {
    window.requestIdleCallback = undefined as never
  })
  await openShop(tab, { defaultTtl: -1 })
  await fill(tab, 100, 1)
  await expect.poll(() => onDisk(tab)).toBe(0)
})

test('T19: it sleeps until the next expiry, and wakes when an earlier one is written', async ({ tab }) => {
  await openShop(tab, { defaultTtl: -1 })
  await fill(tab, 10, 3600)
  await fill(tab, 10, 1, 'others')
  await expect.poll(() => onDisk(tab, 'others')).toBe(0)
  // The last round has ended: from here on nothing is due for an hour, and nothing is asked.
  const quiet = await tab.evaluate(async () => {
    const { lab } = window
    const { sent } = lab
    const [before] = await lab.askWorkers({})
    // Nothing can be waited for where nothing is to happen, so this looks over a stretch of time.
    const until = performance.now() + 1500
    while (performance.now() < until) await new Promise((resolve) => requestAnimationFrame(resolve))
    const [after] = await lab.askWorkers({})
    return { messages: lab.sent - sent, transactions: after!['transaction']! - before!['transaction']! }
  })
  expect(quiet).toEqual({ messages: 0, transactions: 0 })
  await fill(tab, 10, 0.5)
  await expect.poll(() => onDisk(tab)).toBe(10)
})

test('T14, T12: a shorter default is acted on at once; turned off, nothing is deleted', async ({ tab }) => {
  await openShop(tab, { defaultTtl: 3600 })
  await tab.evaluate(async () => {
    await window.store.items.upsertMany(Array.from({ length: 100 }, (_, n) => ({ id: `i${n}` })))
    await window.store.others.upsertMany(Array.from({ length: 100 }, (_, n) => ({ id: `i${n}`, ttl: 1 })))
    await window.store.others.setDefaultTtl(null)
    await window.store.items.setDefaultTtl(0.5)
  })
  await expect.poll(() => onDisk(tab)).toBe(0)
  await tab.evaluate(() => window.store.items.upsert({ id: 'fence', ttl: 1 }))
  await expect.poll(() => onDisk(tab)).toBe(0)
  expect(await onDisk(tab, 'others')).toBe(100)
})

test('T17: it is fair to every collection, and an error in one pass is not its end', async ({ tab }) => {
  await openShop(tab, { defaultTtl: -1, sweep: 'idle' })
  await fill(tab, 3000, 60)
  await fill(tab, 50, 60, 'others')
  await tab.evaluate(() => window.lab.askWorkers({ fail: 3 }))
  await pass(tab, 65)
  // The alarm was set for a minute that has passed for the worker only: a write that expires at once wakes it.
  await tab.evaluate(() => window.store.others.upsert({ id: 'fence', ttl: 0.001 }))
  await expect.poll(() => onDisk(tab, 'others')).toBe(0)
  await expect.poll(() => onDisk(tab)).toBe(0)
})

test('T20: another tab goes on when the one that deletes is closed in the middle', async ({ context, site, tab }) => {
  await openShop(tab, { defaultTtl: -1, sweep: 'manual' })
  await fill(tab, 20_000, 60)
  const deleting = await newTab(context, site)
  await openShop(deleting, { defaultTtl: -1 })
  await slowDown(deleting)
  await pass(tab, 65, 2)
  await deleting.evaluate(() => window.store.items.upsert({ id: 'fence', ttl: 0.001 }))
  await expect.poll(() => onDisk(tab), { intervals: [1] }).toBeLessThan(20_000)
  await deleting.close()
  const left = await onDisk(tab)
  expect(left).toBeGreaterThan(0)

  const next = await newTab(context, site)
  await openShop(next, { defaultTtl: -1 })
  await pass(tab, 65, 2)
  await next.evaluate(() => window.store.items.upsert({ id: 'fence', ttl: 0.001 }))
  await expect.poll(() => onDisk(tab), { timeout: 20_000 }).toBe(0)
})

test('T20: a tab that was open all along goes on after a crash of the one that deletes', async ({
  context,
  site,
  tab,
}) => {
  await openShop(tab, { defaultTtl: -1 })
  const doomed = await newTab(context, site)
  await openShop(doomed, { defaultTtl: -1 })
  await fill(doomed, 2000, 1.5)
  const session = await context.newCDPSession(doomed)
  const crashed = new Promise((resolve) => doomed.once('crash', resolve))
  session.send('Page.crash').catch(() => undefined)
  await crashed
  await expect.poll(() => onDisk(tab), { timeout: 20_000 }).toBe(0)
})

test('T20: a tab that froze in the middle of a slice, lock in hand, does not starve the others', async ({
  context,
  site,
  tab,
}) => {
  const frozen = await newTab(context, site)
  await frozen.evaluate(
    () =>
      new Promise<void>((resolve) => {
        void navigator.locks.request('mayfly-sweep:shop', () => {
          resolve()
          return new Promise(() => undefined)
        })
      }),
  )
  await openShop(tab, { defaultTtl: -1 })
  await fill(tab, 500, 1)
  await expect.poll(() => onDisk(tab), { timeout: 20_000 }).toBe(0)
})

test('T20: what a tab writes that deletes nothing, or closes at once, is deleted by another', async ({
  context,
  site,
  tab,
}) => {
  await openShop(tab, { defaultTtl: -1 })
  await fill(tab, 1, 0.1)
  await expect.poll(() => onDisk(tab)).toBe(0)
  const manual = await newTab(context, site)
  await openShop(manual, { defaultTtl: -1, sweep: 'manual' })
  await fill(manual, 10, 0.2)
  await expect.poll(() => onDisk(tab)).toBe(0)
  await fill(manual, 10, 3600, 'others')
  await manual.evaluate(async () => {
    await window.store.others.upsert({ id: 'inherits' })
    await window.store.others.setDefaultTtl(0.2)
  })
  await expect.poll(() => onDisk(tab, 'others')).toBe(10)
  const brief = await newTab(context, site)
  await openShop(brief, { defaultTtl: -1 })
  await fill(brief, 10, 1)
  await brief.close()
  await expect.poll(() => onDisk(tab), { timeout: 10_000 }).toBe(0)
})

test('T16: a first opening that failed does not keep the deletion from starting later', async ({ tab }) => {
  await tab.evaluate(async () => {
    const { lab } = window
    const real = window.Worker
    window.Worker = class {
      constructor() {
        throw new Error('not yet')
      }
    } as never
    const { collection } = lab
    window.store = lab.openStore('shop', {
      items: collection<{ id: string }>({ defaultTtl: -1 }),
      others: collection<{ id: string }>({ defaultTtl: -1 }),
    })
    await window.store.ready.catch(() => undefined)
    window.Worker = real
  })
  await fill(tab, 10, 0.2)
  await expect.poll(() => onDisk(tab)).toBe(0)
})

test('T19: it does not poll while the time stands still after a small step back of the clock', async ({ tab }) => {
  await openShop(tab, { defaultTtl: -1 })
  await tab.evaluate(() => window.store.items.get('nothing'))
  await tab.evaluate(() => window.lab.askWorkers({ leap: -240 }))
  const messages = await tab.evaluate(async () => {
    const { lab, store } = window
    await store.items.upsert({ id: 'soon', ttl: 0.02 })
    const { sent } = lab
    const until = performance.now() + 1000
    while (performance.now() < until) await new Promise((resolve) => requestAnimationFrame(resolve))
    return lab.sent - sent
  })
  expect(messages).toBeLessThan(5)
})

test('a clock that was ahead and is set right does not keep new documents from being deleted', async ({ tab }) => {
  await openShop(tab, { defaultTtl: -1 })
  await fill(tab, 1, 3600)
  await tab.evaluate(() => window.lab.askWorkers({ leap: 7200 }))
  await tab.evaluate(() => window.store.items.get('nothing'))
  await pass(tab, 200)
  await tab.evaluate(() => window.store.items.upsert({ id: 'fence', ttl: 0.001 }))
  await expect.poll(() => onDisk(tab)).toBe(0)
  await tab.evaluate(() => window.lab.askWorkers({ leap: -7200 }))
  await tab.evaluate(() => window.store.items.get('nothing'))
  await pass(tab, 200)
  await tab.evaluate(() => window.store.items.upsert({ id: 'late', ttl: 0.2 }))
  await expect.poll(() => onDisk(tab)).toBe(0)
})

test('a clock that has leapt deletes nothing for minutes, then does', async ({ tab }) => {
  await openShop(tab, { defaultTtl: -1 })
  await fill(tab, 100, 3600)
  await tab.evaluate(() => window.lab.askWorkers({ leap: 7200 }))
  await tab.evaluate(() => window.store.others.upsert({ id: 'fence', ttl: 0.001 }))
  // Visibility follows the clock at once; the disk does not.
  expect(await tab.evaluate(() => window.store.items.stats())).toMatchObject({ live: 0, expired: 100 })
  await pass(tab, 100)
  await tab.evaluate(() => window.store.others.upsert({ id: 'fence', ttl: 0.001 }))
  expect(await tab.evaluate(() => window.store.items.delete('t3600-1'))).toBe(false)
  expect(await onDisk(tab)).toBe(100)
  // Set right again, everything is as it was.
  await tab.evaluate(() => window.lab.askWorkers({ leap: -7200 }))
  expect(await tab.evaluate(() => window.store.items.stats())).toMatchObject({ live: 100, expired: 0 })

  await tab.evaluate(() => window.lab.askWorkers({ leap: 7200 }))
  await tab.evaluate(() => window.store.items.get('t3600-1'))
  await pass(tab, 200)
  await tab.evaluate(() => window.store.others.upsert({ id: 'fence', ttl: 0.001 }))
  await expect.poll(() => onDisk(tab)).toBe(0)
})
