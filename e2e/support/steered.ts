import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserName, Preferences } from '../../scripts/browsers.mjs'
import { Running } from '../../test/support/running.js'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))

/** Asks what to do next, does it, and tells what came of it. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>mayfly</title><script type="module">
window.mayfly = await import('/index.js')
for (;;) {
  // The browser's own process for the network may be the one that a test kills.
  const step = await fetch('/next').then((response) => response.text()).catch(() => '')
  if (!step) continue
  const result = await (0, eval)(step).then((value) => ({ value }), (error) => ({ error: String(error) }))
  const tell = () => fetch('/result', { method: 'POST', body: JSON.stringify(result) }).catch(tell)
  await tell()
}
</script>`

/** A page with the built package in a browser that nobody drives. */
export interface Steered extends AsyncDisposable {
  browser: Running
  /** Runs a function on the page, one at a time; it sees nothing but the page and its argument. */
  evaluate<T, A = undefined>(work: (argument: A) => Promise<T>, argument?: A): Promise<T>
}

interface Step {
  text: string
  settle: (result: { value?: unknown; error?: string }) => void
}

export async function steer(name: BrowserName, preferences: Preferences = {}): Promise<Steered> {
  const waiting: Step[] = []
  let asked: (() => void) | undefined
  let current: Step | undefined
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const give = () => {
      current = waiting[0]
      response.end(current?.text ?? '')
    }
    if (path === '/next') {
      if (waiting.length > 0) give()
      else asked = give
    } else if (path === '/result') {
      let body = ''
      request.setEncoding('utf8').on('data', (part: string) => (body += part))
      request.on('end', () => {
        response.end()
        // What could not be told at first is told twice, perhaps.
        if (waiting[0] === current) waiting.shift()?.settle(JSON.parse(body) as object)
        current = undefined
      })
    } else if (path === '/') response.setHeader('Content-Type', 'text/html').end(PAGE)
    else {
      readFile(join(dist, path))
        .then((file) => response.setHeader('Content-Type', 'text/javascript').end(file))
        .catch(() => response.writeHead(404).end())
    }
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const browser = await Running.start(name, `http://localhost:${(server.address() as AddressInfo).port}/`, preferences)
  return {
    browser,
    evaluate: (work, argument) =>
      new Promise((resolve, reject) => {
        const settle: Step['settle'] = ({ value, error }) =>
          error === undefined ? resolve(value as never) : reject(new Error(error))
        waiting.push({ text: `(${work})(${JSON.stringify(argument) ?? ''})`, settle })
        asked?.()
        asked = undefined
      }),
    async [Symbol.asyncDispose]() {
      await browser.end()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
