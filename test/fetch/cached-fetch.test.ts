import { collection, MayflyError } from 'mayfly'
import { cachedFetch, sourceOf } from 'mayfly/fetch'
import type { CachedFetchOptions, CachedResponse } from 'mayfly/fetch'
import { describe, expect, test, vi } from 'vitest'
import { advance, START } from '../support/clock.js'
import { gate, here, httpDate, Network } from '../support/network.js'
import { DAY, newName, open } from '../support/stores.js'

const schema = { responses: collection<CachedResponse>({ defaultTtl: -1 }) }

function setUp(options: CachedFetchOptions = { ttl: 60 }) {
  const network = new Network()
  const store = open(schema)
  const errors: unknown[] = []
  const cached = cachedFetch(store.responses, {
    fetch: network.fetch,
    onError: (error) => errors.push(error),
    ...options,
  })
  const text = async (path = '/a', init?: RequestInit) => (await cached(here(path), init)).text()
  const count = () => store.responses.query().count()
  return { network, store, errors, cached, text, count }
}

/** Answers 1, 2, 3 … with these headers. */
const numbered =
  (headers: Record<string, string> = {}) =>
  (_: Request, nth: number) =>
    new Response(String(nth), { headers })

describe('what is kept', () => {
  test('a second call is answered from the store, with everything that a response has', async () => {
    const { network, cached, store, count } = setUp()
    const bytes = new Uint8Array([0, 255, 128, 10])
    network.answer(() => new Response(bytes, { status: 203, statusText: 'So so', headers: { 'x-a': 'b' } }))
    const first = await cached(here('/a#top'))
    expect(sourceOf(first)).toBe('network')
    expect(new Uint8Array(await first.arrayBuffer())).toEqual(bytes)
    await cached.settled()
    const second = await cached(here('/a#bottom'))
    expect(second).toBeInstanceOf(Response)
    expect(sourceOf(second)).toBe('fresh')
    const { status, statusText, ok, url, redirected, type, bodyUsed } = second
    expect({ status, statusText, ok, url, redirected, type, bodyUsed }).toEqual({
      status: 203,
      statusText: 'So so',
      ok: true,
      url: here('/a'),
      redirected: false,
      type: 'default',
      bodyUsed: false,
    })
    const clone = second.clone()
    expect({ url: clone.url, source: sourceOf(clone), clone: clone.clone().url }).toEqual({
      url: here('/a'),
      source: 'fresh',
      clone: here('/a'),
    })
    expect(second.headers.get('x-a')).toBe('b')
    expect(new Uint8Array(await second.arrayBuffer())).toEqual(bytes)
    expect(new Uint8Array(await clone.arrayBuffer())).toEqual(bytes)
    expect(network.sent).toHaveLength(1)
    expect(await count()).toBe(1)
    expect(await store.responses.get(here('/a'))).toMatchObject({ ttl: 60, url: here('/a'), status: 203 })
  })

  test.each<[string, ResponseInit & { body?: string | null }, number]>([
    ['200', { status: 200 }, 1],
    ['204, without a body', { status: 204, body: null }, 1],
    ['404', { status: 404 }, 2],
    ['500', { status: 500 }, 2],
    ['206', { status: 206 }, 2],
    ['no-store', { headers: { 'cache-control': 'no-store' } }, 2],
    ['Vary: *', { headers: { vary: 'Accept, *' } }, 2],
    ['Vary: Cookie, which nobody sees', { headers: { vary: 'Cookie' } }, 2],
    ['a stream of events', { headers: { 'content-type': 'text/event-stream' } }, 2],
  ])('%s', async (_, { body = 'x', ...init }, requests) => {
    const { network, cached } = setUp()
    network.answer(() => new Response(body, init))
    const [first, second] = [await cached(here('/a')), (await cached.settled(), await cached(here('/a')))]
    expect([first.status, second.status]).toEqual([init.status ?? 200, init.status ?? 200])
    expect(await second.text()).toBe(body ?? '')
    expect(network.sent).toHaveLength(requests)
  })

  test('other statuses when told to, but never a part', async () => {
    const { network, text, cached } = setUp({ ttl: 60, keep: () => true })
    for (const [status, path] of [
      [404, '/lost'],
      [500, '/broken'],
      [206, '/part'],
    ] as const) {
      network.answer((_, nth) => new Response(String(nth), { status }))
      await text(path)
      await cached.settled()
      await text(path)
    }
    expect(network.sent.map(({ url }) => new URL(url).pathname)).toEqual(['/lost', '/broken', '/part', '/part'])
  })

  test('what comes from keep() and is an error keeps nothing', async () => {
    const mistake = new Error('mine')
    const { text, count, cached, errors } = setUp({
      ttl: 60,
      keep: () => {
        throw mistake
      },
    })
    expect(await text()).toBe('Hello')
    await cached.settled()
    expect([await count(), errors]).toEqual([0, [mistake]])
  })

  test('not other methods, unless told to: then their body is part of the key', async () => {
    const { network, cached } = setUp({ ttl: 60, methods: ['get', 'post'] })
    network.answer(async (request, nth) => new Response(`${nth}: ${await request.text()}`))
    const post = async (body: string) => {
      const response = await cached(here('/query'), { method: 'POST', body })
      const text = await response.text()
      await cached.settled()
      return text
    }
    expect([await post('a'), await post('b'), await post('a')]).toEqual(['1: a', '2: b', '1: a'])
    expect(await (await cached(here('/query'), { method: 'HEAD' })).text()).toBe('3: ')
    expect(await (await cached(here('/query'), { method: 'HEAD' })).text()).toBe('4: ')
  })

  test('a body that breaks off is not kept', async () => {
    const { network, cached, count, errors } = setUp()
    const broken = () => {
      let sent = false
      return new Response(
        new ReadableStream({
          pull(controller) {
            if (sent) controller.error(new TypeError('broken'))
            else controller.enqueue(new Uint8Array([1]))
            sent = true
          },
        }),
      )
    }
    const failure = (response: Response) => response.arrayBuffer().then(undefined, ({ name }: Error) => name)
    network.answer(broken)
    // Firefox says AbortError, whatever the stream has failed with.
    const own = await failure(broken())
    expect(['TypeError', 'AbortError']).toContain(own)
    expect(await failure(await cached(here('/a')))).toBe(own)
    await cached.settled()
    expect([await count(), errors.map((error) => (error as Error).name)]).toEqual([0, [own]])
  })

  test('an address of any length', async () => {
    const { network, text, cached } = setUp()
    network.answer(numbered())
    const long = `/${'x'.repeat(5000)}`
    for (const path of [`${long}?1`, `${long}?2`, `${long}?1`, `${long}?2`]) {
      await text(path)
      await cached.settled()
    }
    expect(network.sent).toHaveLength(2)
    expect(await cached.invalidate(here(`${long}?1`))).toBe(1)
    expect([await text(`${long}?1`), await text(`${long}?2`)]).toEqual(['3', '2'])
  })

  test('the network’s response streams before it is stored', async () => {
    const { network, cached } = setUp()
    const more = gate()
    network.answer(() => {
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode('first '))
          await more.promise
          controller.enqueue(new TextEncoder().encode('second'))
          controller.close()
        },
      })
      return new Response(body)
    })
    const reader = (await cached(here('/a'))).body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe('first ')
    // Whoever comes now gets it from the start.
    const late = await cached(here('/a'))
    more.open()
    expect((await reader.read()).value).toBe('second')
    expect(await late.text()).toBe('first second')
    await cached.settled()
    expect(await (await cached(here('/a'))).text()).toBe('first second')
    expect(network.sent).toHaveLength(1)
  })

  test('the store may fail: the network answers, and onError is told', async () => {
    const { network, text, store, errors, cached } = setUp()
    network.answer(numbered())
    await store.close()
    expect([await text(), (await cached.settled(), await text())]).toEqual(['1', '2'])
    await cached.settled()
    expect(errors.every((error) => error instanceof MayflyError && error.code === 'closed')).toBe(true)
    expect(errors).not.toHaveLength(0)
    await expect(cached.clear()).rejects.toMatchObject({ code: 'closed' })
  })

  test('a collection without time to live is refused', async () => {
    const network = new Network()
    const store = open({
      off: collection<CachedResponse>(),
      none: collection<CachedResponse>({ indexing: 'none' }),
    })
    for (const responses of [store.off, store.none]) {
      const cached = cachedFetch(responses, { ttl: 60, fetch: network.fetch })
      await expect(cached(here('/a'))).rejects.toMatchObject({ name: 'MayflyError', code: 'invalid' })
    }
    const cached = cachedFetch(store.off, { ttl: 60, fetch: network.fetch })
    await cached(here('/a')).catch(() => undefined)
    await store.off.setDefaultTtl(-1)
    expect(await (await cached(here('/a'))).text()).toBe('Hello')
  })

  test.each([
    { ttl: -2 },
    { ttl: NaN },
    { staleIfError: '1' },
    { override: { ttl: -5 } },
    { credentials: true },
    { key: 'accept' },
    { methods: 'GET' },
    { keep: true },
    { fetch: 'https://shop.example' },
    { onError: 1 },
    { override: null },
    null,
  ])('options that are refused: %j', (options) => {
    const { responses } = open(schema)
    expect(() => cachedFetch(responses, options as never)).toThrow(MayflyError)
  })
})

