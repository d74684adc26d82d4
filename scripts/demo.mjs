import { root } from './install.mjs'

/** Builds the demo from the package in `dist`, and serves it as any server of files would, with its small API. */
export async function serveDemo(options = {}) {
  const { build, preview } = await import('vite')
  const configFile = `${root}demo/vite.config.ts`
  await build({ configFile, logLevel: 'error' })
  return preview({ configFile, preview: options })
}
