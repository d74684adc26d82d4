import { digest } from './digest.js'

/** What an answer is kept under. */
export interface Key {
  /** The address that was asked for, without its fragment. */
  url: string
  /** The document's id: begins with the address, so that all answers of an address lie together. */
  id: string
  /** Tells requests apart that may get different answers, whatever their id. */
  request: string
}

/** What takes part in a key beyond the address. */
export interface KeyOptions {
  key?: readonly string[] | ((request: Request) => string) | undefined
}

/** Ids have 1,023 bytes at most, and two digests must fit behind this one. A parsed address is ASCII. */
const LONGEST_URL = 800

/** Headers in which credentials travel. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization']

export async function keyOf(request: Request, { key }: KeyOptions): Promise<Key> {
  const url = withoutFragment(request.url)
  const own = [...request.headers]
  const { method, credentials, integrity, mode, redirect, referrerPolicy, cache } = request
  const parts: unknown[] = []
  if (method !== 'GET') parts.push(method, digest(await bytesOf(request)))
  if (typeof key === 'function') parts.push(['key', key(request)])
  else for (const name of key ?? []) parts.push([name.toLowerCase(), request.headers.get(name)])
  for (const name of CREDENTIALS) if (request.headers.has(name)) parts.push([name, request.headers.get(name)])
  if (integrity) parts.push(['integrity', integrity])
  if (sendsCookies(request) === isCrossOrigin(url)) parts.push(['credentials', credentials])
  // What an answer of another origin varies by is not to be seen, unless that origin shows it: assume everything.
  if (isCrossOrigin(url)) parts.push(...own)
  const id = parts.length > 0 ? `${place(url)} ${digest(JSON.stringify(parts))}` : place(url)
  return { url, id, request: JSON.stringify([url, id, own, credentials, mode, redirect, referrerPolicy, cache]) }
}

/** The ids of all answers of an address, as a range: nothing in an address is as low as a space. */
export function idsOf(url: string): { gte: string; lt: string } {
  return { gte: place(url), lt: `${place(url)}!` }
}

/** Where the variant lies that these headers choose. A value may be a secret, so it is not to be read from the id. */
export function variantOf(id: string, names: readonly string[], headers: Headers): string {
  const values = names.map((name) => [name, headers.get(name)])
  return `${id} ${digest(JSON.stringify([id, values]))}`
}

/** What the browser itself sends, always the same, to all that is asked for from here. */
const CONSTANT = /^(accept-encoding|accept-charset|host|origin)?$/

/** The names in a Vary header that choose, in order; undefined when it says that nothing could ever choose. */
export function namesIn(vary: string | null): string[] | undefined {
  const names = (vary ?? '').split(',').map((name) => name.trim().toLowerCase())
  return names.includes('*') ? undefined : union(names.filter((name) => !CONSTANT.test(name)))
}

export function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].toSorted()
}

/**
 * Whether the request says who is asking. The browser sends its own requests for pages, styles and pictures, which
 * a service worker sees and which have a destination, with credentials: that says nothing. A script that does so does.
 */
export function hasCredentials({ headers, credentials, url }: Request, destination: string | undefined): boolean {
  if (CREDENTIALS.some((name) => headers.has(name))) return true
  return credentials === 'include' && (!destination || isCrossOrigin(url))
}

/** An address as a request would have it: a page may say in `<base>` what a relative one is relative to. */
export function addressOf(target: string | URL | Request): string {
  return withoutFragment(new URL(textOf(target), globalThis.document?.baseURI ?? globalThis.location?.href).href)
}

export function textOf(target: string | URL | Request): string {
  return typeof target === 'object' && 'url' in target ? target.url : String(target)
}

function place(url: string): string {
  return url.length <= LONGEST_URL ? url : `${url.slice(0, LONGEST_URL)} ${digest(url)}`
}

/** Where nothing is an origin, nothing is foreign. */
function isCrossOrigin(url: string): boolean {
  return globalThis.location !== undefined && new URL(url).origin !== globalThis.location.origin
}

/** As a rule cookies go to the own origin and to no other. */
function sendsCookies({ credentials, url }: Request): boolean {
  return credentials === 'include' || (credentials === 'same-origin' && !isCrossOrigin(url))
}

export function withoutFragment(url: string): string {
  return url.replace(/#.*/, '')
}

/** Not by `request.body`, which Firefox does not have. */
async function bytesOf(request: Request): Promise<Uint8Array> {
  return new Uint8Array(await request.clone().arrayBuffer())
}
