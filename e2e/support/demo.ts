import { serveDemo as serve } from '../../scripts/demo.mjs'

/** Builds and serves the demo as `npm start` does, and stops with the test. */
export async function serveDemo(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = await serve({ port: 0 })
  const url = server.resolvedUrls?.local[0]
  if (!url) throw new Error('The demo’s server has no address.')
  return { url, stop: () => server.close() }
}
