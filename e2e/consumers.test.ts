import { expect, test } from '@playwright/test'
import type { Page, Worker } from '@playwright/test'
import { Apps } from './consumers/apps.js'
import type { App } from './consumers/apps.js'
import {
  bundleWithEsbuild,
  bundleWithRollup,
  bundleWithVite,
  bundleWithWebpack,
  serveWithVite,
} from './consumers/bundlers.js'
import { serve } from './support/server.js'
import {
  askingScript,
  CLASSIC,
  failingScript,
  html,
  pageScript,
  serviceWorkerScript,
  SHOWN,
} from './consumers/sources.js'
import { Witness } from './consumers/witness.js'

/** Lets a page load from its own server alone, and no inline script: an import map is one too. */
const STRICT = "default-src 'self'"

/** Where an app without a bundler finds the package. */
const INSTALLED = '/node_modules/mayfly/dist'

/** These bundlers leave the worker’s file behind, so its address leads nowhere. */
const WITHOUT_FILE = [
  { name: 'rollup', app: 'rollup', bundle: bundleWithRollup, page: html() },
  { name: 'esbuild as a module', app: 'esbuild', bundle: (app: App) => bundleWithEsbuild(app, 'esm'), page: html() },
  {
    name: 'esbuild as a script',
    app: 'esbuild',
    bundle: (app: App) => bundleWithEsbuild(app, 'iife'),
    page: html({ script: CLASSIC }),
  },
] as const

let apps: Apps<'vite' | 'webpack' | 'rollup' | 'esbuild' | 'plain'>

test.beforeAll(async () => {
  apps = await Apps.make(['vite', 'webpack', 'rollup', 'esbuild', 'plain'])
})
test.afterAll(() => apps?.remove())

test('the package installs offline and brings no other along', async () => {
  for (const app of apps.all()) expect(await app.packages()).toEqual(['mayfly'])
})

test('the worker is found in an app built with vite', async ({ page }) => {
  const app = apps.get('vite')
  await app.write({ 'index.html': html(), 'main.js': pageScript() })
  await using site = await serve(await bundleWithVite(app))
  await expectFileWorker(page, site.url)
})

test('the worker is found in an app built with vite under a strict policy', async ({ page }) => {
  const app = apps.get('vite')
  await app.write({ 'index.html': html(), 'main.js': pageScript() })
  await using site = await serve(await bundleWithVite(app), { csp: STRICT })
  await expectFileWorker(page, site.url)
})

test('the worker is found in an app on the development server of vite', async ({ page }) => {
  const app = apps.get('vite')
  await app.write({ 'index.html': html(), 'main.js': pageScript() })
  await using site = await serveWithVite(app)
  await expectFileWorker(page, site.url)
})

test('an app built with vite may make the worker itself, of mayfly/worker', async ({ page }) => {
  const app = apps.get('vite')
  const make = `() => new Worker(new URL('mayfly/worker', import.meta.url), { type: 'module', name: 'of the app' })`
  await app.write({ 'index.html': html(), 'main.js': pageScript({ options: `{ worker: ${make} }` }) })
  await using site = await serve(await bundleWithVite(app), { csp: STRICT })
  const worker = await expectFileWorker(page, site.url)
  expect(await worker.evaluate(() => self.name)).toBe('of the app')
})

test('the worker is found in an app built with webpack', async ({ page }) => {
  const app = apps.get('webpack')
  await app.write({ 'index.html': html({ script: CLASSIC }), 'main.js': pageScript() })
  await using site = await serve(await bundleWithWebpack(app))
  await expectFileWorker(page, site.url)
})

test('the worker is found in an app of plain files with an import map', async ({ page }) => {
  const app = apps.get('plain')
  const map = JSON.stringify({ imports: { mayfly: `${INSTALLED}/index.js` } })
  const head = `<script type="importmap">${map}</script>`
  await app.write({ 'index.html': html({ head }), 'main.js': pageScript() })
  await using site = await serve(app.folder)
  await expectFileWorker(page, site.url)
})

test('the worker is found in an app of plain files under a strict policy', async ({ page }) => {
  const app = apps.get('plain')
  await app.write({ 'index.html': html(), 'main.js': pageScript({ from: `${INSTALLED}/index.js` }) })
  await using site = await serve(app.folder, { csp: STRICT })
  await expectFileWorker(page, site.url)
})

test('the worker is made of text when the package lies at another origin', async ({ page }) => {
  const app = apps.get('plain')
  await using other = await serve(app.folder, { cors: true })
  await app.write({ 'index.html': html(), 'main.js': pageScript({ from: `${other.url}${INSTALLED}/index.js` }) })
  await using site = await serve(app.folder)
  await expectTextWorker(page, site.url)
})