describe('the three lifetimes', () => {
  test('fresh, stale with one refresh behind, only if the network fails, gone', async () => {
    const { network, cached, store, count } = setUp({ ttl: 60, staleWhileRevalidate: 600, staleIfError: 7 * DAY })
    network.answer(numbered())
    const ask = async () => {
      const response = await cached(here('/a'))
      return [sourceOf(response), await response.text()]
    }
    expect(await ask()).toEqual(['network', '1'])
    await cached.settled()
    expect(await store.responses.get(here('/a'))).toMatchObject({ ttl: 60 + 7 * DAY })
    expect(await store.responses.expiresAt(here('/a'))).toEqual(new Date(START + (60 + 7 * DAY) * 1000))
    advance(59.999)
    expect(await ask()).toEqual(['fresh', '1'])

    // Stale: at once what is there, and one refresh for all.
    advance(0.001)
    const answered = gate<Response>()
    network.answer(() => answered.promise)
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([
      ['stale', '1'],
      ['stale', '1'],
      ['stale', '1'],
    ])
    expect(await ask()).toEqual(['stale', '1'])
    expect(network.sent).toHaveLength(2)
    answered.open(new Response('refreshed'))
    await cached.settled()
    expect(await ask()).toEqual(['fresh', 'refreshed'])

    // A refresh that fails is silent, and what is stale goes on being served.
    advance(100)
    network.cut()
    expect(await ask()).toEqual(['stale', 'refreshed'])
    await cached.settled()
    advance(559)
    expect(await ask()).toEqual(['stale', 'refreshed'])
    await cached.settled()

    // Past that window the network is asked first.
    advance(1)
    expect(await ask()).toEqual(['fallback', 'refreshed'])
    network.answer(() => new Response('down', { status: 503 }))
    expect(await ask()).toEqual(['fallback', 'refreshed'])
    advance(7 * DAY - 600 - 0.001)
    expect(await ask()).toEqual(['fallback', 'refreshed'])

    // Past all three it does not exist.
    advance(0.001)
    expect(await count()).toBe(0)
    expect(await ask()).toEqual(['network', 'down'])
    network.cut()
    await expect(ask()).rejects.toThrow(TypeError)
    expect((await store.sweep()).deleted).toBe(1)
  })

  test('the network is asked once the answer is not fresh any more, and its answer is kept', async () => {
    const { network, text, cached } = setUp({ ttl: 60 })
    network.answer(numbered())
    const asked = [await text()]
    await cached.settled()
    advance(60)
    asked.push(await text())
    await cached.settled()
    asked.push(await text())
    expect(asked).toEqual(['1', '2', '2'])
  })

  test('an answer that is final takes the place of the stored one, even if it is not kept', async () => {
    const { network, text, cached, count } = setUp({ ttl: 1, staleWhileRevalidate: 60, staleIfError: 60 })
    await text()
    await cached.settled()
    advance(2)
    network.answer(() => new Response('too many', { status: 429 }))
    expect(await text()).toBe('Hello')
    await cached.settled()
    expect(await count()).toBe(1)
    network.answer(() => new Response('gone', { status: 410 }))
    expect(await text()).toBe('Hello')
    await cached.settled()
    expect([await text(), await count()]).toEqual(['gone', 0])
  })

  test('so does one that was over when it came', async () => {
    const { network, text, cached, count } = setUp()
    const ages = ['0', '100']
    network.answer((_, nth) => {
      const headers = { 'cache-control': 'max-age=5, stale-while-revalidate=20', age: ages[nth - 1] ?? '0' }
      return new Response(String(nth), { headers })
    })
    await text()
    await cached.settled()
    advance(5)
    expect(await text()).toBe('1')
    await cached.settled()
    expect([await count(), await text()]).toEqual([0, '3'])
  })

  test('-1 is for ever', async () => {
    const { network, text, cached, store } = setUp({ ttl: -1 })
    await text()
    await cached.settled()
    advance(1000 * DAY)
    await text()
    expect(network.sent).toHaveLength(1)
    expect(await store.responses.expiresAt(here('/a'))).toBeNull()
  })

  test('a clock that was set back does not make anything fresh', async () => {
    const { network, text, cached } = setUp({ ttl: 60, staleIfError: 60 })
    network.answer(numbered())
    await text()
    await cached.settled()
    advance(-DAY)
    expect(await text()).toBe('2')
    await cached.settled()
    expect(await text()).toBe('2')
  })
})

