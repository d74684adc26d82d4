import { chromium } from '@playwright/test'
import type { Page } from '@playwright/test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findBrowser, launchArguments } from '../scripts/browser.mjs'
import { withDataForbidden } from './support/forbidden.js'
import { expect, newTab, openShop, route, test } from './support/lab.js'
import { serve } from './support/server.js'

/** Takes note of what the store tells of the database. */
async function listen(tab: Page): Promise<void> {
  await tab.evaluate(() => {
    window.log = []
    window.store.on('recreated', () => window.log.push('recreated'))
    window.store.on('reconnected', () => window.log.push('reconnected'))
  })
}

const told = (tab: Page) => tab.evaluate(() => window.log)

test('site data that are cleared: the store says so at once, and live queries go on', async ({
  context,
  site,
  tab,
}) => {
  await openShop(tab)
  await listen(tab)
  await tab.evaluate(async () => {
    await window.store.items.upsert({ id: 'a' })
    window.changes = []
    window.store.items.query().subscribe((items) => window.changes!.push(items.map(({ id }) => id).join()))
  })
  const results = () => tab.evaluate(() => window.changes!.at(-1))
  await expect.poll(results).toBe('a')
  const session = await context.newCDPSession(tab)
  await session.send('Storage.clearDataForOrigin', { origin: site.url, storageTypes: 'indexeddb' })
  await expect.poll(() => told(tab)).toEqual(['recreated'])
  await expect.poll(results).toBe('')
  await tab.evaluate(() => window.store.items.upsert({ id: 'b' }))
  await expect.poll(results).toBe('b')
  expect(await told(tab)).toEqual(['recreated'])
})

test('a worker that dies: the store says that it is back, with its data', async ({ tab }) => {
  await openShop(tab)
  await listen(tab)
  await tab.evaluate(() => window.store.items.upsert({ id: 'a' }))
  await tab.evaluate(() => window.lab.workers.at(-1)!.terminate())
  await expect.poll(() => told(tab)).toEqual(['reconnected'])
  expect(await tab.evaluate(() => window.store.items.query().count())).toBe(1)
})

test('a database whose files are gone after a restart of the browser is noticed', async ({ site }) => {
  const executablePath = findBrowser()
  const profile = await mkdtemp(join(tmpdir(), 'mayfly-profile-'))
  const visit = async (work: (tab: Page) => Promise<void>) => {
    const options = { ...(executablePath ? { executablePath } : {}), args: launchArguments() }
    const context = await chromium.launchPersistentContext(profile, options)
    try {
      const tab = await newTab(context, site)
      await tab.evaluate(() => {
        const { collection, openStore } = window.lab
        window.store = openStore('shop', { items: collection(), others: collection() })
      })
      await listen(tab)
      await work(tab)
    } finally {
      await context.close()
    }
  }
  try {
    await visit(async (tab) => {
      await tab.evaluate(() => window.store.items.upsert({ id: 'a' }))
      expect(await told(tab)).toEqual([])
    })
    await visit(async (tab) => {
      expect(await tab.evaluate(() => window.store.items.query().count())).toBe(1)
      expect(await told(tab)).toEqual([])
    })
    await rm(join(profile, 'Default', 'IndexedDB'), { recursive: true })
    await visit(async (tab) => {
      expect(await tab.evaluate(() => window.store.items.query().count())).toBe(0)
      expect(await told(tab)).toEqual(['recreated'])
    })
    await visit(async (tab) => {
      await tab.evaluate(() => window.store.items.upsert({ id: 'b' }))
      expect(await told(tab)).toEqual([])
    })
  } finally {
    await rm(profile, { recursive: true, force: true })
  }
})

