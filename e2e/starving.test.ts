import type { Page } from '@playwright/test'
import { onDisk } from './support/disk.js'
import { expect, newTab, openShop, test } from './support/lab.js'
import { startChromium, withProfile } from './support/own-chromium.js'

/** So many that the deletion is not over before its tab is put out of action. */
const EXPIRED = 40_000

async function setState(tab: Page, state: 'frozen' | 'active'): Promise<void> {
  const session = await tab.context().newCDPSession(tab)
  await session.send('Page.setWebLifecycleState', { state })
  await session.detach()
}

/** How a tab is put out of action, and what shows that it was, once it is back. */
const FATES: Record<string, { befall(tab: Page): Promise<void>; recover?(tab: Page): Promise<void>; log: string[] }> = {
  hidden: {
    async befall() {},
    log: ['hidden', 'visible'],
  },
  frozen: {
    befall: (tab) => setState(tab, 'frozen'),
    recover: (tab) => setState(tab, 'active'),
    log: ['hidden', 'freeze', 'resume', 'visible'],
  },
  'in the back/forward cache': {
    async befall(tab) {
      await tab.goto(new URL('other.html', tab.url()).href)
    },
    async recover(tab) {
      await tab.goBack({ waitUntil: 'commit' })
    },
    log: ['hidden', 'pagehide true', 'freeze', 'resume', 'pageshow true', 'visible'],
  },
  crashed: {
    async befall(tab) {
      const session = await tab.context().newCDPSession(tab)
      const crashed = new Promise((resolve) => tab.once('crash', resolve))
      session.send('Page.crash').catch(() => undefined)
      await crashed
    },
    log: [],
  },
}

/** Writes, and begins to delete what has expired; how many milliseconds that took, and how many were deleted in the end. */
const writeAndSweep = (tab: Page, id: string) =>
  tab.evaluate(async (id) => {
    const { store } = window
    const { expired } = await store.items.stats()
    if (expired === 0) throw new Error('There is nothing left to delete.')
    const begun = performance.now()
    await Promise.all([store.items.upsert({ id }), store.others.upsert({ id })])
    const sweeping = store.sweep()
    while ((await store.items.stats()).expired === expired);
    const took = performance.now() - begun
    await sweeping
    return took
  }, id)

for (const [fate, { befall, recover, log }] of Object.entries(FATES)) {
  test(`T20: a tab that is ${fate}, in the middle of a sweep, does not keep another from writing and sweeping @alone`, async ({
    site,
  }) => {
    // A browser may drop a page from its cache whenever it likes, and then loads it anew: so once more, with another.
    let attempts = 0
    while (!(await withProfile(attempt))) expect(++attempts).toBeLessThan(3)

    /** Whether the page that was put out of action came back as it was. */
    async function attempt(profile: string): Promise<boolean> {
      const { context, close } = await startChromium(profile)
      try {
        const tab = await newTab(context, site)
        await openShop(tab, { defaultTtl: -1, sweep: 'manual' })
        const fill = (count: number, ttl: number) =>
          tab.evaluate(
            ([count, ttl]) =>
              window.store.items.upsertMany(Array.from({ length: count }, (_, n) => ({ id: `i${n}`, n, ttl }))),
            [count, ttl] as const,
          )
        await fill(1000, 0.001)
        const alone = await writeAndSweep(tab, 'alone')
        await fill(EXPIRED, 60)

        const other = await newTab(context, site)
        await other.evaluate(() => {
          window.log = []
          const note = (event: Event) =>
            window.log.push(event.type + ('persisted' in event ? ` ${String(event.persisted)}` : ''))
          for (const type of ['freeze', 'resume']) document.addEventListener(type, note)
          for (const type of ['pagehide', 'pageshow']) addEventListener(type, note)
          document.addEventListener('visibilitychange', () => window.log.push(document.visibilityState))
        })
        await openShop(other, { defaultTtl: -1 })
        await other.bringToFront()
        await tab.evaluate(() => window.lab.askWorkers({ pass: 65 }, 2))
        await other.evaluate(() => window.store.items.upsert({ id: 'fence', ttl: 0.001 }))
        await expect.poll(() => onDisk(tab), { intervals: [1] }).toBeLessThan(EXPIRED)

        await tab.bringToFront()
        await befall(other)
        expect(await onDisk(tab)).toBeGreaterThan(0)
        // Within a second, and a little more where the machine is busy otherwise.
        expect(await writeAndSweep(tab, 'while')).toBeLessThan(1000 + 10 * alone)
        expect(await onDisk(tab)).toBe(2)

        if (log.length === 0) return true
        await recover?.(other)
        await other.bringToFront()
        if (!(await other.evaluate(() => 'log' in window))) return false
        await expect.poll(() => other.evaluate(() => window.log)).toEqual(log)
        expect(await other.evaluate(() => window.store.items.upsert({ id: 'after' }).then(({ id }) => id))).toBe(
          'after',
        )
        return true
      } finally {
        await close()
      }
    }
  })
}