describe('the server', () => {
  test('is obeyed: max-age, Age and Date', async () => {
    const { network, text, cached, store } = setUp({ ttl: 1000 })
    network.answer(() => new Response('', { headers: { 'cache-control': 'max-age=100', age: '30' } }))
    await text('/age')
    network.answer(
      () => new Response('', { headers: { expires: httpDate(START + 50_000), date: httpDate(START - 20_000) } }),
    )
    await text('/expires')
    await cached.settled()
    const ttls = (await store.responses.getMany([here('/age'), here('/expires')])).map((doc) => doc?.ttl)
    expect(ttls).toEqual([70, 50])
    advance(50)
    await text('/age')
    await text('/expires')
    expect(network.sent).toHaveLength(3)
  })

  test('says stale-while-revalidate and stale-if-error, and the options say nothing', async () => {
    const { network, cached } = setUp({})
    const headers = { 'cache-control': 'max-age=10, stale-while-revalidate=10, stale-if-error=20' }
    network.answer(() => new Response('', { headers }))
    await cached(here('/a'))
    await cached.settled()
    network.cut()
    const seen = []
    for (const seconds of [9, 2, 9]) {
      advance(seconds)
      seen.push(sourceOf(await cached(here('/a'))))
      await cached.settled()
    }
    expect(seen).toEqual(['fresh', 'stale', 'fallback'])
    advance(10)
    await expect(cached(here('/a'))).rejects.toThrow(TypeError)
  })

  test('is overridden by override', async () => {
    const { network, text, cached } = setUp({ override: { ttl: 60 } })
    network.answer(numbered({ 'cache-control': 'no-store' }))
    expect([await text(), (await cached.settled(), await text())]).toEqual(['1', '1'])
  })

  test('is asked with what it gave; a 304 renews headers and lifetime, and gives the stored body', async () => {
    const { network, cached, store } = setUp({ ttl: 60, staleIfError: 600 })
    const validators = { etag: '"v1"', 'last-modified': httpDate(START - 99_000) }
    network.answer(() => new Response('body', { headers: { ...validators, 'x-turn': '1', 'content-type': 'text/x' } }))
    await cached(here('/a'))
    await cached.settled()
    advance(61)
    network.answer(() => new Response(null, { status: 304, headers: { 'x-turn': '2', 'content-type': 'wrong' } }))
    for (let asked = 0; asked < 2; asked++) {
      const response = await cached(here('/a'))
      const { status, url, headers } = response
      expect({ status, url, body: await response.text() }).toEqual({ status: 200, url: here('/a'), body: 'body' })
      expect([headers.get('x-turn'), headers.get('content-type'), headers.get('etag')]).toEqual(['2', 'text/x', '"v1"'])
      await cached.settled()
    }
    expect(network.sent).toHaveLength(2)
    expect(network.sent[1]!.headers).toMatchObject({
      'if-none-match': '"v1"',
      'if-modified-since': validators['last-modified'],
    })
    expect(await store.responses.get(here('/a'))).toMatchObject({ freshUntil: START + 121_000, ttl: 660 })
  })

  test('is not asked so with other methods: there a condition says whether to do the work at all', async () => {
    const { network, text, cached } = setUp({ methods: ['GET', 'POST'], ttl: 1, staleIfError: 60 })
    network.answer(numbered({ etag: '"one"' }))
    const post = { method: 'POST', body: 'x' }
    expect([await text('/a', post), (await cached.settled(), advance(2), await text('/a', post))]).toEqual(['1', '2'])
    expect(network.sent.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined])
  })

  test('is asked each time when it says no-cache', async () => {
    const { network, text, cached } = setUp({ ttl: 60, staleWhileRevalidate: 60, staleIfError: 60 })
    const headers = { 'cache-control': 'no-cache', etag: '"1"' }
    network.answer((request) =>
      request.headers.has('if-none-match') ? new Response(null, { status: 304 }) : new Response('body', { headers }),
    )
    for (let asked = 0; asked < 3; asked++) {
      expect(await text()).toBe('body')
      await cached.settled()
    }
    expect(network.sent.map((sent) => sent.headers['if-none-match'])).toEqual([undefined, '"1"', '"1"'])
    network.cut()
    await expect(text()).rejects.toThrow(TypeError)
  })

  test('forbids what is stale with must-revalidate', async () => {
    const { network, text, cached } = setUp({ staleWhileRevalidate: 60, staleIfError: 60 })
    network.answer(numbered({ 'cache-control': 'max-age=10, must-revalidate', etag: '"1"' }))
    await text()
    await cached.settled()
    advance(9)
    expect(await text()).toBe('1')
    advance(1)
    network.cut()
    await expect(text()).rejects.toThrow(TypeError)
  })
})