test('a worker in an endless loop is replaced: writes are lost, reads are repeated', async ({ tab }) => {
  await tab.clock.install()
  await openShop(tab, { sweep: 'manual' })
  await tab.evaluate(async () => {
    await window.store.items.upsert({ id: 'a' })
    await window.lab.askWorkers({})
    new BroadcastChannel('lab').postMessage({ isEndless: true })
    // What is sent after the worker has been told finds it in its loop.
    await new Promise((resolve) => requestAnimationFrame(resolve))
    window.pending = Promise.allSettled([window.store.items.upsert({ id: 'b' }), window.store.items.get('a')])
  })
  // The page's clock moves; the worker's loop is real.
  const another = async () => {
    await tab.clock.runFor(1000)
    return tab.evaluate(() => window.lab.workers.length)
  }
  await expect.poll(another, { intervals: [10] }).toBe(2)
  await tab.clock.resume()
  const outcomes = await tab.evaluate(async () => {
    const [write, read] = (await window.pending) as PromiseSettledResult<{ id: string }>[]
    return [write!.status === 'rejected' && write!.reason.code, read!.status === 'fulfilled' && read!.value.id]
  })
  expect(outcomes).toEqual(['lost', 'a'])
})

test('a worker whose lock the page cannot see is not taken for dead, and is missed when it is', async ({ tab }) => {
  await tab.clock.install()
  const seen = await tab.evaluate(async () => {
    const { openStore, collection, workers } = window.lab
    // As where it has a lock manager of its own.
    const text = `LockManager.prototype.request = async (name, ...rest) => rest.at(-1)({ name }); import('${location.origin}/real/mayfly-worker.js')`
    const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
    const worker = () => new Worker(url, { type: 'module' })
    window.store = openStore('shop', { items: collection(), others: collection() }, { worker, sweep: 'manual' })
    const told: string[] = []
    window.store.on('reconnected', () => told.push('reconnected'))
    await window.store.items.upsert({ id: 'a' })
    // As long as it takes the page to get hold of a lock that is free.
    for (let round = 0; round < 20; round++) await navigator.locks.request(`round ${round}`, () => undefined)
    await window.store.items.upsert({ id: 'b' })
    const before = [workers.length, ...told]
    workers.at(-1)!.terminate()
    window.pending = window.store.items.query().count()
    return before
  })
  expect(seen).toEqual([1])
  const another = async () => {
    await tab.clock.runFor(1000)
    return tab.evaluate(() => window.lab.workers.length)
  }
  await expect.poll(another, { intervals: [10] }).toBe(2)
  await tab.clock.resume()
  expect(await tab.evaluate(() => window.pending)).toBe(2)
})

test('a worker that dies with its hello is missed within seconds', async ({ tab }) => {
  await tab.clock.install()
  await tab.evaluate(() => {
    const { openStore, collection, workers } = window.lab
    const text = `const say = self.postMessage.bind(self)
      self.postMessage = (message) => { say(message); self.close() }
      import('${location.origin}/real/mayfly-worker.js')`
    const dying = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
    const worker = () => new Worker(workers.length === 0 ? dying : '/real/mayfly-worker.js', { type: 'module' })
    window.store = openStore('shop', { items: collection(), others: collection() }, { worker, sweep: 'manual' })
    window.pending = window.store.items.query().count()
  })
  await tab.waitForFunction(() => window.lab.workers.length === 1)
  let seconds = 0
  const another = async () => {
    await tab.clock.runFor(1000)
    seconds++
    return tab.evaluate(() => window.lab.workers.length)
  }
  await expect.poll(another, { intervals: [10] }).toBe(2)
  expect(seconds).toBeLessThan(15)
  await tab.clock.resume()
  expect(await tab.evaluate(() => window.pending)).toBe(0)
})

test('a worker cut off from the database for good is replaced by one in a fresh frame, under a strict policy', async ({
  context,
}) => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  await using site = await serve(root, { route, csp: "default-src 'self'; img-src data:" })
  const tab = await newTab(context, site)
  await openShop(tab)
  await listen(tab)
  const seen = await tab.evaluate(async () => {
    const { store, lab } = window
    await store.items.upsert({ id: 'a' })
    await lab.askWorkers({ isServerLost: true })
    const results = await Promise.all([store.items.upsert({ id: 'b' }), store.items.query().count()])
    const frames = document.querySelectorAll('iframe').length
    return { id: results[0].id, count: results[1], workers: lab.workers.length, frames }
  })
  expect(seen).toEqual({ id: 'b', count: 2, workers: 1, frames: 1 })
  expect(await told(tab)).toEqual(['reconnected'])
  expect(tab.workers()).toHaveLength(1)
  await tab.evaluate(() => window.store.close())
  expect(await tab.locator('iframe').count()).toBe(0)
  await expect.poll(() => tab.workers().length).toBe(0)
})

