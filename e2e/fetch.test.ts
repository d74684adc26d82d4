import { expect, test as base } from '@playwright/test'
import type { BrowserContext, Page } from '@playwright/test'
import type * as Mayfly from 'mayfly'
import type * as Fetch from 'mayfly/fetch'
import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { serveApi } from './support/api.js'
import type { Api } from './support/api.js'

interface Asked {
  status: number
  url: string
  redirected: boolean
  type: ResponseType
  source: Fetch.Source | undefined
  text: string
}

declare global {
  interface Window {
    kit: {
      cached: typeof Fetch.cached
      sourceOf: typeof Fetch.sourceOf
      open(options: Fetch.CachedFetchOptions): void
      ask(path: string, init?: RequestInit): Promise<Asked>
    }
    cached: Fetch.CachedFetch
    cache: Mayfly.Store<{
      responses: Mayfly.CollectionDefinition<Fetch.CachedResponse>
      values: Mayfly.CollectionDefinition<Fetch.CachedValue>
    }>
    answers: Promise<unknown>[]
    aborts: AbortController[]
    reader: ReadableStreamDefaultReader<Uint8Array>
  }
}

const test = base.extend<{ api: Api; tab: Page }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures that are needed from this pattern.
  api: async ({}, use) => {
    await using api = await serveApi()
    await use(api)
  },
  tab: async ({ context, api }, use) => use(await newTab(context, api)),
})

const HOUR = 60 * 60

