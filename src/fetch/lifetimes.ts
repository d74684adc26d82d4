import { fail } from '../errors.js'

/** How long something that was loaded is good for, in seconds; -1: for ever. */
export interface Lifetimes {
  /** Fresh: given without asking anybody. */
  ttl?: number | undefined
  /** After that, for so long: given at once, while one refresh runs behind. */
  staleWhileRevalidate?: number | undefined
  /** After `ttl`, for so long: given only if loading fails, as it does offline. */
  staleIfError?: number | undefined
}

/** The ends of the lifetimes, in seconds since the thing was made. */
export interface Span {
  fresh: number
  stale: number
  fallback: number
  /** The end of it all. What is kept beyond the other three is only good for asking whether it has changed. */
  kept: number
}

/** When something was loaded and what its times are: milliseconds since 1970. */
export interface Timed {
  /** Made from the address or the key. */
  id: string
  /** When it was asked for. Of two answers, the one that was asked for later counts. */
  askedAt: number
  /** When it was made, as far as is known: it may have been on the way, or in other caches, for a while. */
  madeAt: number
  /** Until when it is given without asking anybody. */
  freshUntil: number
  /** Until when it is given at once, while a refresh runs behind. */
  staleUntil: number
  /** Until when it is given if loading fails. */
  fallbackUntil: number
  /** Seconds until the longest of the lifetimes is over: the document's own time to live. */
  ttl?: number
}

export type State = 'fresh' | 'stale' | 'fallback' | 'past'

/** The longest ttl of a document. */
const LONGEST = 2_147_483_647

/** A clock that was set back by more than this says nothing about what is fresh. */
const SMALL_STEP = 5 * 60 * 1000

export function spanOf({ ttl = 0, staleWhileRevalidate = 0, staleIfError = 0 }: Lifetimes): Span {
  const stale = ttl + staleWhileRevalidate
  const fallback = ttl + staleIfError
  return { fresh: ttl, stale, fallback, kept: Math.max(stale, fallback) }
}

/** The times of what was asked for, received at the age of so many seconds, and will be written now. */
export function timesOf(span: Span, askedAt: number, receivedAt: number, age = 0): Omit<Timed, 'id'> {
  const madeAt = receivedAt - age * 1000
  const until = (seconds: number) => madeAt + seconds * 1000
  // Whole seconds, so that a ttl is what was said unless receiving it took long.
  const ttl = span.kept - age - Math.floor((Date.now() - receivedAt) / 1000)
  return {
    askedAt,
    madeAt,
    freshUntil: until(span.fresh),
    staleUntil: until(span.stale),
    fallbackUntil: until(span.fallback),
    ttl: ttl === Infinity ? -1 : Math.min(ttl, LONGEST),
  }
}

/** Whether there is any time left. */
export function lives({ ttl = -1 }: Pick<Timed, 'ttl'>): boolean {
  return ttl === -1 || ttl > 0
}

/** The boundary belongs to what comes after it, as with every ttl. */
export function stateOf({ askedAt, freshUntil, staleUntil, fallbackUntil }: Timed, now = Date.now()): State {
  if (now < askedAt - SMALL_STEP) return fallbackUntil > now ? 'fallback' : 'past'
  if (now < freshUntil) return 'fresh'
  if (now < staleUntil) return 'stale'
  return now < fallbackUntil ? 'fallback' : 'past'
}

/** The lifetimes as numbers, -1 being Infinity; refuses what is none. */
export function checkLifetimes(lifetimes: Lifetimes): Lifetimes {
  const names = ['ttl', 'staleWhileRevalidate', 'staleIfError'] as const
  const checked: Lifetimes = {}
  if (typeof lifetimes !== 'object' || lifetimes === null) throw fail('invalid', {}, 'the options are an object.')
  for (const name of names) {
    const value = lifetimes[name]
    if (value === undefined) continue
    if (value !== -1 && !(typeof value === 'number' && value >= 0)) {
      throw fail('invalid', {}, `${name} is a number of seconds, 0 or more, or -1 (for ever).`)
    }
    checked[name] = value === -1 ? Infinity : value
  }
  return checked
}

let latest = 0

/** Now, and later than any moment that this gave before: two requests of one millisecond have an order. */
export function nextMoment(): number {
  const now = Date.now()
  // A clock that was set back is followed.
  latest = latest >= now && latest < now + 1 ? latest + 2 ** -10 : now
  return latest
}
