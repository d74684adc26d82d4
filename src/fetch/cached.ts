import { fail } from '../errors.js'
import type { Collection, Stored } from '../index.js'
import { Background } from './background.js'
import { digest } from './digest.js'
import { abortable, Flights } from './flights.js'
import { checkLifetimes, nextMoment, spanOf, stateOf, timesOf } from './lifetimes.js'
import type { Lifetimes, Span, Timed } from './lifetimes.js'
import type { Permit } from './permits.js'
import { Shelf } from './shelf.js'

/** A loaded value as it is kept: the document type of the collection that is given to `cached`. */
export interface CachedValue<V = unknown> extends Timed {
  /** The key that it was loaded by. */
  key: string
  /** What `load` brought. */
  value: V
}

/** What is loaded, and how long it is good for. */
export interface CachedOptions<V> extends Lifetimes {
  /** Seconds for which a value is fresh; -1: for ever. */
  ttl: number
  /** Loads a value. The signal says that nobody waits for it any more. */
  load: (key: string, options: { signal: AbortSignal }) => V | Promise<V>
  /** Is told what goes wrong behind the scenes: the store cannot be read or written, a refresh fails. */
  onError?: ((error: unknown) => void) | undefined
}

/** A cache of anything that is loaded by a key. */
export interface Cached<V> {
  /** The value: from the cache if that is good enough, otherwise loaded, once for all who ask meanwhile. */
  get(key: string, options?: { signal?: AbortSignal | undefined }): Promise<V>
  /** Loads the value now, or joins those who wait for it already. Fails when loading does. */
  refresh(key: string, options?: { signal?: AbortSignal | undefined }): Promise<V>
  /**
   * Calls with the value, which is loaded if need be, and again whenever another is stored, here or in another tab; with
   * undefined when it is gone. Returns what ends it.
   */
  subscribe(key: string, listener: (value: V | undefined) => void, onError?: (error: unknown) => void): () => void
  /** Removes a value, or all whose key the function is true for, from the disk before it resolves; how many. */
  invalidate(target: string | ((key: string, value: V) => boolean)): Promise<number>
  /** Removes everything from the collection, and so from the disk, before it resolves. */
  clear(): Promise<void>
  /** Resolves when nothing goes on behind any more. */
  settled(): Promise<void>
}

/**
 * Makes a cache of whatever `load` brings, in a collection declared as `collection<CachedValue>({ defaultTtl: -1 })`.
 * Values may be anything that IndexedDB can store.
 */
export function cached<V>(collection: Collection<CachedValue<V>>, options: CachedOptions<V>): Cached<V> {
  return new ValueCache(collection, options)
}

/** What a load came to: as stored, or as it would have been. */
type Loaded<V> = CachedValue<V> & { _etag?: string }

class ValueCache<V> implements Cached<V> {
  readonly #collection: Collection<CachedValue<V>>
  readonly #load: CachedOptions<V>['load']
  readonly #span: Span
  readonly #background: Background
  readonly #shelf: Shelf<CachedValue<V>>
  readonly #flights = new Flights<Loaded<V>>()

  constructor(collection: Collection<CachedValue<V>>, options: CachedOptions<V>) {
    const lifetimes = checkLifetimes(options)
    const { load, onError } = options
    if (typeof load !== 'function') throw fail('invalid', {}, 'load is a function that brings the value of a key.')
    if (lifetimes.ttl === undefined) throw fail('invalid', {}, 'ttl says for how many seconds a value is fresh.')
    this.#collection = collection
    this.#load = load
    this.#span = spanOf(lifetimes)
    this.#background = new Background(onError)
    this.#shelf = new Shelf(collection, this.#background, ({ key }) => key)
  }