describe('variants', () => {
  const inLanguage = (language: string) => ({ headers: { 'accept-language': language } })

  test('the headers in Vary choose, and variants lie side by side', async () => {
    const { network, text, cached } = setUp()
    network.answer((request, nth) => {
      const body = `${request.headers.get('accept-language')} ${nth}`
      return new Response(body, { headers: { vary: 'Accept-Language, Accept-Encoding' } })
    })
    const seen = []
    for (const language of ['de', 'fr', 'de', 'fr']) {
      seen.push(await text('/a', inLanguage(language)))
      await cached.settled()
    }
    seen.push(await text('/a'))
    expect(seen).toEqual(['de 1', 'fr 2', 'de 1', 'fr 2', 'null 3'])
  })

  test('are told apart while they are under way, before anybody knows that they are', async () => {
    const { network, text } = setUp()
    network.answer((request) => {
      return new Response(request.headers.get('accept-language'), { headers: { vary: 'accept-language' } })
    })
    const asked = ['de', 'fr', 'de'].map((language) => text('/a', inLanguage(language)))
    expect(await Promise.all(asked)).toEqual(['de', 'fr', 'de'])
    expect(network.sent).toHaveLength(2)
  })

  test('a header that no one has named makes no difference', async () => {
    const { network, text, cached } = setUp()
    network.answer(numbered({ vary: 'accept-encoding' }))
    const seen = []
    for (const trace of ['1', '2']) {
      seen.push(await text('/a', { headers: { 'x-trace': trace } }))
      await cached.settled()
    }
    expect(seen).toEqual(['1', '1'])
  })

  test('more names may come in with time; the wrong variant never does', async () => {
    const { network, text, cached, count } = setUp({ ttl: 60 })
    const ask = async (a: string, b: string, vary: string) => {
      network.answer((request) => {
        return new Response(`${request.headers.get('x-a')}${request.headers.get('x-b')}`, { headers: { vary } })
      })
      const answer = await text('/a', { headers: { 'x-a': a, 'x-b': b } })
      await cached.settled()
      return answer
    }
    expect(await ask('1', '1', 'x-a')).toBe('11')
    expect(await ask('1', '2', 'x-a')).toBe('11')
    expect(await ask('2', '1', 'x-a, x-b')).toBe('21')
    expect(await ask('2', '2', 'x-b')).toBe('22')
    expect(await ask('1', '1', 'x-b')).toBe('11')
    expect(await ask('2', '1', '')).toBe('21')
    expect(network.sent).toHaveLength(4)
    expect(await cached.invalidate(here('/a'))).toBe(5)
    expect(await count()).toBe(0)
  })

  test('the signpost lives as long as the last that it leads to', async () => {
    const { network, text, cached } = setUp()
    for (const [language, maxAge] of [
      ['de', 100],
      ['fr', 10],
    ] as const) {
      network.answer(numbered({ vary: 'accept-language', 'cache-control': `max-age=${maxAge}` }))
      await text('/a', inLanguage(language))
      await cached.settled()
    }
    advance(50)
    expect([await text('/a', inLanguage('de')), await text('/a', inLanguage('fr'))]).toEqual(['1', '3'])
  })

  test('key names headers, or makes a text of its own', async () => {
    let user = ''
    for (const key of [['X-Tenant'], (request: Request) => `${user} ${request.headers.get('x-tenant')}`]) {
      user = 'ann'
      const { network, text, cached } = setUp({ ttl: 60, key })
      network.answer(numbered())
      const seen = []
      for (const tenant of ['a', 'b', 'a']) {
        seen.push(await text('/a', { headers: { 'x-tenant': tenant } }))
        await cached.settled()
      }
      expect(seen).toEqual(['1', '2', '1'])
      user = 'bob'
      const again = await text('/a', { headers: { 'x-tenant': 'a' } })
      expect(again).toBe(typeof key === 'function' ? '3' : '1')
      expect(await cached.invalidate(here('/a'))).toBeGreaterThan(1)
    }
  })
})

