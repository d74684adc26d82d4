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
  const { ttl = 0, staleWhileRevalidate = 0, staleIfError = 0 } = defaults
  const server: Seconds = {
    ttl: freshnessSaid(said, headers, receivedAt) ?? ttl,
    staleWhileRevalidate: secondsOf(said, 'stale-while-revalidate') ?? staleWhileRevalidate,
    staleIfError: secondsOf(said, 'stale-if-error') ?? staleIfError,
  }
  const span = spanOf({ ...allowedBy(said, server), ...override })
  const kept = said.has('no-store') ? span.kept : Math.max(span.kept, usefulFor(headers, server, ttl))
  return kept > 0 ? { ...span, kept } : undefined
}

/** What may be served of that without asking the server, which may have forbidden it. */
function allowedBy(said: Directives, server: Seconds): Seconds {
  const isUnkept = said.has('no-store')
  const isChecked = isUnkept || said.has('no-cache')
  const isStrict = isUnkept || said.has('must-revalidate')
  return {
    ttl: isChecked ? 0 : server.ttl,
    staleWhileRevalidate: isChecked || isStrict ? 0 : server.staleWhileRevalidate,
    // A server that says both means: ask me each time, but if I do not answer, go ahead.
    staleIfError: isStrict || (isChecked && !said.has('stale-if-error')) ? 0 : server.staleIfError,
  }
}

/** For how many seconds a response can save its body from being sent again, though it may not be served unasked. */
function usefulFor(headers: Headers, server: Seconds, ttl: number): number {
  if (!headers.has('etag') && !headers.has('last-modified')) return 0
  return spanOf({ ...server, ttl: server.ttl || ttl }).kept
}

/** `s-maxage` is for caches that are shared, which this is not. */
function freshnessSaid(said: Directives, headers: Headers, receivedAt: number): number | undefined {
  const maxAge = secondsOf(said, 'max-age')
  if (maxAge !== undefined) return maxAge
  const expires = headers.get('expires')
  if (expires === null) return undefined
  // One that is no date, "0" above all, says that it is over.
  return Math.max(0, (parseDate(expires) || 0) - (parseDate(headers.get('date')) || receivedAt)) / 1000
}

/**
 * How old a response was when it came: https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3
 * In whole seconds, as a Date is: a response that has just been made has no age. A lifetime that the server did not give
 * begins here, so that neither a slow server nor a clock that is wrong shortens it; it counts only what other caches say.
 */
export function ageOf(headers: Headers, askedAt: number, receivedAt: number, override: Lifetimes = {}): number {
  const since = (time: number) => Math.max(0, Math.floor((receivedAt - time) / 1000))
  const said = Math.max(0, Number.parseInt(headers.get('age') ?? '') || 0)
  const isServers =
    override.ttl === undefined && freshnessSaid(directivesIn(headers), headers, receivedAt) !== undefined
  if (!isServers) return said
  return Math.max(since(parseDate(headers.get('date')) || receivedAt), said + since(askedAt))
}

function directivesIn(headers: Headers): Directives {
  return directivesOf(headers.get('cache-control'))
}

/** NaN for what is no date. */
function parseDate(text: string | null): number {
  // Date.parse takes "0" and "-1" for years.
  return /^\s*-?\d+\s*$/.test(text ?? '0') ? NaN : Date.parse(text!)
}