for (const { name, app: appName, bundle, page: text } of WITHOUT_FILE) {
  test(`the worker is made of text in an app built with ${name}`, async ({ page }) => {
    const app = apps.get(appName)
    await app.write({ 'index.html': text, 'main.js': pageScript() })
    await using site = await serve(await bundle(app))
    await expectTextWorker(page, site.url)
  })

  test(`an app built with ${name} is not misled by a server that answers every address with the page`, async ({
    page,
  }) => {
    const app = apps.get(appName)
    await app.write({ 'index.html': text, 'main.js': pageScript() })
    await using site = await serve(await bundle(app), { fallback: true })
    await expectTextWorker(page, site.url)
  })

  test(`every call says what to do in an app built with ${name} that can have no worker`, async ({ page }) => {
    const app = apps.get(appName)
    await app.write({ 'index.html': text, 'main.js': failingScript })
    await using site = await serve(await bundle(app), { csp: STRICT })
    const witness = await Witness.of(page)
    const { failures, close } = (await witness.result(site.url)) as { failures: object; close: unknown }
    const outcomes = Object.entries(failures)
    const unavailable = {
      code: 'unavailable',
      message: expect.stringMatching(/mayfly-worker\.js.*worker: \(\) => new Worker.*worker-src.*worker: false/),
    }
    expect(outcomes).toEqual(outcomes.map(([call]) => [call, unavailable]))
    expect(close).toBe('no failure')
    expect(witness.uncaught).toEqual([])
    await witness.workers(0)
    expect(await witness.databaseCalls()).toBe(0)
  })
}

const IN_MEMORY = [
  { name: 'vite', bundle: bundleWithVite, page: html() },
  { name: 'webpack', bundle: bundleWithWebpack, page: html({ script: CLASSIC }) },
  { name: 'rollup', bundle: bundleWithRollup, page: html() },
  { name: 'esbuild', bundle: (app: App) => bundleWithEsbuild(app, 'iife'), page: html({ script: CLASSIC }) },
] as const

for (const { name, bundle, page: text } of IN_MEMORY) {
  test(`the memory comes along in an app built with ${name}, and is loaded where there is no IndexedDB`, async ({
    page,
  }) => {
    const app = apps.get(name)
    await app.write({ 'index.html': text, 'main.js': pageScript({ options: "{ worker: false, fallback: 'memory' }" }) })
    await using site = await serve(await bundle(app), { csp: STRICT })
    await page.addInitScript(() => Object.defineProperty(globalThis, 'indexedDB', { value: undefined }))
    const witness = await Witness.of(page)
    expect(await witness.result(site.url)).toEqual(SHOWN)
    await witness.workers(0)
    expect(witness.uncaught).toEqual([])
    expect(witness.logged).toEqual([])
  })
}

test('a service worker bundled as a script runs the engine itself', async ({ page }) => {
  const app = apps.get('esbuild')
  await app.write({
    'index.html': html({ script: CLASSIC }),
    'main.js': askingScript('classic'),
    'sw.js': serviceWorkerScript({ options: '{ worker: false }' }),
  })
  await using site = await serve(await bundleWithEsbuild(app, 'iife', ['main.js', 'sw.js']))
  await expectServiceWorker(page, site.url)
})

test('a service worker of plain modules runs the engine itself', async ({ page }) => {
  const app = apps.get('plain')
  await app.write({
    'index.html': html(),
    'main.js': askingScript('module'),
    'sw.js': serviceWorkerScript({ from: `${INSTALLED}/service-worker.js` }),
  })
  await using site = await serve(app.folder)
  await expectServiceWorker(page, site.url)
})

test('a service worker that imports what pages import is told what to import', async ({ page }) => {
  const app = apps.get('plain')
  await app.write({
    'index.html': html(),
    'main.js': askingScript('module'),
    'sw.js': serviceWorkerScript({ from: `${INSTALLED}/index.js`, options: '{ worker: false }' }),
  })
  await using site = await serve(app.folder)
  const witness = await Witness.of(page)
  expect(await witness.result(site.url)).toEqual({
    code: 'unavailable',
    message: expect.stringContaining('import from mayfly/service-worker'),
  })
})

/** The first way works, so nobody sees anything in the console. */
async function expectFileWorker(page: Page, url: string): Promise<Worker> {
  const { worker, logged } = await expectWorker(page, url)
  expect(worker.url()).toMatch(/^http.*\.js/)
  expect(logged).toEqual([])
  return worker
}

/** The browser may have logged that the first way failed. */
async function expectTextWorker(page: Page, url: string): Promise<void> {
  const { worker } = await expectWorker(page, url)
  expect(worker.url()).toMatch(/^blob:/)
}

async function expectWorker(page: Page, url: string): Promise<{ worker: Worker; logged: string[] }> {
  const witness = await Witness.of(page)
  expect(await witness.result(url)).toEqual(SHOWN)
  const [worker] = await witness.workers(1)
  await expectStoredElsewhere(witness)
  return { worker: worker!, logged: witness.logged }
}

async function expectServiceWorker(page: Page, url: string): Promise<void> {
  const witness = await Witness.of(page)
  expect(await witness.result(url)).toEqual(SHOWN)
  await witness.workers(0)
  await expectStoredElsewhere(witness)
  expect(witness.logged).toEqual([])
}

/** The document is on the disk, and the page did not put it there. */
async function expectStoredElsewhere(witness: Witness): Promise<void> {
  expect(await witness.databaseCalls()).toBe(0)
  expect(await witness.stored()).toEqual(['first'])
  expect(witness.uncaught).toEqual([])
}