async function newTab(context: BrowserContext, api: Api, options: Fetch.CachedFetchOptions = {}): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${api.url}/fetch.html`)
  await page.waitForFunction(() => 'kit' in window)
  await open(page, { ttl: HOUR, ...options })
  return page
}

const open = (page: Page, options: Fetch.CachedFetchOptions) =>
  page.evaluate((all) => window.kit.open(all as object), options as object)

/** Asks, waits until it is stored, and says what came. */
const ask = (page: Page, path: string, init?: RequestInit): Promise<Asked> =>
  page.evaluate(
    async ({ at, options }) => {
      const asked = await window.kit.ask(at, options)
      await window.cached.settled()
      return asked
    },
    { at: path, options: init as object },
  )

const numbered =
  (headers: Record<string, string> = {}, status = 200) =>
  (response: ServerResponse, _: unknown, nth: number) =>
    response.writeHead(status, headers).end(String(nth))

test('1: status codes: the successful are kept, with headers and all; the others go through', async ({ api, tab }) => {
  const kept: Record<number, boolean> = {}
  for (const status of [200, 201, 203, 204, 301, 400, 401, 404, 410, 429, 500, 503]) {
    const path = `/api/${status}`
    api.on(path, numbered({ 'X-Status': String(status), Location: `${path}/target` }, status))
    const [first, second] = [await ask(tab, path), await ask(tab, path)]
    if (status !== 301) expect([first.status, second.status]).toEqual([status, status])
    kept[status] = api.requests(path).length === 1
  }
  expect(kept).toEqual({
    200: true,
    201: true,
    203: true,
    204: true,
    301: false, // leads to a 404
    400: false,
    401: false,
    404: false,
    410: false,
    429: false,
    500: false,
    503: false,
  })
  const headers = await tab.evaluate(async () => [...(await window.cached('/api/203')).headers])
  expect(headers).toContainEqual(['x-status', '203'])
})

test('1: binary bodies come back byte for byte, in every form', async ({ api, tab }) => {
  const bytes = randomBytes(2_000_000)
  api.on('/api/bytes', (response) => response.setHeader('Content-Type', 'image/x-test').end(bytes))
  const seen = await tab.evaluate(async () => {
    const hash = async (data: ArrayBuffer) => {
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', data))
      return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
    }
    const first = await hash(await (await window.cached('/api/bytes')).arrayBuffer())
    await window.cached.settled()
    const blob = await (await window.cached('/api/bytes')).blob()
    const stream = (await window.cached('/api/bytes')).body!
    const streamed = await new Response(stream).arrayBuffer()
    return { hashes: [first, await hash(await blob.arrayBuffer()), await hash(streamed)], type: blob.type }
  })
  const hash = createHash('sha256').update(bytes).digest('hex')
  expect(seen).toEqual({ hashes: [hash, hash, hash], type: 'image/x-test' })
  expect(api.requests('/api/bytes')).toHaveLength(1)
})

test('1: a stream arrives as it is sent, and is kept when it has ended', async ({ api, tab }) => {
  let finish: () => void = () => undefined
  api.on('/api/stream', (response) => {
    response.write('first,')
    finish = () => response.end('last')
  })
  const first = await tab.evaluate(async () => {
    window.reader = (await window.cached('/api/stream')).body!.getReader()
    return new TextDecoder().decode((await window.reader.read()).value)
  })
  expect(first).toBe('first,')
  finish()
  const last = await tab.evaluate(async () => new TextDecoder().decode((await window.reader.read()).value))
  expect(last).toBe('last')
  expect(await ask(tab, '/api/stream')).toMatchObject({ text: 'first,last' })
  expect(api.requests('/api/stream')).toHaveLength(1)
})

test('1: redirects: url, redirected and type are those of the end, from the store too', async ({ api, tab }) => {
  api.on('/api/old', (response) => response.writeHead(302, { Location: '/api/new' }).end())
  api.on('/api/new', numbered())
  const expected = { status: 200, url: `${api.url}/api/new`, redirected: true, type: 'basic', text: '1' }
  expect(await ask(tab, '/api/old')).toEqual({ ...expected, source: 'network' })
  expect(await ask(tab, '/api/old')).toEqual({ ...expected, source: 'fresh' })
  expect(await ask(tab, '/api/new')).toMatchObject({ url: `${api.url}/api/new`, redirected: false, text: '2' })
  const refused = tab.evaluate(() => window.kit.ask('/api/old', { redirect: 'error' }))
  await expect(refused).rejects.toThrow('Failed to fetch')
  const manual = await tab.evaluate(async () => (await window.cached('/api/old', { redirect: 'manual' })).type)
  expect(manual).toBe('opaqueredirect')
})

test('1: every form of the arguments of fetch, and what it passes on', async ({ api, tab }) => {
  api.on('/api/any', (response, request) => {
    let body = ''
    request.on('data', (data) => (body += data)).on('end', () => response.end(`${request.method} ${body}`))
  })
  const seen = await tab.evaluate(async () => {
    const { ask } = window.kit
    const url = new URL('/api/any', location.href)
    const texts = [
      await ask('/api/any'),
      await ask(url as never),
      await ask(new Request(url) as never),
      await ask('/api/any', { method: 'post', body: 'x' }),
      await ask(new Request(url, { method: 'PUT', body: 'y' }) as never),
      await ask('/api/any', { method: 'HEAD' }),
      await ask('data:,text'),
    ]
    return texts.map(({ text }) => text)
  })
  expect(seen).toEqual(['GET ', 'GET ', 'GET ', 'POST x', 'PUT y', '', 'text'])
  const own = tab.evaluate(() => {
    window.kit.open({ ttl: 60, fetch: window.fetch })
    return window.kit.ask('/api/any?own')
  })
  expect(await own).toMatchObject({ text: 'GET ', source: 'network' })
})

test('1: what is given may be changed after the call, as with fetch', async ({ api, tab }) => {
  api.on('/api/pages', (response, { url, headers }) => response.end(`${url!.slice(-1)}${headers['x-page']}`))
  api.on('/here/list', (response) => response.end('here'))
  api.on('/there/list', (response) => response.end('there'))
  const seen = await tab.evaluate(async () => {
    const url = new URL('/api/pages', origin)
    const headers = new Headers()
    const asked = ['1', '2', '3'].map((page) => {
      url.search = page
      headers.set('x-page', page)
      return window.cached(url, { headers })
    })
    history.replaceState({}, '', '/here/')
    asked.push(window.cached('list'))
    history.replaceState({}, '', '/there/')
    asked.push(window.cached('list'))
    return Promise.all((await Promise.all(asked)).map((response) => response.text()))
  })
  expect(seen).toEqual(['11', '22', '33', 'here', 'there'])
})

test('1: a status that no script can make a response of', async ({ api, tab }) => {
  const head = 'HTTP/1.1 999 Strange\r\nContent-Length: 1\r\nConnection: close\r\n\r\n'
  api.on('/api/999', (response) => response.socket!.end(`${head}x`))
  const statuses = await tab.evaluate(async () => {
    const { signal } = new AbortController()
    return [(await window.cached('/api/999')).status, (await window.cached('/api/999', { signal })).status]
  })
  expect(statuses).toEqual([999, 999])
})

test('2: fresh, then stale with one refresh behind, then only offline, then gone', async ({ api, tab, context }) => {
  api.on('/api/a', numbered())
  await open(tab, { ttl: 1, staleWhileRevalidate: HOUR })
  expect(await ask(tab, '/api/a')).toMatchObject({ source: 'network', text: '1' })
  expect(await ask(tab, '/api/a')).toMatchObject({ source: 'fresh', text: '1' })
  const isFresh = () =>
    tab.evaluate(async () => (await window.cache.responses.get(`${origin}/api/a`))!.freshUntil > Date.now())
  await expect.poll(isFresh).toBe(false)
  const stale = await tab.evaluate(() => Promise.all([1, 2, 3].map(() => window.kit.ask('/api/a'))))
  expect(stale.map(({ source, text }) => [source, text])).toEqual([
    ['stale', '1'],
    ['stale', '1'],
    ['stale', '1'],
  ])
  await tab.evaluate(() => window.cached.settled())
  expect(await ask(tab, '/api/a')).toMatchObject({ text: '2' })
  expect(api.requests('/api/a').length).toBeLessThanOrEqual(3)

  api.on('/api/b', numbered({ 'Cache-Control': 'max-age=0' }))
  await open(tab, { staleIfError: 2 })
  expect(await ask(tab, '/api/b')).toMatchObject({ source: 'network', text: '1' })
  expect(await ask(tab, '/api/b')).toMatchObject({ source: 'network', text: '2' })
  await context.setOffline(true)
  expect(await ask(tab, '/api/b')).toMatchObject({ source: 'fallback', text: '2', status: 200 })
  // By the ordinary rules: from the store, and from the disk.
  await expect.poll(() => tab.evaluate(() => window.cache.responses.get(`${origin}/api/b`))).toBeUndefined()
  await expect(tab.evaluate(() => window.kit.ask('/api/b'))).rejects.toThrow('Failed to fetch')
  await expect.poll(() => tab.evaluate(async () => (await window.cache.responses.stats()).expired)).toBe(0)
})

test('2: a server that fails, or ends the connection, is what staleIfError is for', async ({ api, tab }) => {
  api.on('/api/a', numbered({ 'Cache-Control': 'max-age=0' }))
  await open(tab, { staleIfError: HOUR })
  await ask(tab, '/api/a')
  api.on('/api/a', numbered({}, 500))
  expect(await ask(tab, '/api/a')).toMatchObject({ source: 'fallback', text: '1', status: 200 })
  api.fail(true)
  expect(await ask(tab, '/api/a')).toMatchObject({ source: 'fallback', text: '1' })
  await expect(tab.evaluate(() => window.kit.ask('/api/other'))).rejects.toThrow('Failed to fetch')
  api.fail(false)
  api.on('/api/a', numbered())
  expect(await ask(tab, '/api/a')).toMatchObject({ source: 'network', text: '3' })
})

test('2: a body that breaks off fails for who reads it, and is not kept', async ({ api, tab }) => {
  api.on('/api/torn', (response, _, nth) => {
    if (nth > 1) return response.end('whole')
    response.writeHead(200, { 'Content-Length': '100' }).write('half')
    return setTimeout(() => response.destroy(), 50)
  })
  const torn = tab.evaluate(async () => {
    const response = await window.cached('/api/torn')
    return response.text()
  })
  await expect(torn).rejects.toThrow()
  await tab.evaluate(() => window.cached.settled())
  expect(await tab.evaluate(() => window.cache.responses.query().count())).toBe(0)
  expect(await ask(tab, '/api/torn')).toMatchObject({ text: 'whole' })
})

test('3: ETag and Last-Modified: the server is asked, and a 304 renews what is stored', async ({ api, tab }) => {
  const modified = new Date(0).toUTCString()
  api.on('/api/tagged', (response, request, nth) => {
    const headers = { ETag: '"one"', 'Last-Modified': modified, 'Cache-Control': 'no-cache', 'X-Turn': String(nth) }
    if (request.headers['if-none-match'] === '"one"') return response.writeHead(304, headers).end()
    return response.writeHead(200, headers).end('body')
  })
  const expected = { status: 200, url: `${api.url}/api/tagged`, text: 'body', source: 'network' }
  for (let asked = 0; asked < 3; asked++) expect(await ask(tab, '/api/tagged')).toMatchObject(expected)
  const sent = api.requests('/api/tagged').map((headers) => [headers['if-none-match'], headers['if-modified-since']])
  expect(sent).toEqual([
    [undefined, undefined],
    ['"one"', modified],
    ['"one"', modified],
  ])
  const turn = await tab.evaluate(async () => (await window.cached('/api/tagged')).headers.get('x-turn'))
  expect(turn).toBe('4')
  // The caller’s own question is the caller’s own.
  expect(await ask(tab, '/api/tagged', { headers: { 'If-None-Match': '"one"' } })).toMatchObject({ status: 304 })
})

test('3: what lies behind a redirect is asked for anew once that leads elsewhere', async ({ api, tab }) => {
  let place = ''
  api.on('/api/latest', (response) => response.writeHead(302, { Location: place }).end())
  for (const path of ['/api/v1', '/api/v2']) {
    api.on(path, (response, { headers }) => {
      response.setHeader('ETag', '"same"').setHeader('Cache-Control', 'no-cache')
      return headers['if-none-match'] ? response.writeHead(304).end() : response.end(path)
    })
  }
  for (place of ['/api/v1', '/api/v1', '/api/v2', '/api/v2']) {
    expect(await ask(tab, '/api/latest')).toMatchObject({ text: place, url: api.url + place, redirected: true })
  }
  expect([api.requests('/api/v1').length, api.requests('/api/v2').length]).toEqual([2, 3])
})

test('3: another origin need not allow the question whether something has changed', async ({ api, tab }) => {
  await using other = await serveApi()
  const modified = new Date(0).toUTCString()
  const asked: (string | undefined)[] = []
  let allowed = ''
  other.on('/open', (response, { method, headers }, nth) => {
    response.setHeader('Access-Control-Allow-Origin', '*').setHeader('Access-Control-Allow-Headers', allowed)
    if (method === 'OPTIONS') return response.end()
    asked.push(headers['if-modified-since'])
    response.setHeader('Cache-Control', 'no-cache').setHeader('Last-Modified', modified)
    return headers['if-modified-since'] ? response.writeHead(304).end() : response.end(String(nth))
  })
  const url = `${other.url}/open`
  for (let turn = 0; turn < 3; turn++) expect(await ask(tab, url)).toMatchObject({ status: 200, source: 'network' })
  // Asked in vain once, and never again.
  expect(asked).toEqual([undefined, undefined, undefined])
  expect(other.requests('/open')).toHaveLength(4)

  allowed = 'If-Modified-Since'
  const page = await newTab(tab.context(), api)
  expect(await ask(page, url)).toMatchObject({ status: 200, source: 'network', text: '4' })
  expect(asked.at(-1)).toBe(modified)

  // A network that fails is no refusal.
  await open(page, { ttl: HOUR, staleIfError: HOUR, override: { ttl: 0, staleIfError: HOUR } })
  await ask(page, url)
  other.fail(true)
  expect(await ask(page, url)).toMatchObject({ source: 'fallback' })
  other.fail(false)
  await ask(page, url)
  expect(asked.at(-1)).toBe(modified)
})

test('3: Cache-Control, Age and Expires are obeyed, and can be overridden', async ({ api, tab }) => {
  // The server's clock is ahead: by one that is right, an answer may be a second old when it comes.
  const now = Date.now() + 60_000
  const cases: Record<string, Record<string, string>> = {
    '/api/silent': {},
    '/api/max-age': { 'Cache-Control': 'max-age=100, s-maxage=1' },
    '/api/private': { 'Cache-Control': 'private, max-age=100' },
    '/api/aged': { 'Cache-Control': 'max-age=100', Age: '40' },
    '/api/old': { 'Cache-Control': 'max-age=100', Age: '100' },
    '/api/no-store': { 'Cache-Control': 'no-store' },
    '/api/expires': { Expires: new Date(now + 100_000).toUTCString() },
    '/api/expired': { Expires: '0' },
    '/api/any': { Vary: '*' },
  }
  const look = async () => {
    const ttls: Record<string, number | undefined> = {}
    for (const [path, headers] of Object.entries(cases)) {
      api.on(path, numbered({ Date: new Date(now).toUTCString(), ...headers }))
      await ask(tab, path)
      ttls[path] = await tab.evaluate(async (at) => (await window.cache.responses.get(origin + at))?.ttl, path)
    }
    return ttls
  }
  expect(await look()).toMatchObject({
    '/api/silent': HOUR,
    '/api/max-age': 100,
    '/api/private': 100,
    '/api/aged': 60,
    '/api/old': undefined,
    '/api/no-store': undefined,
    '/api/expires': 100,
    '/api/expired': undefined,
    '/api/any': undefined,
  })
  await tab.evaluate(() => window.cached.clear())
  await open(tab, { override: { ttl: 200 } })
  expect(await look()).toMatchObject({ '/api/silent': 200, '/api/max-age': 200, '/api/no-store': 200, '/api/old': 100 })
})

test('3: the browser’s own cache does not answer in the server’s place', async ({ api, tab }) => {
  api.on('/api/cached', numbered({ 'Cache-Control': 'max-age=3600' }))
  await ask(tab, '/api/cached')
  await tab.evaluate(() => window.cached.invalidate('/api/cached'))
  expect(await ask(tab, '/api/cached')).toMatchObject({ source: 'network', text: '2' })
})

test('3, 5: Vary chooses between variants that lie side by side', async ({ api, tab }) => {
  api.on('/api/page', (response, request, nth) => {
    response.writeHead(200, { Vary: 'Accept-Language, Accept-Encoding' })
    return response.end(`${request.headers['accept-language']} ${nth}`)
  })
  const seen = []
  for (const language of ['de', 'fr', 'de', 'fr']) {
    seen.push((await ask(tab, '/api/page', { headers: { 'Accept-Language': language } })).text)
  }
  expect(seen).toEqual(['de 1', 'fr 2', 'de 1', 'fr 2'])
})

test('4: ten that ask at once cause one request; one that aborts does not abort the others', async ({ api, tab }) => {
  let answer: () => void = () => undefined
  api.on('/api/slow', (response) => (answer = () => response.end('slow')))
  await tab.evaluate(() => {
    window.aborts = Array.from({ length: 10 }, () => new AbortController())
    window.answers = window.aborts.map(({ signal }) =>
      window.kit.ask('/api/slow', { signal }).then(
        ({ text }) => text,
        (error: Error) => error.name,
      ),
    )
  })
  await expect.poll(() => api.requests('/api/slow').length).toBe(1)
  expect(await tab.evaluate(() => (window.aborts[3]!.abort(), window.answers[3]))).toBe('AbortError')
  answer()
  const texts = await tab.evaluate(() => Promise.all(window.answers))
  expect(texts).toEqual(Array.from({ length: 10 }, (_, n) => (n === 3 ? 'AbortError' : 'slow')))
  expect(api.requests('/api/slow')).toHaveLength(1)
})

test('4: when all have aborted the server sees it, before the answer and in the middle of it', async ({ api, tab }) => {
  for (const part of ['', 'part']) {
    const path = `/api/left${part}`
    let isClosed = false
    api.on(path, (response) => {
      response.on('close', () => (isClosed = true))
      if (part) response.write(part)
    })
    await tab.evaluate(async (at) => {
      window.aborts = [new AbortController(), new AbortController()]
      window.answers = window.aborts.map(({ signal }) =>
        window.kit.ask(at, { signal }).catch((error: unknown) => String(error)),
      )
    }, path)
    await expect.poll(() => api.requests(path).length).toBe(1)
    await tab.evaluate(() => window.aborts.forEach((controller, at) => controller.abort(`reason ${at}`)))
    expect(await tab.evaluate(() => Promise.all(window.answers))).toEqual(['reason 0', 'reason 1'])
    await expect.poll(() => isClosed).toBe(true)
  }
  await tab.evaluate(() => window.cached.settled())
  expect(await tab.evaluate(() => window.cache.responses.query().count())).toBe(0)
})

test('5: with credentials an answer is kept only when told to, and for its user', async ({ api, tab }) => {
  api.on('/api/me', (response, { headers }, nth) => response.end(`${headers.authorization} ${nth}`))
  const as = (user: string): RequestInit => ({ headers: { Authorization: user } })
  const all = async () => {
    const seen = []
    for (const init of [as('ann'), as('bob'), as('ann'), undefined]) seen.push((await ask(tab, '/api/me', init)).text)
    return seen
  }
  expect(await all()).toEqual(['ann 1', 'bob 2', 'ann 3', 'undefined 4'])
  expect(await ask(tab, '/api/me', { credentials: 'include' })).toMatchObject({ text: 'undefined 5' })
  expect(await tab.evaluate(() => window.cache.responses.query().count())).toBe(1)
  await open(tab, { ttl: HOUR, credentials: 'keep' })
  expect(await all()).toEqual(['ann 6', 'bob 7', 'ann 6', 'undefined 4'])
  const stored = await tab.evaluate(async () => JSON.stringify(await window.cache.responses.query().get()))
  expect(stored).not.toMatch(/authorization/i)
})

test('5: another origin: what a script may see is kept, what is opaque is not', async ({ api, tab }) => {
  await using other = await serveApi()
  other.on('/open', (response, _, nth) => response.setHeader('Access-Control-Allow-Origin', '*').end(String(nth)))
  other.on('/closed', numbered())
  const url = `${other.url}/open`
  expect(await ask(tab, url)).toMatchObject({ type: 'cors', text: '1', url })
  expect(await ask(tab, url)).toMatchObject({ type: 'cors', text: '1', url, source: 'fresh' })
  // Its Vary is not to be seen, so every header may matter.
  expect(await ask(tab, url, { headers: { 'Accept-Language': 'de' } })).toMatchObject({ text: '2' })
  for (let asked = 0; asked < 2; asked++) {
    expect(await ask(tab, `${other.url}/closed`, { mode: 'no-cors' })).toMatchObject({ type: 'opaque', status: 0 })
  }
  expect(other.requests('/closed')).toHaveLength(2)
  expect(api.requests('/open')).toHaveLength(0)
})

test('5: clear() has removed everything from the disk when it resolves, and nothing comes after', async ({
  api,
  tab,
}) => {
  api.on('/api/a', numbered())
  let answer: () => void = () => undefined
  api.on('/api/slow', (response) => (answer = () => response.end('slow')))
  await ask(tab, '/api/a')
  await tab.evaluate(() => {
    window.answers = [window.kit.ask('/api/slow')]
  })
  await expect.poll(() => api.requests('/api/slow').length).toBe(1)
  const onDisk = () =>
    tab.evaluate(async () => {
      const request = indexedDB.open('cache')
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result))
        request.addEventListener('error', () => reject(request.error!))
      })
      const all = database.transaction('responses').objectStore('responses').getAllKeys()
      await new Promise((resolve) => all.addEventListener('success', resolve))
      database.close()
      // The store keeps a note of its own there.
      return all.result.filter((key) => typeof key === 'string')
    })
  expect(await onDisk()).toHaveLength(1)
  await tab.evaluate(() => window.cached.clear())
  expect(await onDisk()).toEqual([])
  answer()
  expect(await tab.evaluate(() => Promise.all(window.answers))).toMatchObject([{ text: 'slow' }])
  await tab.evaluate(() => window.cached.settled())
  expect(await onDisk()).toEqual([])
})

test('5: a log-out in one tab is one for what another tab is waiting for', async ({ api, tab, context }) => {
  let answer: () => void = () => undefined
  api.on('/api/slow', (response) => (answer = () => response.end('slow')))
  await tab.evaluate(() => {
    window.answers = [window.kit.ask('/api/slow')]
  })
  await expect.poll(() => api.requests('/api/slow').length).toBe(1)
  const other = await newTab(context, api)
  await other.evaluate(() => window.cached.clear())
  answer()
  const left = await tab.evaluate(async () => {
    await Promise.all(window.answers)
    await window.cached.settled()
    return window.cache.responses.query().count()
  })
  expect(left).toBe(0)
})

test('5: a relative address is relative to what the page says', async ({ api, tab }) => {
  api.on('/app/x', numbered())
  await tab.evaluate(() => document.head.prepend(Object.assign(document.createElement('base'), { href: '/app/' })))
  expect((await ask(tab, 'x')).text).toBe('1')
  expect(await tab.evaluate(() => window.cached.invalidate('x'))).toBe(1)
  expect((await ask(tab, 'x')).text).toBe('2')
})

test('5: a change invalidates its address; invalidate takes an address or a function', async ({ api, tab }) => {
  for (const path of ['/api/a', '/api/b', '/api/c']) {
    api.on(path, numbered())
    await ask(tab, path)
  }
  await ask(tab, '/api/a', { method: 'POST', body: 'x' })
  expect(await tab.evaluate(() => window.cached.invalidate('/api/b'))).toBe(1)
  expect(await tab.evaluate(() => window.cached.invalidate((url) => url.endsWith('c')))).toBe(1)
  const seen = []
  for (const path of ['/api/a', '/api/b', '/api/c']) seen.push((await ask(tab, path)).text)
  expect(seen).toEqual(['3', '2', '2'])
})

test('what one tab has stored another has, and an older answer does not overwrite it', async ({
  api,
  context,
  tab,
}) => {
  const other = await newTab(context, api)
  let answer: () => void = () => undefined
  api.on('/api/a', (response, _, nth) => {
    if (nth > 1) return response.end(String(nth))
    return (answer = () => response.end('1'))
  })
  await tab.evaluate(() => {
    window.answers = [window.kit.ask('/api/a')]
  })
  await expect.poll(() => api.requests('/api/a').length).toBe(1)
  expect(await ask(other, '/api/a')).toMatchObject({ text: '2' })
  answer()
  expect(await tab.evaluate(() => Promise.all(window.answers))).toMatchObject([{ text: '1' }])
  await tab.evaluate(() => window.cached.settled())
  expect(await ask(tab, '/api/a')).toMatchObject({ text: '2', source: 'fresh' })
})

test('a full disk does not break the fetch', async ({ api, context }) => {
  const tab = await context.newPage()
  const session = await context.newCDPSession(tab)
  await session.send('Storage.overrideQuotaForOrigin', { origin: api.url, quotaSize: 1_000_000 })
  await tab.goto(`${api.url}/fetch.html`)
  await tab.waitForFunction(() => 'kit' in window)
  await open(tab, { ttl: HOUR })
  api.on('/api/large', (response) => response.end(randomBytes(5_000_000)))
  const length = await tab.evaluate(async () => {
    const { byteLength } = await (await window.cached('/api/large')).arrayBuffer()
    await window.cached.settled()
    return byteLength
  })
  expect(length).toBe(5_000_000)
  expect(await tab.evaluate(() => window.cache.responses.query().count())).toBe(0)
})

test('6: anything that is loaded: get, refresh, and offline', async ({ tab }) => {
  const seen = await tab.evaluate(async () => {
    let loads = 0
    let isOffline = false
    const load = async (key: string) => {
      if (isOffline) throw new Error('offline')
      return { key, at: new Date(0), loads: ++loads }
    }
    const cache = window.kit.cached(window.cache.values, { load, ttl: 0, staleIfError: 60 })
    const first = await Promise.all([cache.get('a'), cache.get('a')])
    const second = await cache.refresh('a')
    isOffline = true
    const third = (await cache.get('a')) as typeof second
    return [first[0], first[1], second, third].map((value) => (value as { loads: number }).loads)
  })
  expect(seen).toEqual([1, 1, 2, 2])
})

test('6: a subscriber hears of what another tab loads and removes', async ({ api, context, tab }) => {
  const other = await newTab(context, api)
  await tab.evaluate(() => {
    window.answers = []
    const cache = window.kit.cached(window.cache.values, { load: (key) => `${key} here`, ttl: 60 })
    cache.subscribe('a', (value) => void window.answers.push(Promise.resolve(value ?? null)))
  })
  const heard = () => tab.evaluate(() => Promise.all(window.answers))
  await expect.poll(heard).toEqual(['a here'])
  const there = (act: 'refresh' | 'invalidate') =>
    other.evaluate(async (what) => {
      const cache = window.kit.cached(window.cache.values, { load: (key) => `${key} there`, ttl: 60 })
      await cache[what]('a')
    }, act)
  await there('refresh')
  await expect.poll(heard).toEqual(['a here', 'a there'])
  await there('invalidate')
  await expect.poll(heard).toEqual(['a here', 'a there', null])
})

test('7: a service worker of fifteen lines: the page reloads offline', async ({ api, context }) => {
  api.on('/api/time', numbered())
  const page = await context.newPage()
  await page.goto(`${api.url}/pwa/`)
  await expect(page.locator('body')).toHaveAttribute('data-done', 'yes')
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated')
  await page.reload()
  await expect(page.locator('body')).toHaveAttribute('data-done', 'yes')
  const shown = await page.locator('h1').textContent()
  expect(Number(shown)).toBeGreaterThan(0)
  // Both: the worker’s requests are not the page’s.
  await context.setOffline(true)
  api.fail(true)
  await page.reload()
  await expect(page.locator('body')).toHaveAttribute('data-done', 'yes')
  expect(await page.locator('h1').textContent()).toBe(shown)
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)')
})
