import { collection, openStore } from 'mayfly/service-worker'
import { cachedFetch } from 'mayfly/fetch'
import type { CachedResponse } from 'mayfly/fetch'

/** Every file of the page; the build puts them in. */
declare const FILES: string[]

interface Waiting extends Event {
  waitUntil(work: Promise<unknown>): void
}

interface Fetching extends Waiting {
  request: Request
  respondWith(response: Promise<Response>): void
}

interface Scope {
  skipWaiting(): Promise<void>
  clients: { claim(): Promise<void> }
  addEventListener(type: 'install' | 'activate', listener: (event: Waiting) => void): void
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void
}

const scope = globalThis as unknown as Scope
const DAY = 24 * 60 * 60

/** The page itself is kept by mayfly: new from the network while there is one. What old builds left behind expires. */
const store = openStore('mayfly-demo-files', { files: collection<CachedResponse>({ defaultTtl: -1 }) })
// Whatever the server says: many servers of files send `no-cache`, which forbids to keep them for later.
const cached = cachedFetch(store.files, { override: { staleIfError: 180 * DAY } })
const known = new Set(FILES.map((file) => new URL(file, location.href).href))
const pages = ['./', './index.html'].map((file) => new URL(file, location.href).pathname)

scope.addEventListener('install', (event) => {
  const keep = async () => {
    await Promise.all(FILES.map((file) => cached(file)))
    await cached.settled()
    await scope.skipWaiting()
  }
  event.waitUntil(keep())
})

scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()))

scope.addEventListener('fetch', (event) => {
  const { request } = event
  const isPage = request.mode === 'navigate' && pages.includes(new URL(request.url).pathname)
  // The API is none of its business: the page has a cache of its own for that. Nor are other pages of this address.
  if (!isPage && !known.has(request.url)) return
  const response = isPage ? cached('./') : cached(request)
  event.respondWith(response)
  event.waitUntil(
    response.then(
      () => cached.settled(),
      () => undefined,
    ),
  )
})
