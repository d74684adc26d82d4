import { fail } from '../errors.js'
import type { Collection, Stored } from '../types.js'
import { taken } from './arguments.js'
import { Background } from './background.js'
import { demandOf, mayReplace, stateFor } from './demand.js'
import { abortable, Flights } from './flights.js'
import { addressOf, hasCredentials, keyOf, textOf } from './key.js'
import { Loader } from './loader.js'
import type { Ask, Outcome } from './loader.js'
import { rulesOf } from './options.js'
import type { CachedFetchOptions, Rules } from './options.js'
import { copyOf, toResponse } from './record.js'
import type { CachedResponse } from './record.js'
import { Responses } from './responses.js'
import { Shelf } from './shelf.js'

/** `fetch` with a cache: the same arguments, the same answers. */
export interface CachedFetch {
  (input: RequestInfo | URL, init?: RequestInit): Promise<Response>
  /**
   * Removes what is kept for an address, whatever its variants, or all that the function is true for, from the disk
   * before it resolves; how many documents there were. What was asked for before will not be kept when it comes.
   */
  invalidate(target: string | URL | Request | ((url: string, response: CachedResponse) => boolean)): Promise<number>
  /** Removes everything from the collection, and so from the disk, before it resolves: for log-out. */
  clear(): Promise<void>
  /**
   * Resolves when nothing goes on behind any more: what came has been stored, refreshes have ended. A service worker
   * must not be stopped before that: `event.waitUntil(response.then(cached.settled))`.
   */
  settled(): Promise<void>
}

/**
 * Makes a `fetch` that keeps answers in a collection, declared as `collection<CachedResponse>({ defaultTtl: -1 })`.
 * The network's answers come as they would without it, streaming; the store can fail and nobody notices, but for
 * `onError`. With time to live off in the collection every call fails with `invalid`.
 */
export function cachedFetch(collection: Collection<CachedResponse>, options: CachedFetchOptions = {}): CachedFetch {
  const cache = new ResponseCache(collection, rulesOf(options))
  return Object.assign((input: RequestInfo | URL, init?: RequestInit) => cache.fetch(input, init), {
    invalidate: cache.invalidate,
    clear: cache.clear,
    settled: cache.settled,
  })
}

type Entry = Stored<CachedResponse>

class ResponseCache {
  readonly #rules: Rules
  readonly #background: Background
  readonly #responses: Responses
  readonly #loader: Loader
  readonly #flights = new Flights<Outcome>()
  /** The ids of what is being refreshed behind. */
  readonly #refreshing = new Set<string>()

  constructor(collection: Collection<CachedResponse>, rules: Rules) {
    this.#rules = rules
    this.#background = new Background(rules.onError)
    this.#responses = new Responses(new Shelf(collection, this.#background, ({ url }) => url))
    this.#loader = new Loader(rules, this.#responses, this.#background)
  }

  async fetch(input: RequestInfo | URL, init: RequestInit | undefined): Promise<Response> {
    const { network } = this.#rules
    if (network.isLeaving) return network.send(input, init)
    const given = typeof input === 'object' && 'method' in input ? input : undefined
    const method = (init?.method ?? given?.method ?? 'GET').toUpperCase()
    if (!this.#rules.methods.has(method)) return this.#pass(method, input, init)
    const request = new Request(input, init)
    const demand = demandOf(request)
    if (!demand) return method === 'GET' ? network.send(input, init) : network.send(request)
    const signal = init?.signal === undefined ? given?.signal : init.signal
    signal?.throwIfAborted()
    const isKept = this.#rules.keepsCredentials || !hasCredentials(request, given?.destination)
    return abortable(this.#ask({ ...taken(input, init, request), request, demand, signal, isKept }), signal)
  }

  readonly invalidate: CachedFetch['invalidate'] = async (target) => {
    if (typeof target === 'function') return this.#responses.shelf.remove((doc) => target(doc.url, doc))
    return this.#responses.removeAll(addressOf(target))
  }

  readonly clear = (): Promise<void> => this.#responses.shelf.clear()

  readonly settled = (): Promise<void> => this.#background.settled()

  async #ask(call: Omit<Ask, 'key' | 'permit'>): Promise<Response> {
    const permit = this.#responses.shelf.permit()
    const ask: Ask = { ...call, permit, key: await keyOf(call.request, this.#rules) }
    const { demand, signal } = ask
    const entry = ask.isKept ? await this.#responses.find(ask.key, ask.request) : undefined
    const served = entry && this.#serve(ask, entry)
    if (served) return served
    if (demand === 'nothing') throw new TypeError('Failed to fetch: nothing is cached.')
    signal?.throwIfAborted()
    const fallback = () => {
      signal?.throwIfAborted()
      return entry && mayReplace(demand, entry) ? toResponse(entry, 'fallback') : undefined
    }
    try {
      const outcome = await this.#join(ask, entry, signal)
      if (outcome.answer) return toResponse(outcome.answer, 'network')
      return (outcome.isFailure && fallback()) || copyOf(outcome.response, signal)
    } catch (error) {
      const stored = fallback()
      if (stored) return stored
      throw error
    }
  }

  /** What can be given without the network; undefined when nothing can. */
  #serve(ask: Ask, entry: Entry): Response | undefined {
    const state = stateFor(ask.request, entry)
    const { demand } = ask
    if (demand === 'checked' || demand === 'new' || state === 'past') return undefined
    if (state === 'fresh') return toResponse(entry, 'fresh')
    if (demand === 'cached') {
      if (state !== 'stale') return undefined
      void this.#background.run(this.#refresh(ask, entry))
    }
    return toResponse(entry, 'stale')
  }

  /** One at a time, and nobody's signal ends it. */
  async #refresh(ask: Ask, entry: Entry): Promise<void> {
    if (this.#refreshing.has(entry.id)) return
    this.#refreshing.add(entry.id)
    try {
      const { isFailure, response } = await this.#join(ask, entry, null)
      if (isFailure) throw fail('failed', {}, `${entry.url} was answered with ${response.status}.`)
    } finally {
      this.#refreshing.delete(entry.id)
    }
  }

  #join(ask: Ask, entry: Entry | undefined, signal: AbortSignal | null | undefined): Promise<Outcome> {
    const { key } = ask
    // Not that of the call: what is sent now knows of what was removed since.
    const permit = this.#responses.shelf.permit()
    return this.#flights.join(key.request, this.#loader.load(ask, entry), () => permit.holds(key.url), signal)
  }

  /** Past the cache; but what a successful request may have changed is not kept any longer. */
  async #pass(method: string, input: RequestInfo | URL, init: RequestInit | undefined): Promise<Response> {
    const target = textOf(input)
    const response = await this.#rules.network.send(input, init)
    if (SAFE.includes(method) || !(response.status < 400)) return response
    try {
      await this.invalidate(target)
    } catch (error) {
      this.#background.report(error)
    }
    return response
  }
}

/** Methods that change nothing. */
const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE']