describe('credentials', () => {
  const as = (user: string) => ({ headers: { Authorization: `Bearer ${user}` } })

  test('with an Authorization nothing is kept, nor served from what is', async () => {
    const { network, text, cached, count } = setUp({ ttl: 60 })
    network.answer(numbered())
    const seen = [await text()]
    await cached.settled()
    for (const init of [as('ann'), as('ann'), { credentials: 'include' as const }]) {
      seen.push(await text('/a', init))
      await cached.settled()
    }
    seen.push(await text())
    expect(seen).toEqual(['1', '2', '3', '4', '1'])
    expect(await count()).toBe(1)
  })

  test('askers with the same Authorization share a request all the same, others do not', async () => {
    const { network, text } = setUp({ ttl: 60 })
    network.answer((request) => new Response(request.headers.get('authorization')))
    const asked = ['ann', 'ann', 'bob', 'ann'].map((user) => text('/a', as(user)))
    expect(await Promise.all(asked)).toEqual(['Bearer ann', 'Bearer ann', 'Bearer bob', 'Bearer ann'])
    expect(network.sent).toHaveLength(2)
  })

  test('when told to, each user has answers of their own, and no secret is on the disk', async () => {
    const { network, text, cached, store } = setUp({ ttl: 60, credentials: 'keep' })
    network.answer((request, nth) => new Response(`${nth} ${request.headers.get('authorization')?.slice(-3)}`))
    const seen = []
    for (const user of ['ann', 'bob', 'ann']) {
      seen.push(await text('/a', as(user)))
      await cached.settled()
    }
    seen.push(await text('/a'))
    expect(seen).toEqual(['1 ann', '2 bob', '1 ann', '3 undefined'])
    await cached.settled()
    const docs = await store.responses.query().get()
    expect(docs).toHaveLength(3)
    expect(JSON.stringify(docs)).not.toContain('Bearer')
  })
})

