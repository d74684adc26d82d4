import type { Page } from '@playwright/test'
import { expect, newTab, openShop, test } from './support/lab.js'

const ask = <T>(page: Page, question: () => Promise<T>) => page.evaluate(question)

test('five tabs see each other’s committed writes at their next read', async ({ context, site }) => {
  const tabs = await Promise.all(Array.from({ length: 5 }, () => newTab(context, site)))
  await Promise.all(tabs.map((tab) => openShop(tab, { defaultTtl: 60 })))
  for (const [at, tab] of tabs.entries()) {
    await tab.evaluate((id) => window.store.items.upsert({ id }), `from-${at}`)
    for (const other of tabs) {
      expect(await other.evaluate((id) => window.store.items.get(id), `from-${at}`)).toMatchObject({ id: `from-${at}` })
    }
  }
  // All of them count one document up at once, and none of the steps is lost.
  await tabs[0]!.evaluate(() => window.store.items.upsert({ id: 'counter', n: 0 }))
  await Promise.all(
    tabs.map((tab) =>
      tab.evaluate(async () => {
        const step = () => window.store.items.update('counter', (doc) => ({ ...doc, n: doc.n! + 1 }))
        await Promise.all(Array.from({ length: 20 }, step))
      }),
    ),
  )
  expect(await tabs[4]!.evaluate(() => window.store.items.get('counter'))).toMatchObject({ n: 100 })
})

test('T12: a new defaultTtl is obeyed by every tab from the first operation after it', async ({ context, site }) => {
  const tabs = await Promise.all(Array.from({ length: 5 }, () => newTab(context, site)))
  await Promise.all(tabs.map((tab) => openShop(tab, { defaultTtl: 3600, sweep: 'manual' })))
  await tabs[0]!.evaluate(() => window.store.items.upsert({ id: 'a' }))
  await tabs[0]!.evaluate(() => window.lab.askWorkers({ pass: 30 }, 5))
  await tabs[1]!.evaluate(() => window.store.items.setDefaultTtl(20))
  for (const tab of tabs) expect(await tab.evaluate(() => window.store.items.get('a'))).toBeUndefined()
  await tabs[2]!.evaluate(() => window.store.items.setDefaultTtl(null))
  for (const tab of tabs) {
    expect(await tab.evaluate(() => window.store.items.query().count())).toBe(0)
    expect(await tab.evaluate(() => window.store.items.settings())).toMatchObject({ defaultTtl: null })
  }
})

test('a new version of the app that adds an index opens while the old one is at work', async ({
  context,
  site,
  tab,
}) => {
  await openShop(tab, { sweep: 'manual' })
  await tab.evaluate(() => {
    window.log = []
    const write = async () => {
      for (let n = 0; n < 200; n++) {
        await window.store.items.upsert({ id: `old-${n}`, n }).then(
          () => window.log.push('written'),
          (error: { code: string }) => window.log.push(error.code),
        )
      }
    }
    window.pending = write()
  })
  const young = await newTab(context, site)
  await openShop(young, { index: 'n', sweep: 'manual' })
  await young.evaluate(() => window.store.items.upsert({ id: 'young', n: 1000 }))
  await tab.evaluate(() => window.pending)
  expect(new Set(await tab.evaluate(() => window.log))).toEqual(new Set(['written']))
  expect(await ask(tab, () => window.store.items.get('young'))).toMatchObject({ n: 1000 })
  expect(await ask(young, () => window.store.items.query({ where: { n: { gte: 0 } } }).count())).toBe(201)
})

test('blocked is reported to the newcomer when a tab does not let go, and can be waited out', async ({
  context,
  site,
  tab,
}) => {
  await openShop(tab)
  await tab.evaluate(async () => {
    // A connection that ignores all requests to step aside.
    const request = indexedDB.open('shop')
    await new Promise((resolve) => request.addEventListener('success', resolve))
    window.log = [request.result]
  })
  const young = await newTab(context, site)
  await expect(openShop(young, { index: 'n', patience: 0.2 })).rejects.toThrow(/does not let go/)
  const code = await young.evaluate(() => window.store.items.get('a').catch((error: { code: string }) => error.code))
  expect(code).toBe('blocked')

  const patient = await newTab(context, site)
  const opening = openShop(patient, { index: 'n', patience: Infinity })
  await tab.evaluate(() => (window.log[0] as IDBDatabase).close())
  await opening
  expect(await patient.evaluate(() => window.store.items.upsert({ id: 'a', n: 1 }))).toMatchObject({ id: 'a' })
  expect(await young.evaluate(() => window.store.items.get('a'))).toMatchObject({ id: 'a' })
})
