import { expect, test } from 'vitest'
import { collection } from 'mayfly'
import { open } from './support/stores.js'
import { advance } from './support/clock.js'

test('smoke', async () => {
  const s = open({ a: collection<{ id: string; n: number }>({ defaultTtl: 10 }).index('n') })
  const d = await s.a.create({ n: 1 })
  expect(await s.a.get(d.id)).toEqual(d)
  advance(10)
  expect(await s.a.get(d.id)).toBeUndefined()
  expect(await s.a.stats()).toEqual({ live: 0, expired: 1, nextExpiry: null })
  expect(await s.sweep()).toEqual({ deleted: 1 })
  expect(await s.a.stats()).toEqual({ live: 0, expired: 0, nextExpiry: null })
})