describe('many at once', () => {
  test('ten that ask for the same address cause one request, and each has a body', async () => {
    const { network, text } = setUp()
    const answered = gate()
    network.answer(async (_, nth) => (await answered.promise, new Response(`body ${nth}`)))
    const asked = Array.from({ length: 10 }, () => text())
    answered.open()
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 10 }, () => 'body 1'))
    expect(network.sent).toHaveLength(1)
  })

  test('and one request also for what is not kept; the next one asks again', async () => {
    const { network, text } = setUp()
    network.answer(numbered({ 'cache-control': 'no-store' }))
    expect(await Promise.all([text(), text(), text()])).toEqual(['1', '1', '1'])
    expect(await text()).toBe('2')
  })

  test('all hear of a failure, and the next one tries again', async () => {
    const { network, text } = setUp()
    network.cut()
    const asked = await Promise.allSettled([text(), text()])
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    network.answer(numbered())
    expect(await text()).toBe('2')
  })

  test('one that is aborted does not abort the others', async () => {
    const { network, text } = setUp()
    const answered = gate()
    network.answer(async () => (await answered.promise, new Response('body')))
    const leaving = new AbortController()
    const staying = new AbortController()
    const gone = text('/a', { signal: leaving.signal })
    const others = [text('/a', { signal: staying.signal }), text('/a')]
    await expect.poll(() => network.sent.length).toBe(1)
    leaving.abort()
    await expect(gone).rejects.toMatchObject({ name: 'AbortError' })
    answered.open()
    expect(await Promise.all(others)).toEqual(['body', 'body'])
    expect(network.sent.map(({ signal }) => signal.aborted)).toEqual([false])
  })

  test('the request is aborted when all have gone, each with its own reason; the next asks again', async () => {
    const { network, text, errors, cached } = setUp()
    network.answer(() => new Promise(() => undefined))
    const controllers = [new AbortController(), new AbortController()]
    const asked = controllers.map(({ signal }) => text('/a', { signal }))
    await expect.poll(() => network.sent.length).toBe(1)
    controllers.forEach((controller, at) => controller.abort(new Error(`reason ${at}`)))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason.message)).toEqual([
      'reason 0',
      'reason 1',
    ])
    expect(network.sent[0]!.signal.aborted).toBe(true)
    network.answer(numbered())
    expect(await text()).toBe('2')
    await cached.settled()
    expect(errors).toEqual([])
  })

  test('a signal that is aborted already asks nobody', async () => {
    const { network, text } = setUp()
    await expect(text('/a', { signal: AbortSignal.abort('why') })).rejects.toBe('why')
    const request = new Request(here('/a'), { signal: AbortSignal.abort() })
    await expect(setUp().cached(request)).rejects.toMatchObject({ name: 'AbortError' })
    expect(network.sent).toHaveLength(0)
  })

  test('a signal ends the body too, and if nobody else reads it, the request', async () => {
    const { network, cached, count, errors } = setUp()
    let cancelled = false
    network.answer(
      (request) =>
        new Response(
          new ReadableStream<Uint8Array>({
            start(controller) {
              controller.enqueue(new Uint8Array([1]))
              request.signal.addEventListener('abort', () => controller.error(request.signal.reason))
            },
            cancel() {
              cancelled = true
            },
          }),
        ),
    )
    const leaving = new AbortController()
    const response = await cached(here('/a'), { signal: leaving.signal })
    expect(response.url).toBe('')
    const reader = response.body!.getReader()
    await reader.read()
    leaving.abort()
    await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' })
    await cached.settled()
    expect([network.sent[0]!.signal.aborted, cancelled, await count(), errors]).toEqual([true, false, 0, []])
  })

  test('a signal of one who was answered from the store ends no refresh', async () => {
    const { network, text, cached } = setUp({ ttl: 1, staleWhileRevalidate: 60 })
    network.answer(numbered())
    await text()
    await cached.settled()
    advance(2)
    const leaving = new AbortController()
    expect(await text('/a', { signal: leaving.signal })).toBe('1')
    leaving.abort()
    await cached.settled()
    expect(await text()).toBe('2')
  })

  test('cancelling what is not kept closes the connection', async () => {
    const { network, cached } = setUp()
    const cancelled = gate()
    const headers = { 'content-type': 'text/event-stream' }
    network.answer(() => new Response(new ReadableStream({ cancel: () => cancelled.open() }), { headers }))
    const [one, two] = await Promise.all([cached(here('/a')), cached(here('/a'))])
    void one!.body!.cancel()
    void two!.body!.cancel()
    await cancelled.promise
  })
})

