import { cachedFetch } from 'mayfly/fetch'
import type { CachedFetch } from 'mayfly/fetch'
import { describe, expect, test } from 'vitest'
import { setUp } from '../support/fetching.js'
import { gate, here } from '../support/network.js'
import { newName } from '../support/stores.js'

/** The first answer has these headers and a body that comes to its end when told; the others are just their number. */
function slowly(headers: Record<string, string>, options?: Parameters<typeof setUp>[0]) {
  const all = setUp(options)
  const more = gate()
  all.network.answer((_, nth) => {
    if (nth > 1) return new Response(String(nth))
    const start = async (controller: ReadableStreamDefaultController) => {
      controller.enqueue(new TextEncoder().encode('1'))
      await more.promise
      controller.close()
    }
    return new Response(new ReadableStream({ start }), { headers })
  })
  return { ...all, more }
}

describe('while the body of an answer is on its way', () => {
  test.each<[string, Record<string, string>, RequestInit]>([
    ['no-cache', { 'cache-control': 'no-cache', etag: '"1"' }, {}],
    ['max-age=0', { 'cache-control': 'max-age=0' }, {}],
    ['an Age beyond max-age', { 'cache-control': 'max-age=5', age: '5' }, {}],
    ['cache: reload', {}, { cache: 'reload' }],
    ['cache: no-cache', {}, { cache: 'no-cache' }],
    ['Cache-Control: no-cache', {}, { headers: { 'cache-control': 'no-cache' } }],
  ])('%s has the next one ask for another', async (_, headers, init) => {
    const { cached, more } = slowly(headers, { ttl: 60, staleIfError: 600 })
    const first = await cached(here('/a'), init)
    const second = await cached(here('/a'), init)
    more.open()
    expect([await first.text(), await second.text()]).toEqual(['1', '2'])
  })

  test.each<[string, Record<string, string>]>([
    ['fresh', {}],
    ['to be served while another is loaded', { 'cache-control': 'max-age=0, stale-while-revalidate=5' }],
  ])('the next one shares an answer that is %s', async (_, headers) => {
    const { cached, more, network } = slowly(headers)
    const asked = [await cached(here('/a')), await cached(here('/a'))]
    more.open()
    expect(await Promise.all(asked.map((response) => response.text()))).toEqual(['1', '1'])
    expect(network.sent).toHaveLength(1)
  })
})

describe('what was asked for before a removal', () => {
  const removals: [string, (cached: CachedFetch) => Promise<unknown>][] = [
    ['clear()', (cached) => cached.clear()],
    ['invalidate(url)', (cached) => cached.invalidate(here('/a'))],
    ['invalidate(predicate)', (cached) => cached.invalidate((url) => url.endsWith('/a'))],
    ['a POST', (cached) => cached(here('/a'), { method: 'POST' })],
  ]

  async function begun(name?: string) {
    const all = setUp({ ttl: 60 }, name)
    const [sent, slow] = [gate(), gate<Response>()]
    all.network.answer(() => (sent.open(), slow.promise))
    const before = all.text()
    await sent.promise
    all.network.answer(() => new Response('after'))
    return { ...all, before, answer: () => slow.open(new Response('before')) }
  }

  test.each(removals)('is not for who asks after %s through another cache on the collection', async (_, remove) => {
    const { store, network, text, before, answer, cached } = await begun()
    await remove(cachedFetch(store.responses, { fetch: network.fetch }))
    expect(await text()).toBe('after')
    answer()
    expect(await before).toBe('before')
    await cached.settled()
    expect(await text()).toBe('after')
  })

  test.each(removals)('nor after %s in another tab', async (_, remove) => {
    const name = newName()
    const { before, answer, text, network } = await begun(name)
    await remove(setUp({ ttl: 60 }, name).cached)
    // Word of it comes a moment later.
    const asked: Promise<string>[] = []
    await expect.poll(() => (asked.push(text()), network.sent.length)).toBe(2)
    expect(await asked.at(-1)).toBe('after')
    answer()
    expect(await before).toBe('before')
  })

  test.each(removals)('is sent once all the same, if %s came before that', async (_, remove) => {
    const { network, text, cached } = setUp()
    const slow = gate<Response>()
    network.answer(({ method }) => (method === 'GET' ? slow.promise : new Response()))
    const asked = Array.from({ length: 10 }, () => text())
    const removed = remove(cached)
    slow.open(new Response('after'))
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 10 }, () => 'after'))
    await removed
    expect(network.sent.filter(({ method }) => method === 'GET')).toHaveLength(1)
  })

  test('nor does a removal of something else have it asked for again', async () => {
    const { cached, network, text, before, answer } = await begun()
    await cached.invalidate(here('/b'))
    const joined = text()
    answer()
    expect([await before, await joined, network.sent.length]).toEqual(['before', 'before', 1])
  })
})
