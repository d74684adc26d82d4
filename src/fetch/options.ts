import { fail } from '../errors.js'
import { checkLifetimes } from './lifetimes.js'
import type { Lifetimes } from './lifetimes.js'
import { Network } from './network.js'

/** The lifetimes here hold where the server says nothing. */
export interface CachedFetchOptions extends Lifetimes {
  /** Lifetimes that hold whatever the server says; those that are left out stay with the server. */
  override?: Lifetimes | undefined
  /**
   * What tells two requests for one address apart, beyond what the server names in `Vary`: the names of headers, or a
   * function that gives a text (the user, say, or the tenant).
   */
  key?: readonly string[] | ((request: Request) => string) | undefined
  /** Whether a response is worth keeping; every successful one (2xx) unless told. It must not read the body. */
  keep?: ((response: Response, request: Request) => boolean) | undefined
  /**
   * The methods whose answers are kept; `['GET']` unless told. The body of a request is part of its key. Methods that are
   * not named go straight to the network, and a successful one that may change something invalidates its address.
   */
  methods?: readonly string[] | undefined
  /**
   * `'keep'` keeps answers to requests that carry credentials: an `Authorization` header, whose value becomes part of
   * the key, or `credentials: 'include'`, behind which nobody can see who it is: call `clear()` at log-out.
   * Unless told they are never kept, nor served from what is.
   */
  credentials?: 'pass' | 'keep' | undefined
  /** The function that goes to the network; the global `fetch` unless told. */
  fetch?: typeof fetch | undefined
  /**
   * Is told what goes wrong behind the scenes: the store cannot be read or written, a refresh fails. Whoever asked has
   * got, or will get, an answer all the same.
   */
  onError?: ((error: unknown) => void) | undefined
}

export interface Rules {
  defaults: Lifetimes
  override: Lifetimes
  key: CachedFetchOptions['key']
  keep: (response: Response, request: Request) => boolean
  methods: ReadonlySet<string>
  keepsCredentials: boolean
  network: Network
  onError: CachedFetchOptions['onError']
}

/** The options, checked and with what holds when they are left out. */
export function rulesOf(options: CachedFetchOptions): Rules {
  const defaults = checkLifetimes(options)
  const {
    override = {},
    fetch: given,
    key,
    keep = isWorthKeeping,
    methods = ['GET'],
    credentials = 'pass',
    onError,
  } = options
  if (key !== undefined && typeof key !== 'function' && !isTexts(key)) {
    throw fail('invalid', {}, 'key is a list of header names or a function.')
  }
  for (const [name, value] of Object.entries({ keep, fetch: given, onError })) {
    if (value !== undefined && typeof value !== 'function') throw fail('invalid', {}, `${name} is a function.`)
  }
  if (!isTexts(methods)) throw fail('invalid', {}, 'methods is a list.')
  if (credentials !== 'pass' && credentials !== 'keep') {
    throw fail('invalid', {}, "credentials is 'pass' or 'keep'.")
  }
  return {
    defaults,
    override: checkLifetimes(override),
    key,
    keep,
    methods: new Set(methods.map((method) => method.toUpperCase())),
    keepsCredentials: credentials === 'keep',
    network: new Network(given),
    onError,
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

/** A stream of events never ends, so it can be kept by nobody. */
function isWorthKeeping({ ok, headers }: Response): boolean {
  return ok && !headers.get('content-type')?.startsWith('text/event-stream')
}
