import { collection } from 'mayfly'
import { cached, sourceOf } from 'mayfly/fetch'
import type { CachedValue } from 'mayfly/fetch'
import { expect, test } from 'vitest'
import { advance } from '../support/clock.js'
import { setUp } from '../support/fetching.js'
import { here } from '../support/network.js'
import { open } from '../support/stores.js'

/** A response with what only those of a browser's network have. */
const from = (response: Response, looks: Partial<Response>) =>
  Object.defineProperties(
    response,
    Object.fromEntries(Object.entries(looks).map(([name, value]) => [name, { value, configurable: true }])),
  )

test('that something else has not changed says nothing about what is stored', async () => {
  const { network, cached, text } = setUp({ staleIfError: 60 })
  let place = '/v1'
  network.answer(({ headers }) => {
    const isSame = headers.get('if-none-match') === '"1"'
    const response = isSame ? new Response(null, { status: 304 }) : new Response(place, { headers: { etag: '"1"' } })
    return from(response, { url: here(place), redirected: true })
  })
  const seen: string[] = []
  for (place of ['/v1', '/v1', '/v2', '/v2']) {
    seen.push(await text('/latest'))
    await cached.settled()
  }
  expect(seen).toEqual(['/v1', '/v1', '/v2', '/v2'])
  expect(network.sent).toHaveLength(5)
})

test('a status that no script can make a response of comes as from fetch', async () => {
  const { network, cached, count } = setUp({ ttl: 60, keep: () => true })
  const strange = (): Response => from(new Response('x'), { status: 999, clone: strange })
  network.answer(strange)
  const asked = [await cached(here('/a')), await cached(here('/a'), { signal: new AbortController().signal })]
  await cached.settled()
  expect([asked.map(({ status }) => status), await asked[1]!.text(), await count()]).toEqual([[999, 999], 'x', 0])
})

test('sourceOf knows the clones of every response', async () => {
  const { cached } = setUp()
  const { signal } = new AbortController()
  const asked = [await cached(here('/a')), await cached(here('/b'), { signal })]
  await cached.settled()
  asked.push(await cached(here('/a')))
  expect(asked.map((response) => sourceOf(response.clone()))).toEqual(['network', 'network', 'fresh'])
})

test('onError is told of a refresh that the server fails', async () => {
  const { network, cached, errors } = setUp({ ttl: 1, staleWhileRevalidate: 60 })
  await cached(here('/a'))
  await cached.settled()
  advance(2)
  network.answer(() => new Response('down', { status: 503 }))
  expect(sourceOf(await cached(here('/a')))).toBe('stale')
  await cached.settled()
  expect(errors).toMatchObject([{ name: 'MayflyError', code: 'failed' }])
  expect(String(errors)).toContain('503')
})

test.each([{ key: [1] }, { methods: [5] }])('options that are refused: %j', (options) => {
  expect(() => setUp(options as never)).toThrow(expect.objectContaining({ code: 'invalid' }))
})

test.each([null, undefined, 'load'])('a cache of values needs options: %j', (options) => {
  const { values } = open({ values: collection<CachedValue>({ defaultTtl: -1 }) })
  expect(() => cached(values, options as never)).toThrow(expect.objectContaining({ code: 'invalid' }))
})
