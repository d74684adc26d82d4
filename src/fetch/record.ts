import { withoutFragment } from './key.js'
import type { Timed } from './lifetimes.js'

/** A response as it is kept: the document type of the collection that is given to `cachedFetch`. */
export interface CachedResponse extends Timed {
  /** The address that was asked for. */
  url: string
  /** 0 marks a signpost: the answers lie elsewhere, one for each choice of the headers in `vary`. */
  status: number
  /** The server's word for the status. */
  statusText: string
  /** The headers of the response that a page may see. */
  headers: [name: string, value: string][]
  /** The headers of the request by which the answer was chosen, in lower case. */
  vary: string[]
  /** Where the answer came from in the end, if there were redirects. */
  from: string
  /** Whether there were redirects. */
  redirected: boolean
  /** As that of the network's response. */
  type: ResponseType
  /** All of it; null where there is none. */
  body: ArrayBuffer | null
}

/** What a response is apart from its times and its place. */
export type Answer = Omit<CachedResponse, keyof Timed | 'url' | 'vary'>

/**
 * Where a response comes from: the network (which may have said that nothing has changed); the cache, still
 * `fresh`, or `stale` with a refresh behind it; or the cache as a `fallback`, because the network failed.
 */
export type Source = 'network' | 'fresh' | 'stale' | 'fallback'

const sources = new WeakMap<Response, Source>()

/** Says where a response of a `cachedFetch` comes from; undefined for one that did not go through the cache. */
export function sourceOf(response: Response): Source | undefined {
  return sources.get(response)
}

/** Statuses that come without a body: https://fetch.spec.whatwg.org/#null-body-status */
const BODILESS = [204, 205]

export function toAnswer(response: Response, request: Request, body: ArrayBuffer | null): Answer {
  const { status, statusText, headers, url, redirected, type } = response
  return {
    status,
    statusText,
    headers: [...headers],
    // A response that a script has made has no address.
    from: url || withoutFragment(request.url),
    redirected,
    type,
    body: BODILESS.includes(status) ? null : body,
  }
}

/** What the server sends anew with a 304; but what describes the body describes the one that we have. */
const OF_THE_BODY = /^(content-(length|encoding|range|type)|transfer-encoding)$/

/** The stored answer, brought up to date by a 304: https://www.rfc-editor.org/rfc/rfc9111#section-3.2 */
export function renewed(stored: Answer, { headers }: Response, receivedAt: number): Answer {
  const merged = new Headers(stored.headers)
  // These were about the journey of the old one.
  merged.delete('age')
  if (merged.has('date')) merged.set('date', new Date(receivedAt).toUTCString())
  for (const [name, value] of headers) if (!OF_THE_BODY.test(name)) merged.set(name, value)
  return { ...stored, headers: [...merged] }
}

/** The headers that ask whether a stored answer has changed; undefined when it has nothing to recognise it by. */
export function conditionsOf(stored: Answer): [name: string, value: string][] | undefined {
  const headers = new Headers(stored.headers)
  const conditions = [
    ['if-none-match', headers.get('etag')],
    ['if-modified-since', headers.get('last-modified')],
  ].filter((pair): pair is [string, string] => pair[1] !== null)
  return conditions.length > 0 ? conditions : undefined
}

export function toResponse(answer: Answer, source: Source): Response {
  const { status, statusText, headers, body } = answer
  return dress(new Response(body, { status, statusText, headers }), { ...answer, url: answer.from }, source)
}

/** A copy of the network's response. Its body ends with the signal, as that of `fetch` does. */
export function copyOf(response: Response, signal: AbortSignal | null | undefined): Response {
  const copy = response.clone()
  // A script can make no response of other statuses.
  if (!signal || !copy.body || copy.status > 599) return dress(copy, copy, 'network')
  const body = copy.body.pipeThrough(new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>(), {
    signal,
  })
  return dress(new Response(body, copy), copy, 'network', signal)
}

type Looks = Pick<Response, 'url' | 'redirected' | 'type'>

const READERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const

/** Gives a response that a script has made what only the browser's own have, and its clones too. */
function dress(response: Response, looks: Looks, source: Source, signal?: AbortSignal): Response {
  const define = (name: string, value: unknown) => Object.defineProperty(response, name, { value, configurable: true })
  for (const name of ['url', 'redirected', 'type'] as const) define(name, looks[name])
  define('clone', () => dress(Response.prototype.clone.call(response), response, source, signal))
  // Chromium forgets why a stream has failed, and says that the network did.
  for (const name of signal ? READERS : []) {
    const read = Response.prototype[name] as (() => Promise<unknown>) | undefined
    const fails = (error: unknown) => Promise.reject((signal?.aborted ? signal.reason : error) as Error)
    if (read) define(name, () => read.call(response).catch(fails))
  }
  sources.set(response, source)
  return response
}
