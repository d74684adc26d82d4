import { serveDemo as serve } from '../../scripts/demo.mjs'

/** Serves the demo as `npm start` does; it was built before all tests, for they share what is built. */
export async function serveDemo(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = await serve({ port: 0 })
  const url = server.resolvedUrls?.local[0]
  if (!url) throw new Error('The demo’s server has no address.')
  return { url, stop: () => server.close() }
}
