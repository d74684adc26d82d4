import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'

/** Answers a request; `nth` counts those for that path, from 1. */
export type Handler = (response: ServerResponse, request: IncomingMessage, nth: number) => unknown

/** A server of the built package, of the pages in `e2e/site`, and of what a test has it answer. */
export interface Api extends AsyncDisposable {
  url: string
  on(path: string, handler: Handler): void
  /** The headers of every request for a path. */
  requests(path: string): IncomingHttpHeaders[]
  /** Ends every connection, and takes no more until it is told to. */
  fail(isFailing: boolean): void
}

const TYPES: Record<string, string> = { '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript' }
const root = new URL('../../', import.meta.url)

export async function serveApi(): Promise<Api> {
  const handlers = new Map<string, Handler>()
  const seen = new Map<string, IncomingHttpHeaders[]>()
  let isFailing = false
  const file: Handler = async (response, { url = '/' }) => {
    const { pathname } = new URL(url, 'http://localhost')
    const site = `/e2e/site${pathname}${pathname.endsWith('/') ? 'index.html' : ''}`
    const path = pathname.startsWith('/dist/') ? pathname : site
    const body = await readFile(new URL(`.${path}`, root)).catch(() => undefined)
    if (body) response.setHeader('Content-Type', TYPES[extname(path)] ?? 'text/plain').end(body)
    else response.writeHead(404).end()
  }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (isFailing) return void request.socket.destroy()
    const list = seen.get(pathname) ?? []
    seen.set(pathname, list)
    const nth = list.push(request.headers)
    const handler = handlers.get(pathname) ?? file
    Promise.resolve(handler(response, request, nth)).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    on: (path, handler) => void handlers.set(path, handler),
    requests: (path) => seen.get(path) ?? [],
    fail(failing) {
      isFailing = failing
      if (failing) server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