describe('races', () => {
  test('a slower, older answer does not overwrite a newer one', async () => {
    const { network, text, cached } = setUp()
    const slow = gate<Response>()
    network.answer(() => slow.promise)
    const older = text()
    await expect.poll(() => network.sent.length).toBe(1)
    network.answer(() => new Response('newer'))
    expect(await text('/a', { cache: 'reload' })).toBe('newer')
    await expect.poll(() => text('/a', { cache: 'force-cache', headers: { 'x-other': '1' } })).toBe('newer')
    slow.open(new Response('older'))
    expect(await older).toBe('older')
    await cached.settled()
    expect(await text()).toBe('newer')
  })

  test('nor in another tab', async () => {
    const name = newName()
    const tabs = [open(schema, name), open(schema, name)].map(({ responses }) => {
      const network = new Network()
      return { network, cached: cachedFetch(responses, { ttl: 60, fetch: network.fetch }) }
    })
    const slow = gate<Response>()
    tabs[0]!.network.answer(() => slow.promise)
    const older = tabs[0]!.cached(here('/a'))
    await expect.poll(() => tabs[0]!.network.sent.length).toBe(1)
    tabs[1]!.network.answer(() => new Response('newer'))
    await tabs[1]!.cached(here('/a'))
    await tabs[1]!.cached.settled()
    slow.open(new Response('older'))
    await older
    await tabs[0]!.cached.settled()
    expect(await (await tabs[0]!.cached(here('/a'))).text()).toBe('newer')
  })

  test.each<[string, (cached: ReturnType<typeof setUp>['cached']) => Promise<unknown>]>([
    ['clear()', (cached) => cached.clear()],
    ['invalidate(url)', (cached) => cached.invalidate(here('/a'))],
    ['invalidate(predicate)', (cached) => cached.invalidate((url) => url.endsWith('/a'))],
  ])('what was asked for before %s is not kept, and nobody new waits for it', async (_, remove) => {
    const { network, text, cached, count } = setUp()
    const slow = gate<Response>()
    network.answer(() => slow.promise)
    const before = text()
    await expect.poll(() => network.sent.length).toBe(1)
    await remove(cached)
    network.answer(() => new Response('after'))
    const after = text()
    slow.open(new Response('before'))
    expect(await Promise.all([before, after])).toEqual(['before', 'after'])
    await cached.settled()
    expect([await text(), await count()]).toEqual(['after', 1])
  })

  test.each<[string, (cached: ReturnType<typeof setUp>['cached']) => Promise<unknown>]>([
    ['clear()', (cached) => cached.clear()],
    ['invalidate(url)', (cached) => cached.invalidate(here('/a'))],
    ['invalidate(predicate)', (cached) => cached.invalidate((url) => url.endsWith('/a'))],
    ['a POST', (cached) => cached(here('/a'), { method: 'POST' })],
  ])('what was asked for before %s in another tab is not kept either', async (_, remove) => {
    const name = newName()
    const [one, other] = [open(schema, name), open(schema, name)].map(({ responses }) => {
      const network = new Network()
      return { responses, network, cached: cachedFetch(responses, { ttl: 60, fetch: network.fetch }) }
    })
    const slow = gate<Response>()
    one!.network.answer(({ url }) => (url.endsWith('/a') ? slow.promise : new Response('other')))
    const asked = Promise.all([one!.cached(here('/a')), one!.cached(here('/b'))])
    await expect.poll(() => one!.network.sent.length).toBe(2)
    await remove(other!.cached)
    slow.open(new Response('before'))
    expect(await Promise.all((await asked).map((response) => response.text()))).toEqual(['before', 'other'])
    await one!.cached.settled()
    const urls = async () => (await other!.responses.query().get()).map(({ url }) => url)
    // Word of it takes its time from tab to tab.
    await expect.poll(urls).not.toContain(here('/a'))
  })

  test('nor is it when word from another tab comes after it, as to one that was frozen', async () => {
    const late: (() => void)[] = []
    vi.stubGlobal(
      'BroadcastChannel',
      class extends BroadcastChannel {
        override addEventListener(type: string, listener: unknown): void {
          const hear = listener as (event: Event) => void
          const isOurs = this.name === 'mayfly/fetch'
          super.addEventListener(type, (event) => (isOurs ? void late.push(() => hear(event)) : hear(event)))
        }
      },
    )
    const name = newName()
    const [one, other] = [open(schema, name), open(schema, name)].map(({ responses }) => {
      const network = new Network()
      return { responses, network, cached: cachedFetch(responses, { ttl: 60, fetch: network.fetch }) }
    })
    const slow = gate<Response>()
    one!.network.answer(() => slow.promise)
    const asked = one!.cached(here('/a'))
    await expect.poll(() => one!.network.sent.length).toBe(1)
    vi.unstubAllGlobals()
    await other!.cached.clear()
    await expect.poll(() => late.length).toBe(1)
    slow.open(new Response('before'))
    await (await asked).text()
    await one!.cached.settled()
    expect(await other!.responses.query().count()).toBe(1)
    advance(0.001)
    one!.network.answer(() => new Response('after'))
    await one!.cached(here('/b'))
    await one!.cached.settled()
    late[0]!()
    await expect.poll(async () => (await other!.responses.query().get()).map(({ url }) => url)).toEqual([here('/b')])
  })

  test('nor is it when it had not even been sent', async () => {
    const { network, text, cached, count } = setUp()
    const asked = text()
    const cleared = cached.clear()
    expect(network.sent).toHaveLength(0)
    expect(await asked).toBe('Hello')
    await cleared
    await cached.settled()
    expect(await count()).toBe(0)
  })

  test('nor is it when its body was on the way', async () => {
    const { network, cached, count, store } = setUp()
    const more = gate()
    network.answer(() => {
      const start = async (controller: ReadableStreamDefaultController) => (await more.promise, controller.close())
      return new Response(new ReadableStream({ start }))
    })
    const response = await cached(here('/a'))
    // Also when another cache on the same collection is cleared.
    await cachedFetch(store.responses).clear()
    network.answer(() => new Response('new', { headers: { 'cache-control': 'no-store' } }))
    expect(await (await cached(here('/a'))).text()).toBe('new')
    more.open()
    await response.text()
    await cached.settled()
    expect(await count()).toBe(0)
  })
})

describe('removing', () => {
  async function filled() {
    const set = setUp()
    for (const path of ['/a', '/a?b', '/ab', '/b']) await set.text(path)
    await set.cached.settled()
    const left = async () => (await set.store.responses.query().get()).map(({ url }) => url.slice(here('').length))
    return { ...set, left }
  }

  test('an address, in any form, and none that looks like it', async () => {
    const { cached, left } = await filled()
    expect(await cached.invalidate(`${here('/a')}#x`)).toBe(1)
    expect(await left()).toEqual(['a?b', 'ab', 'b'])
    expect(await cached.invalidate(new URL(here('/ab')))).toBe(1)
    expect(await cached.invalidate(new Request(here('/b')))).toBe(1)
    expect(await cached.invalidate(here('/b'))).toBe(0)
    expect(await left()).toEqual(['a?b'])
  })

  test('whatever a function is true for', async () => {
    const { cached, left } = await filled()
    expect(await cached.invalidate((url, { status }) => url.includes('b') && status === 200)).toBe(3)
    expect(await left()).toEqual(['a'])
  })

  test('everything, from the disk, before it resolves', async () => {
    const { cached, store } = await filled()
    advance(61)
    await cached.clear()
    expect(await store.responses.stats()).toEqual({ live: 0, expired: 0, nextExpiry: null })
  })

  test.each([
    ['POST', 200, 3],
    ['PATCH', 204, 3],
    ['DELETE', 404, 4],
    ['PUT', 500, 4],
    ['OPTIONS', 200, 4],
  ])('a %s that is answered with %i leaves %i', async (method, status, left) => {
    const { network, cached, count } = await filled()
    network.answer(() => new Response(null, { status }))
    await cached(here('/a'), { method })
    expect(await count()).toBe(left)
  })
})