  readonly get: Cached<V>['get'] = async (key, { signal } = {}) => {
    signal?.throwIfAborted()
    return (await abortable(this.#find(key, signal), signal)).value
  }

  readonly refresh: Cached<V>['refresh'] = async (key, { signal } = {}) => {
    signal?.throwIfAborted()
    const permit = this.#shelf.permit()
    const known = await abortable(this.#shelf.find(idOf(key)), signal)
    return (await this.#join({ key, known, permit }, signal)).value
  }

  readonly subscribe: Cached<V>['subscribe'] = (key, listener, onError) => {
    let given: Loaded<V> | undefined
    const ending = new AbortController()
    const { signal } = ending
    const give = (loaded: Loaded<V> | undefined) => {
      const isKnown = loaded === given || (loaded?._etag !== undefined && loaded._etag === given?._etag)
      const isOld = loaded && given && loaded.askedAt < given.askedAt
      if (signal.aborted || isKnown || isOld) return
      given = loaded
      listener(loaded?.value)
    }
    const fail = (error: unknown) =>
      signal.aborted ? undefined : (onError ?? ((e) => this.#background.report(e)))(error)
    const query = this.#collection.query({ where: { id: idOf(key) } as never })
    // What may be given only if loading fails waits for that.
    const stop = query.subscribe(([doc]) => {
      if (!doc || given || isServable(doc)) give(doc)
    }, fail)
    void this.#find(key, signal).then(give, fail)
    return () => {
      ending.abort()
      stop()
    }
  }

  readonly invalidate: Cached<V>['invalidate'] = async (target) => {
    if (typeof target === 'function') return this.#shelf.remove((doc) => target(doc.key, doc.value))
    return this.#shelf.removeNamed(target, { id: idOf(target) } as never)
  }

  readonly clear = (): Promise<void> => this.#shelf.clear()

  readonly settled = (): Promise<void> => this.#background.settled()

  async #find(key: string, signal?: AbortSignal): Promise<Loaded<V>> {
    const permit = this.#shelf.permit()
    const known = await this.#shelf.find(idOf(key))
    const ask = { key, known, permit }
    const state = known ? stateOf(known) : 'past'
    if (known && state === 'fresh') return known
    if (known && state === 'stale') {
      // Nobody's signal ends a refresh.
      void this.#background.run(this.#join(ask))
      return known
    }
    try {
      return await this.#join(ask, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (known && stateOf(known) !== 'past') return known
      throw error
    }
  }

  #join({ key, known, permit }: Ask<V>, signal?: AbortSignal): Promise<Loaded<V>> {
    signal?.throwIfAborted()
    const work = async (stop: AbortSignal): Promise<Loaded<V>> => {
      const askedAt = nextMoment()
      const value = await this.#load(key, { signal: stop })
      const doc = { ...timesOf(this.#span, askedAt, Date.now()), id: idOf(key), key, value }
      return (await this.#put(doc, permit, known)) ?? doc
    }
    // Not that of the call: what is loaded from now on knows of what was removed since.
    const current = this.#shelf.permit()
    return this.#flights.join(key, work, () => current.holds(key), signal)
  }

  /** A value that cannot be stored is given all the same. */
  async #put(...args: Parameters<Shelf<CachedValue<V>>['put']>): Promise<Known<V>> {
    try {
      return await this.#shelf.put(...args)
    } catch (error) {
      this.#background.report(error)
      return undefined
    }
  }
}

type Known<V> = Stored<CachedValue<V>> | undefined

interface Ask<V> {
  key: string
  known: Known<V>
  permit: Permit<CachedValue<V>>
}

function isServable(doc: Timed): boolean {
  const state = stateOf(doc)
  return state === 'fresh' || state === 'stale'
}

/** Ids have 1 to 1,023 bytes; a key may have any number. */
const LONGEST = 300

/** No two keys have the same id: the made ones are longer than those that are a key. */
function idOf(key: string): string {
  if (typeof key !== 'string') throw fail('invalid', {}, 'a key is a string.')
  return key !== '' && key.length <= LONGEST ? key : `${key.slice(0, LONGEST).padEnd(LONGEST)} ${digest(key)}`
}
