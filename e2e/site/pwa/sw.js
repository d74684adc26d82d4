import { collection, openStore } from '/dist/service-worker.js'
import { cachedFetch } from '/dist/fetch.js'

const store = openStore('offline', { responses: collection({ defaultTtl: -1 }) })
const cached = cachedFetch(store.responses, { staleIfError: 30 * 24 * 60 * 60 })
const files = ['./', './app.js', './app.css']

addEventListener('install', (event) => {
  event.waitUntil(Promise.all(files.map((file) => cached(file))).then(cached.settled))
})
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => {
  const response = cached(event.request)
  event.respondWith(response)
  event.waitUntil(response.then(cached.settled, () => undefined))
})
