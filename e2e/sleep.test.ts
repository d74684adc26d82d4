import { chromium } from '@playwright/test'
import { findBrowser, launchArguments } from '../scripts/browser.mjs'
import { expect, newTab, openShop, test } from './support/lab.js'

test('a page comes back from the back/forward cache with its store at work, and blocked nobody meanwhile', async ({
  site,
}) => {
  const executablePath = findBrowser()
  const browser = await chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: launchArguments(),
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
  try {
    const context = await browser.newContext()
    const tab = await newTab(context, site)
    await openShop(tab, { defaultTtl: -1 })
    await tab.evaluate(async () => {
      window.log = []
      addEventListener('pageshow', ({ persisted }) => window.log.push(persisted))
      await window.store.items.upsert({ id: 'a', n: 1 })
    })
    await tab.goto(`${site.url}/other.html`)

    // The page that sleeps holds neither a connection nor a lock: a new version of the app opens at once.
    const young = await newTab(context, site)
    await openShop(young, { defaultTtl: -1, index: 'n', patience: 1 })
    await young.evaluate(() => window.store.items.upsert({ id: 'b', n: 2, ttl: 1 }))

    await tab.goBack({ waitUntil: 'commit' })
    await expect.poll(() => tab.evaluate(() => window.log)).toEqual([true])
    const seen = await tab.evaluate(async () => {
      const first = await window.store.items.get('a')
      const written = await window.store.items.upsert({ id: 'c', n: 3, ttl: 1 })
      return [first?.n, written.n]
    })
    expect(seen).toEqual([1, 3])
    // It deletes again too, also when it is the only one.
    await young.close()
    await expect
      .poll(() => tab.evaluate(async () => Object.values(await window.store.items.stats())), { timeout: 15_000 })
      .toEqual([1, 0, null])
  } finally {
    await browser.close()
  }
})

test('a page put to sleep with calls under way has them answered when it wakes', async ({ tab }) => {
  await openShop(tab, { sweep: 'manual' })
  const outcome = await tab.evaluate(async () => {
    const writing = window.store.items.upsertMany(Array.from({ length: 3000 }, (_, n) => ({ id: `i${n}` })))
    const reading = window.store.items.query().count()
    await Promise.resolve()
    document.dispatchEvent(new Event('freeze'))
    const during = window.store.items.upsert({ id: 'during' })
    document.dispatchEvent(new Event('resume'))
    return [(await writing).written, await reading, (await during).id, await window.store.items.query().count()]
  })
  expect(outcome).toEqual([3000, 3000, 'during', 3001])
})
