import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { CONTENDERS, takesPart } from './contenders.mjs'

/** Builds the least app that uses each contender, minified. */
export async function buildSizes(contenders, bench) {
  for (const name of contenders.filter((contender) => takesPart(contender, 'size'))) {
    const folder = `${bench}dist/sizes/${name}/`
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const { code, worker } = CONTENDERS[name]
    writeFileSync(
      `${folder}index.html`,
      '<script type="module" src="./app.js"></script><link rel="icon" href="data:,">',
    )
    writeFileSync(`${folder}app.js`, `${code}\n`)
    if (worker) writeFileSync(`${folder}sizes-worker.js`, worker)
    await build({
      configFile: `${bench}vite.config.ts`,
      root: folder,
      base: './',
      logLevel: 'error',
      build: { outDir: `${bench}dist/page/sizes/${name}` },
    })
  }
}

/** What a page fetches that uses each contender, minified and gzipped, in kB; what is loaded only when needed is not. */
export async function measureSizes(contenders, lab, bench) {
  const sizes = {}
  for (const name of contenders.filter((contender) => takesPart(contender, 'size'))) {
    const paths = await lab.page(`${name}-size`, '/', (page) => fetched(page, name))
    const size = { page: 0 }
    for (const path of paths) {
      const part = /worker/.test(path) ? 'worker' : 'page'
      size[part] = (size[part] ?? 0) + gzipSync(readFileSync(`${bench}dist/page${path}`), { level: 9 }).length / 1000
    }
    sizes[name] = size
  }
  return sizes
}

async function fetched(page, name) {
  const paths = new Set()
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.endsWith('.js')) paths.add(pathname)
  })
  await page.goto(new URL(`/sizes/${name}/`, page.url()).href, { waitUntil: 'networkidle' })
  return paths
}