test('a script that is a page, and one that is none of mayfly’s, are noticed', async ({ tab, site }) => {
  const seen = await tab.evaluate(async (url) => {
    const { openStore, collection } = window.lab
    const schema = { items: collection() }
    const code = (work: Promise<unknown>) => work.then(String, (error: { code: string }) => error.code)
    const page = openStore('page', schema, { worker: () => new Worker(`${url}/other.html`, { type: 'module' }) })
    const none = openStore('none', schema, { worker: () => new Worker(`${url}/missing.js`, { type: 'module' }) })
    return Promise.all([code(page.items.get('a')), code(none.items.get('a'))])
  }, site.url)
  expect(seen).toEqual(['unavailable', 'unavailable'])
})

for (const [reason, forbid] of Object.entries({
  'there is no IndexedDB': () => Object.defineProperty(globalThis, 'indexedDB', { value: undefined }),
  'opening is forbidden': () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('Forbidden', 'SecurityError')
    }
  },
})) {
  test(`where ${reason}, a store works in memory if that was asked for, and says so if not`, async ({ page, site }) => {
    await page.addInitScript(forbid)
    await page.goto(site.url)
    await page.waitForFunction(() => 'lab' in window)
    const seen = await page.evaluate(async () => {
      const { openStore, collection } = window.lab
      const schema = () => ({ items: collection<{ id: string; n: number }>({ defaultTtl: 60 }).index('n') })
      const options = { worker: false, fallback: 'memory', sweep: 'manual' } as const
      const store = openStore('shop', schema(), options)
      await store.items.upsert({ id: 'a', n: 1 })
      const again = openStore('shop', schema(), options)
      const results: number[] = []
      again.items.query({ where: { n: { gt: 0 } } }).subscribe((items) => results.push(items.length))
      while (results.at(-1) !== 1) await new Promise((resolve) => setTimeout(resolve, 5))
      await store.items.upsert({ id: 'b', n: 2 })
      while (results.at(-1) !== 2) await new Promise((resolve) => setTimeout(resolve, 5))
      const without = openStore('shop', schema(), { worker: false })
      const code = await without.items.get('a').catch((error: { code: string }) => error.code)
      const rejected = await without.persistence.catch((error: { code: string }) => error.code)
      return [await store.persistence, await again.items.query().count(), code, rejected]
    })
    expect(seen).toEqual(['memory', 2, 'unavailable', 'unavailable'])
  })
}

test('where somebody has forbidden sites to save data, a store works in memory, or says so at once', async ({
  site,
}) => {
  await withDataForbidden(async (context) => {
    const tab = await newTab(context, site)
    const seen = await tab.evaluate(async () => {
      const { openStore, collection } = window.lab
      const store = openStore('shop', { items: collection() }, { fallback: 'memory' })
      await store.items.upsert({ id: 'a' })
      const without = openStore('shop', { items: collection() })
      const code = await without.items.get('a').catch((error: { code: string }) => error.code)
      return [await store.persistence, await store.items.query().count(), code]
    })
    expect(seen).toEqual(['memory', 1, 'unavailable'])
  })
})

test('where a worker has no IndexedDB either, the memory is the page’s; where only the worker fails, there is none', async ({
  tab,
}) => {
  const seen = await tab.evaluate(async () => {
    const { openStore, collection, workers } = window.lab
    const text = `Object.defineProperty(self, 'indexedDB', { value: undefined }); import('${location.origin}/real/mayfly-worker.js')`
    const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
    const options = { worker: () => new Worker(url, { type: 'module' }), fallback: 'memory' } as const
    const store = openStore('shop', { items: collection() }, options)
    await store.items.upsert({ id: 'a' })
    const refused = openStore(
      'shop',
      { items: collection() },
      {
        worker: () => {
          throw new DOMException('Forbidden', 'SecurityError')
        },
        fallback: 'memory',
      },
    )
    const code = await refused.items.get('a').catch((error: { code: string }) => error.code)
    return [await store.persistence, await store.items.query().count(), code, workers.length]
  })
  expect(seen).toEqual(['memory', 1, 'unavailable', 1])
  await expect.poll(() => tab.workers().length).toBe(0)
})
