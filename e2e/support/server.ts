import { createReadStream, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.map': 'application/json',
}

export interface Site {
  url: string
  stop: () => Promise<void>
}

/**
 * Serves the built package as plain files, and the pages of `e2e/site`. The worker's address leads to
 * an entry for tests, which loads the real one once it has installed what tests need to see and move.
 */
export async function serveSite(): Promise<Site> {
  const server = createServer(({ url = '/' }, response) => {
    const path = fileOf(new URL(url, 'http://localhost').pathname)
    const file = normalize(join(root, path))
    if (!file.startsWith(root) || !existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain', 'cache-control': 'no-cache' })
    createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://localhost:${port}`, stop: () => stop(server) }
}

function fileOf(path: string): string {
  if (path === '/dist/mayfly-worker.js') return 'e2e/site/worker.js'
  if (path === '/real/mayfly-worker.js') return 'dist/mayfly-worker.js'
  return path.startsWith('/dist/') ? path : join('e2e/site', path === '/' ? 'index.html' : path)
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
