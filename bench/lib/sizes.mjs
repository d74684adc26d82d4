import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build as vite } from 'vite'
import { CONTENDERS, takesPart } from './contenders.mjs'

/**
 * What a page fetches that uses each contender, minified and gzipped, in kB; what is loaded only when needed is not.
 * The pages are the least apps, built; a browser says what they fetch.
 */
export async function buildSizes(contenders, lab, configFile) {
  for (const name of measurable(contenders)) {
    const folder = `${lab.sources}/${name}`
    const { code, worker } = CONTENDERS[name]
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      `${folder}/index.html`,
      '<script type="module" src="./app.js"></script><link rel="icon" href="data:,">',
    )
    writeFileSync(`${folder}/app.js`, `${code}\n`)
    if (worker) writeFileSync(`${folder}/sizes-worker.js`, worker)
    const build = { outDir: `${lab.pages}/sizes/${name}` }
    await vite({ configFile, root: folder, base: './', logLevel: 'error', build })
  }
}

export async function measureSizes(contenders, lab) {
  const sizes = {}
  for (const name of measurable(contenders)) {
    const size = { page: 0 }
    for (const [path, part] of await lab.page(`${name}-size`, '/', (page) => fetched(page, name))) {
      size[part] = (size[part] ?? 0) + gzipSync(readFileSync(`${lab.pages}${path}`), { level: 9 }).length / 1000
    }
    sizes[name] = size
  }
  return sizes
}

const measurable = (contenders) => contenders.filter((name) => takesPart(name, 'size'))

/** The scripts that are fetched, and for whom. */
async function fetched(page, name) {
  const parts = new Map()
  const pathOf = (url) => new URL(url).pathname
  page.on('request', (request) => {
    const path = pathOf(request.url())
    if (path.endsWith('.js') && !parts.has(path)) parts.set(path, 'page')
  })
  page.on('worker', (worker) => parts.set(pathOf(worker.url()), 'worker'))
  await page.goto(new URL(`/sizes/${name}/`, page.url()).href, { waitUntil: 'networkidle' })
  return parts
}
