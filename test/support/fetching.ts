import { collection } from 'mayfly'
import { cachedFetch } from 'mayfly/fetch'
import type { CachedFetchOptions, CachedResponse } from 'mayfly/fetch'
import { here, Network } from './network.js'
import { newName, open } from './stores.js'

/** A cached fetch with a network of its own, in a tab of its own where the store has a name. */
export function setUp(options: CachedFetchOptions = { ttl: 60 }, name = newName()) {
  const network = new Network()
  const store = open({ responses: collection<CachedResponse>({ defaultTtl: -1 }) }, name)
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const cached = cachedFetch(store.responses, { fetch: network.fetch, onError, ...options })
  const text = async (path = '/a', init?: RequestInit) => (await cached(here(path), init)).text()
  return { network, store, errors, cached, text, count: () => store.responses.query().count() }
}
