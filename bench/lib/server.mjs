import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8' }

/** What every answer says: it keeps, and the clock of a page that is isolated from others is twenty times finer. */
const HEADERS = {
  'Cache-Control': 'max-age=86400',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
}

/** Serves the files of a folder as a server of an app's hashed files would; gives the port and how to end it. */
export async function serve(folder) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    const type = TYPES[extname(path)] ?? 'application/octet-stream'
    readFile(join(folder, path)).then(
      (body) => response.writeHead(200, { ...HEADERS, 'Content-Type': type }).end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const end = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    // A browser keeps its connections open for later.
    server.closeAllConnections()
    await closed
  }
  return { port: server.address().port, end }
}
