import { expect, test } from 'vitest'
import type * as Mayfly from '../../src/index.js'
import { steer } from '../support/steered.js'

declare global {
  var mayfly: typeof Mayfly
}

test('a real quota: writes fail with quota and write nothing, what is there stays, and deleting makes room', async () => {
  // In kilobytes.
  await using page = await steer('firefox', { 'dom.quotaManager.temporaryStorage.fixedLimit': 10 * 1024 })
  const seen = await page.evaluate(async () => {
    const schema = { files: mayfly.collection<{ id: string; data: Uint8Array }>() }
    const store = mayfly.openStore('full', schema)
    // What cannot be compressed.
    const make = (id: string) => {
      const data = new Uint8Array(512 * 1024)
      for (let at = 0; at < data.length; at += 65_536) crypto.getRandomValues(data.subarray(at, at + 65_536))
      return { id, data }
    }
    const outcome = (written: Promise<unknown>) =>
      written.then(
        () => 'written',
        (error: Mayfly.MayflyError) => error.code,
      )
    const ids: string[] = []
    const outcomes = new Set<string>()
    // A write that fails makes Firefox tidy up, and then there may be room again: three in a row say that there is not.
    for (let refusals = 0; refusals < 3 && ids.length < 200;) {
      const id = `f${ids.length}`
      const result = await outcome(store.files.upsert(make(id)))
      outcomes.add(result)
      if (result === 'written') ids.push(id)
      refusals = result === 'written' ? 0 : refusals + 1
    }
    const all = store.atomic(({ files }) => {
      for (let n = 0; n < 20; n++) files.upsert(make(`atomic${n}`))
    })
    const together = await outcome(all)
    const left = (await store.files.query().get()).map(({ id }) => id)
    const isWhole = left.length === ids.length && ids.every((id) => left.includes(id))
    const deleted = await store.files.deleteMany(ids.slice(0, 6))
    // Here too the first may fail; what was deleted is free for the next.
    const again = [await outcome(store.files.upsert(make('again'))), await outcome(store.files.upsert(make('again')))]
    await store.destroy()
    return { filled: ids.length, outcomes: [...outcomes], together, isWhole, deleted: deleted.deleted, again }
  })
  expect(seen).toEqual({
    filled: expect.any(Number),
    outcomes: ['written', 'quota'],
    together: 'quota',
    isWhole: true,
    deleted: 6,
    again: [expect.stringMatching(/^(written|quota)$/), 'written'],
  })
  expect(seen.filled).toBeGreaterThan(6)
  expect(seen.filled).toBeLessThan(30)
})

test('full storage with evict: what would expire soonest makes room, and nothing else does', async () => {
  await using page = await steer('firefox', { 'dom.quotaManager.temporaryStorage.fixedLimit': 10 * 1024 })
  const seen = await page.evaluate(async () => {
    const files = mayfly.collection<{ id: string; data: Uint8Array }>({ defaultTtl: -1, evict: 'soonest' })
    const store = mayfly.openStore('full', { files })
    const make = (id: string, ttl: number) => {
      const data = new Uint8Array(512 * 1024)
      for (let at = 0; at < data.length; at += 65_536) crypto.getRandomValues(data.subarray(at, at + 65_536))
      return { id, data, ttl }
    }
    await store.files.upsert(make('kept', -1))
    for (let n = 0; n < 40; n++) await store.files.upsert(make(`f${n}`, 10_000 + n))
    const ids = (await store.files.query().get()).map(({ id }) => id)
    await store.destroy()
    return ids
  })
  expect(seen).toContain('kept')
  expect(seen).toContain('f39')
  const numbers = seen
    .filter((id) => id !== 'kept')
    .map((id) => Number(id.slice(1)))
    .toSorted((a, b) => a - b)
  expect(numbers[0]).toBeGreaterThan(0)
  // Those that are left are the last ones, without a gap.
  expect(numbers.at(-1)! - numbers[0]! + 1).toBe(numbers.length)
})
