import { collection, openStore } from '/dist/index.js'
import { cached, cachedFetch, sourceOf } from '/dist/fetch.js'

/** What tests find on the page: a store for responses, and a cached fetch with the options that they give. */
window.kit = {
  cached,
  sourceOf,
  open(options) {
    window.cache = openStore('cache', {
      responses: collection({ defaultTtl: -1 }),
      values: collection({ defaultTtl: -1 }),
    })
    window.cached = cachedFetch(window.cache.responses, options)
  },
  /** Asks, and says what has come. */
  async ask(path, init) {
    const response = await window.cached(path, init)
    const { status, url, redirected, type } = response
    const source = sourceOf(response)
    return { status, url, redirected, type, source, text: await response.text() }
  },
}
