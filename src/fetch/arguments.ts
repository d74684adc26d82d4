/** What goes to the network. */
export interface Arguments {
  input: RequestInfo | URL
  init?: RequestInit
}

/**
 * The caller's own arguments as they are now, as `fetch` would take them: the network is asked later, when the caller may
 * have changed an URL or headers for the next call, or have gone to a page to which an address is relative.
 */
export function taken(input: RequestInfo | URL, init: RequestInit | undefined, request: Request): Arguments {
  // One with a body can be sent once only, and the key has been made of this one. Nothing of a Request can be spread.
  if (request.method !== 'GET' || init instanceof Request) return { input: request }
  const isSame = typeof input === 'string' ? /^(\/|https?:)/i.test(input) : 'method' in input
  const headers = init?.headers
  return {
    input: isSame ? input : request.url,
    init: {
      ...init,
      headers: headers?.constructor === Object ? { ...(headers as Record<string, string>) } : request.headers,
    },
  }
}
