import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

export interface ServerOptions {
  /** The Content-Security-Policy of everything. */
  csp?: string
  /** Lets pages of other origins have the files. */
  cors?: boolean
  /** Answers every unknown address with index.html and status 200, as servers of single-page apps do. */
  fallback?: boolean
  /** The file for an address, where that is not its path. */
  route?: (path: string) => string
}

export interface Site extends AsyncDisposable {
  url: string
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
}

const asItIs = (path: string) => path

/** Serves the files of a folder until it is disposed of. */
export async function serve(
  folder: string,
  { csp, cors, fallback, route = asItIs }: ServerOptions = {},
): Promise<Site> {
  const server = createServer((request, response) => {
    if (csp) response.setHeader('Content-Security-Policy', csp)
    if (cors) response.setHeader('Access-Control-Allow-Origin', '*')
    const send = (path: string, body: Buffer) => {
      response.setHeader('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream').end(body)
    }
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const path = route(pathname === '/' ? '/index.html' : pathname)
    readFile(join(folder, path))
      .then((body) => send(path, body))
      .catch(async () => {
        if (fallback) send('/index.html', await readFile(join(folder, 'index.html')))
        else response.writeHead(404).end()
      })
      .catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      // A browser keeps its connections open for later.
      server.closeAllConnections()
      await closed
    },
  }
}