describe('what a request may ask for', () => {
  async function stored() {
    const set = setUp({ ttl: 60, staleIfError: 600 })
    set.network.answer(numbered({ etag: '"1"' }))
    await set.text()
    await set.cached.settled()
    return set
  }

  test.each<[string, RequestInit, string, boolean]>([
    ['cache: reload', { cache: 'reload' }, '2', true],
    ['cache: no-store', { cache: 'no-store' }, '2', false],
    ['cache: no-cache', { cache: 'no-cache' }, '2', true],
    ['cache: force-cache', { cache: 'force-cache' }, '1', false],
    ['Cache-Control: no-cache', { headers: { 'cache-control': 'no-cache' } }, '2', true],
    ['Pragma: no-cache', { headers: { pragma: 'no-cache' } }, '2', true],
    ['Cache-Control: no-store', { headers: { 'cache-control': 'no-store' } }, '2', false],
    ['Cache-Control: max-age=20, at 10', { headers: { 'cache-control': 'max-age=20' } }, '1', false],
    ['Cache-Control: max-age=5, at 10', { headers: { 'cache-control': 'max-age=5' } }, '2', true],
    ['Cache-Control: min-fresh=40, at 10', { headers: { 'cache-control': 'min-fresh=40' } }, '1', false],
    ['Cache-Control: min-fresh=55, at 10', { headers: { 'cache-control': 'min-fresh=55' } }, '2', true],
    ['a Range', { headers: { range: 'bytes=0-1' } }, '2', false],
    ['a condition of its own', { headers: { 'if-none-match': '"x"' } }, '2', false],
  ])('%s', async (_, init, answer, isKept) => {
    const { network, text, cached } = await stored()
    advance(10)
    expect(await text('/a', init)).toBe(answer)
    await cached.settled()
    expect(await text('/a', { cache: 'force-cache' })).toBe(isKept ? answer : '1')
    const [, second] = network.sent
    const isAsked = init.cache === 'no-cache' || (isKept && init.cache !== 'reload')
    const own = new Headers(init.headers).get('if-none-match') ?? undefined
    if (second) expect(second.headers['if-none-match']).toBe(isAsked ? '"1"' : own)
  })

  test('force-cache takes what is stale, and goes to the network for what is not there', async () => {
    const { network, text, cached } = await stored()
    advance(100)
    expect(await text('/a', { cache: 'force-cache' })).toBe('1')
    expect(await text('/b', { cache: 'force-cache' })).toBe('2')
    await cached.settled()
    expect(network.sent).toHaveLength(2)
  })

  test('only-if-cached never goes to the network', async () => {
    const { network, text } = await stored()
    const init: RequestInit = { cache: 'only-if-cached', mode: 'same-origin' }
    expect(await text('/a', init)).toBe('1')
    await expect(text('/b', init)).rejects.toThrow(TypeError)
    expect(network.sent).toHaveLength(1)
  })

  test('what must be checked is served offline only by staleIfError, what must be new never', async () => {
    const { network, text } = await stored()
    network.cut()
    expect(await text('/a', { cache: 'no-cache' })).toBe('1')
    await expect(text('/a', { cache: 'reload' })).rejects.toThrow(TypeError)

    const other = setUp({ ttl: 60 })
    await other.text()
    await other.cached.settled()
    other.network.cut()
    await expect(other.text('/a', { cache: 'no-cache' })).rejects.toThrow(TypeError)
    expect(await other.text()).toBe('Hello')
  })

  test('the browser’s own cache stays out of it', async () => {
    const { network, text } = await stored()
    await text('/b')
    expect(network.sent.map(({ cache }) => cache)).toEqual(['no-store', 'no-store'])
  })

  test('a redirected answer is not for one who wants no redirects', async () => {
    const { network, text, cached, store } = await stored()
    await store.responses.patch(here('/a'), { redirected: true, from: here('/z') })
    expect((await cached(here('/a'))).url).toBe(here('/z'))
    expect((await cached(here('/a'))).redirected).toBe(true)
    expect(await text('/a', { redirect: 'error' })).toBe('2')
    expect(await text('/a', { redirect: 'manual' })).toBe('3')
    expect(network.sent).toHaveLength(3)
  })

  test('it may take the place of the global fetch, which it looks up at each call', async () => {
    const real = globalThis.fetch
    const [early, late] = [new Network(), new Network()]
    try {
      globalThis.fetch = early.fetch
      const cached: typeof fetch & { settled(): Promise<void> } = cachedFetch(open(schema).responses, { ttl: 60 })
      for (const replaced of [cached, (...args: Parameters<typeof fetch>) => cached(...args)]) {
        globalThis.fetch = replaced
        await (await fetch(here('/a'))).text()
        await cached.settled()
        await fetch(here('/a'), { method: 'POST' })
      }
      expect(early.sent.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET', 'POST'])
      globalThis.fetch = late.fetch
      await cached(here('/b'))
      await cached.settled()
    } finally {
      globalThis.fetch = real
    }
    expect([early.sent.length, late.sent.length]).toEqual([4, 1])
  })

  test('what goes with an address may be another request', async () => {
    const { network, cached } = setUp()
    const like = new Request(here('/b'), { headers: { 'x-user': 'ann', authorization: 'secret' } })
    await cached(here('/a'), like)
    expect(network.sent).toMatchObject([
      { url: here('/a'), headers: { 'x-user': 'ann', authorization: 'secret' }, cache: 'default' },
    ])
  })

  test('mistakes reject, as with fetch', async () => {
    const { cached } = setUp()
    await expect(cached('http://')).rejects.toThrow(TypeError)
  })
})
