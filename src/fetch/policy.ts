import { spanOf } from './lifetimes.js'
import type { Lifetimes, Span } from './lifetimes.js'

type Seconds = Record<keyof Lifetimes, number>

/** What a Cache-Control header says, by directive; one without a value holds the empty string. */
export type Directives = ReadonlyMap<string, string>

const DIRECTIVE = /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/g

export function directivesOf(header: string | null): Directives {
  const found = new Map<string, string>()
  for (const [, name, quoted, plain] of (header ?? '').matchAll(DIRECTIVE)) {
    const directive = name!.toLowerCase()
    // Of two that contradict each other the first counts: https://www.rfc-editor.org/rfc/rfc9111#section-4.2.1
    if (!found.has(directive)) found.set(directive, quoted ?? plain ?? '')
  }
  return found
}

/** A number of seconds; undefined when there is none; 0 for what cannot be read: it counts as over. */
export function secondsOf(said: Directives, name: string): number | undefined {
  const value = said.get(name)
  if (value === undefined) return undefined
  return /^\d+$/.test(value) ? Number(value) : 0
}

/**
 * For how long a response is good: `override` first, then what the server says, then the defaults.
 * Undefined when it must not be kept, or need not be.
 */
export function spanOfResponse(
  headers: Headers,
  receivedAt: number,
  defaults: Lifetimes = {},
  override: Lifetimes = {},
): Span | undefined {
  const said = directivesIn(headers)
  const server: Seconds = {
    ttl: freshnessSaid(said, headers, receivedAt) ?? defaults.ttl ?? 0,
    staleWhileRevalidate: secondsOf(said, 'stale-while-revalidate') ?? defaults.staleWhileRevalidate ?? 0,
    staleIfError: secondsOf(said, 'stale-if-error') ?? defaults.staleIfError ?? 0,
  }
  const allowed = allowedBy(said, server)
  const span = spanOf(
    override.ttl ?? allowed.ttl,
    override.staleWhileRevalidate ?? allowed.staleWhileRevalidate,
    override.staleIfError ?? allowed.staleIfError,
  )
  const kept = said.has('no-store') ? span.kept : Math.max(span.kept, usefulFor(headers, server, defaults))
  return kept > 0 ? { ...span, kept } : undefined
}

/** What may be served of that without asking the server, which may have forbidden it. */
function allowedBy(said: Directives, server: Seconds): Seconds {
  const { ttl, staleIfError } = server
  if (said.has('no-store')) return { ttl: 0, staleWhileRevalidate: 0, staleIfError: 0 }
  if (said.has('must-revalidate')) {
    return { ttl: said.has('no-cache') ? 0 : ttl, staleWhileRevalidate: 0, staleIfError: 0 }
  }
  // A server that says both means: ask me each time, but if I do not answer, go ahead.
  const despite = said.has('stale-if-error') ? staleIfError : 0
  return said.has('no-cache') ? { ttl: 0, staleWhileRevalidate: 0, staleIfError: despite } : server
}

/** For how many seconds a response can save its body from being sent again, though it may not be served unasked. */
function usefulFor(headers: Headers, server: Seconds, defaults: Lifetimes): number {
  if (!headers.has('etag') && !headers.has('last-modified')) return 0
  const { ttl, staleWhileRevalidate, staleIfError } = server
  return (ttl > 0 ? ttl : (defaults.ttl ?? 0)) + Math.max(staleWhileRevalidate, staleIfError)
}

/** `s-maxage` is for caches that are shared, which this is not. */
function freshnessSaid(said: Directives, headers: Headers, receivedAt: number): number | undefined {
  const maxAge = secondsOf(said, 'max-age')
  if (maxAge !== undefined) return maxAge
  const expires = headers.get('expires')
  if (expires === null) return undefined
  // One that is no date, "0" above all, says that it is over.
  const seconds = ((parseDate(expires) ?? -Infinity) - (parseDate(headers.get('date')) ?? receivedAt)) / 1000
  return Math.max(0, seconds)
}

/**
 * How old a response was when it came: https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3
 * In whole seconds, as a Date is: a response that has just been made has no age. A lifetime that the server did not give
 * begins here, so that neither a slow server nor a clock that is wrong shortens it; it counts only what other caches say.
 */
export function ageOf(headers: Headers, askedAt: number, receivedAt: number, override: Lifetimes = {}): number {
  const since = (time: number) => Math.max(0, Math.floor((receivedAt - time) / 1000))
  const said = Number(/^\d+/.exec(headers.get('age') ?? '')?.[0] ?? 0)
  const isServers =
    override.ttl === undefined && freshnessSaid(directivesIn(headers), headers, receivedAt) !== undefined
  if (!isServers) return said
  return Math.max(since(parseDate(headers.get('date')) ?? receivedAt), said + since(askedAt))
}

function directivesIn(headers: Headers): Directives {
  return directivesOf(headers.get('cache-control'))
}

function parseDate(text: string | null): number | undefined {
  // Date.parse takes "0" and "-1" for years.
  const time = text === null || /^\s*-?\d+\s*$/.test(text) ? NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}
