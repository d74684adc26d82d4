import { expect, test } from 'vitest'
import type * as Mayfly from '../../src/index.js'
import { steer } from '../support/steered.js'

type Store = Mayfly.Store<{ items: Mayfly.CollectionDefinition<{ id: string }> }>

declare global {
  var mayfly: typeof Mayfly
  var shop: Store
  var told: string[]
  var results: string[]
}

test('a lost database process is done without: a worker in a fresh frame goes on, and live queries with it', async () => {
  await using page = await steer('webkitgtk')
  await page.evaluate(async () => {
    globalThis.shop = mayfly.openStore('shop', { items: mayfly.collection<{ id: string }>() }) as unknown as Store
    globalThis.told = []
    globalThis.results = []
    shop.on('reconnected', () => told.push('reconnected'))
    shop.on('recreated', () => told.push('recreated'))
    await shop.items.upsert({ id: 'a' })
    await new Promise<void>((resolve) => {
      shop.items.query().subscribe((items) => {
        results.push(items.map(({ id }) => id).join())
        resolve()
      })
    })
  })
  for (const [round, ids] of [
    ['b', 'a,b'],
    ['c', 'a,b,c'],
  ] as const) {
    expect(page.browser.killPart('WebKitNetwork')).toBe(1)
    const written = await page.evaluate(async (id) => {
      for (;;) {
        const outcome = await shop.items.upsert({ id }).then(
          () => 'written',
          (error: Mayfly.MayflyError) => error.code,
        )
        // Cut off in the middle, it may have been written or not; that is said, and doing it again is right here.
        if (outcome !== 'lost') return outcome
      }
    }, round)
    expect(written).toBe('written')
    await expect.poll(() => page.evaluate(async () => results.at(-1)), { timeout: 20_000 }).toBe(ids)
    expect(await page.evaluate(() => shop.items.query().count())).toBe(ids.split(',').length)
    expect(await page.evaluate(async () => document.querySelectorAll('iframe').length)).toBe(1)
  }
  expect(await page.evaluate(async () => [...new Set(told)])).toEqual(['reconnected'])
  expect(await page.evaluate(() => shop.close().then(() => document.querySelectorAll('iframe').length))).toBe(0)
})
