import { createServer } from 'vite'

/** Serves the demo as `npm start` does, and stops with the test. */
export async function serveDemo(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = await createServer({ configFile: 'demo/vite.config.ts', logLevel: 'warn', server: { port: 0 } })
  await server.listen()
  const url = server.resolvedUrls?.local[0]
  if (!url) throw new Error('The demo’s server has no address.')
  return { url, stop: () => server.close() }
}
