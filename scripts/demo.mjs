import { root } from './install.mjs'

const configFile = `${root}demo/vite.config.ts`

/** Builds the demo from the package in `dist`. */
export async function buildDemo() {
  const { build } = await import('vite')
  await build({ configFile, logLevel: 'error' })
}

/** Serves the demo that was built, as any server of files would, with its small API. */
export async function serveDemo(options = {}) {
  const { preview } = await import('vite')
  return preview({ configFile, preview: options })
}
