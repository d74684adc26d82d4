import { collection } from 'mayfly'
import { cached } from 'mayfly/fetch'
import type { CachedValue } from 'mayfly/fetch'
import { expect, test } from 'vitest'
import { newName, open } from '../support/stores.js'

const schema = { values: collection<CachedValue<string>>({ defaultTtl: -1 }) }

function watch(name: string) {
  let loads = 0
  const { values } = open(schema, name)
  const cache = cached(values, { ttl: 60, load: (key) => `${key}${++loads}` })
  const seen: (string | undefined)[] = []
  const stop = cache.subscribe('a', (value) => seen.push(value))
  return { cache, seen, stop }
}

test('a subscriber hears of every value, whoever stored it, and when it is gone', async () => {
  const name = newName()
  const [here, there] = [watch(name), watch(name)]
  await expect.poll(() => here.seen.length > 0 && there.seen.length > 0).toBe(true)
  await here.cache.refresh('a')
  const latest = await there.cache.get('a')
  await expect.poll(() => [here.seen.at(-1), there.seen.at(-1)]).toEqual([latest, latest])
  await there.cache.invalidate('a')
  await expect.poll(() => [here.seen.at(-1), there.seen.at(-1)]).toEqual([undefined, undefined])
  here.stop()
  const { length } = here.seen
  await there.cache.get('a')
  await expect.poll(() => there.seen.at(-1)).toBeDefined()
  expect(here.seen).toHaveLength(length)
})
