import { expect, test } from 'vitest'
import { setUp } from '../support/fetching.js'
import { here } from '../support/network.js'

const texts = async (asked: Promise<Response>[]) =>
  Promise.all((await Promise.all(asked)).map((response) => response.text()))

test('an URL may be changed for the next call, as with fetch', async () => {
  const { network, cached, text } = setUp()
  network.answer(({ url }) => new Response(new URL(url).search))
  const url = new URL(here('/a'))
  const asked = ['1', '2', '3'].map((page) => {
    url.search = page
    return cached(url)
  })
  expect(await texts(asked)).toEqual(['?1', '?2', '?3'])
  await cached.settled()
  expect([await text('/a?1'), await text('/a?2'), network.sent.length]).toEqual(['?1', '?2', 3])
})

test('so may headers, in every form', async () => {
  const { network, cached, text } = setUp()
  network.answer(({ headers }) => new Response(headers.get('x-page'), { headers: { vary: 'x-page' } }))
  const [headers, request, record] = [new Headers(), new Request(here('/a')), { 'x-page': '' }]
  const list: [string, string][] = [['x-page', '']]
  const asked = ['1', '2', '3', '4', '5', '6', '7', '8'].map((page, at) => {
    headers.set('x-page', page)
    request.headers.set('x-page', page)
    record['x-page'] = list[0]![1] = page
    if (at % 4 === 3) return cached(request)
    return cached(here('/a'), { headers: [headers, record, list][at % 4]! })
  })
  expect(await texts(asked)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
  await cached.settled()
  expect(await text('/a', { headers: { 'x-page': '5' } })).toBe('5')
  expect(network.sent).toHaveLength(8)
})

test('a change invalidates the address that it was sent to', async () => {
  const { network, cached, count } = setUp()
  const url = new URL(here('/a'))
  await cached(url)
  await cached.settled()
  const changed = cached(url, { method: 'POST' })
  url.pathname = '/b'
  await changed
  expect([network.sent.length, await count()]).toEqual([2, 0])
})

test('what was given goes to the network as it was given', async () => {
  const seen: unknown[][] = []
  const headers = { 'X-User': 'ann' }
  const fetch = async (...given: unknown[]) => (seen.push(given), new Response())
  const { cached } = setUp({ ttl: 60, fetch: fetch as never })
  await cached(here('/a'), { headers, priority: 'low', referrer: '' })
  expect(seen).toMatchObject([[here('/a'), { headers, priority: 'low', referrer: '' }]])
})
