import { fileURLToPath } from 'node:url'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import type { TestProjectConfiguration } from 'vitest/config'
import { findBrowser, launchArguments } from './scripts/browser.mjs'
import { BROWSERS, missingFor } from './scripts/browsers.mjs'
import type { BrowserName } from './scripts/browsers.mjs'
import { plainBrowser } from './test/support/plain-browser.js'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const executablePath = findBrowser()
const { SEED, RUNS } = process.env
const seed = Number(SEED ?? Math.floor(Math.random() * 2 ** 31))
const runs = Number(RUNS ?? 300)

const source = { alias: { 'mayfly/fetch': path('./src/fetch.ts'), mayfly: path('./src/index.ts') } }
/** Workers come with the package as it is built. */
const built = { alias: { 'mayfly/fetch': path('./dist/fetch.js'), mayfly: path('./dist/index.js') } }

const chromium = (name: string) => ({
  enabled: true,
  headless: true,
  screenshotFailures: false,
  provider: playwright({
    launchOptions: { ...(executablePath ? { executablePath } : {}), args: launchArguments() },
  }),
  instances: [{ browser: 'chromium' as const, name: `in ${name}` }],
})

/** Tests that reach into IndexedDB on the engine's thread, or beneath the public API. */
const sameThread = [
  'test/cost.test.ts',
  'test/plan.test.ts',
  'test/cursor.test.ts',
  'test/faults.test.ts',
  'test/full.test.ts',
  'test/migration-crash.test.ts',
  'test/wire/**',
]

/** What else than where the worker comes from is the same for both kinds of worker, and tried with one of them. */
const anyWorker = ['test/{ttl,refused,schema,model,queries,listeners,migration,transfer,many}.test.ts']

function inWorker(name: string, engine: 'worker' | 'own worker', share: number): TestProjectConfiguration {
  return {
    extends: true,
    resolve: built,
    test: {
      name,
      exclude: [...sameThread, 'test/fetch/**', ...(engine === 'worker' ? [] : anyWorker)],
      setupFiles: ['test/support/worker.ts'],
      provide: { engine, runs: Math.ceil(runs * share) },
      browser: chromium(name),
    },
  }
}

/** Each browser of this machine as it is, with its database on the disk. */
const plain = (Object.keys(BROWSERS) as BrowserName[]).filter((name) => missingFor(name).length === 0)

function inPlain(name: BrowserName): TestProjectConfiguration[] {
  const browser = (place: string) => ({
    enabled: true,
    screenshotFailures: false,
    ui: false,
    provider: plainBrowser(name),
    instances: [{ browser: name, name: `in ${name}, ${place}` }],
  })
  // WebKit cannot read `await using`: tests that use it are compiled for it, as apps have to be.
  const oxc = name === 'webkitgtk' ? { target: 'es2022' } : {}
  // It takes minutes to clone an array that says that it is billions long, so there it says a million.
  const longest = name === 'webkitgtk' ? 1_000_000 : 2 ** 32 - 1
  return [
    {
      extends: true,
      oxc,
      resolve: source,
      test: {
        name: `${name}/here`,
        exclude: ['test/wire/**', 'test/generated/**'],
        setupFiles: ['test/support/real.ts'],
        provide: { runs: Math.ceil(runs * 0.06), longest },
        browser: browser('here'),
      },
    },
    {
      extends: true,
      oxc,
      resolve: built,
      test: {
        name: `${name}/worker`,
        exclude: [...sameThread, 'test/fetch/**'],
        setupFiles: ['test/support/worker.ts'],
        provide: { engine: 'worker', runs: Math.ceil(runs * 0.06), longest },
        browser: browser('worker'),
      },
    },
  ]
}

/** What only this engine does, on pages of the built package. */
function faultsOf(name: BrowserName): TestProjectConfiguration {
  return {
    test: {
      name: `${name}/faults`,
      environment: 'node',
      include: [`e2e/engines/${name}.test.ts`],
      testTimeout: 120_000,
    },
  }
}

/** The same tests over fake-indexeddb and in a real browser, with the engine in each place where it can be. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Generous, because machines are shared: no test waits for this when it passes.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    provide: { seed, runs, engine: 'here', longest: 2 ** 32 - 1 },
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      // The thin ends that only a browser has; the tests in one prove them, and cannot be seen from here.
      exclude: ['src/engine/worker.ts', 'src/client/worker-text.ts', 'src/here.ts', 'src/service-worker.ts'],
      reporter: ['text', 'html'],
      thresholds: { statements: 95, branches: 90, functions: 95, lines: 95 },
    },
    projects: [
      {
        extends: true,
        resolve: source,
        test: {
          name: 'fake-indexeddb',
          environment: 'node',
          exclude: ['test/generated/**'],
          setupFiles: ['test/support/fake.ts'],
        },
      },
      {
        extends: true,
        resolve: source,
        test: {
          name: 'chromium',
          exclude: ['test/wire/**', 'test/generated/**'],
          setupFiles: ['test/support/real.ts'],
          provide: { runs: Math.ceil(runs * 0.2) },
          browser: chromium('chromium'),
        },
      },
      {
        extends: true,
        resolve: built,
        test: {
          name: 'memory',
          environment: 'node',
          // The others reach into IndexedDB, of which there is none here.
          exclude: ['test/!(ttl|verbs|queries).test.ts', 'test/{fetch,wire,generated}/**'],
          setupFiles: ['test/support/real.ts'],
          provide: { engine: 'memory', runs: Math.ceil(runs * 0.12) },
        },
      },
      inWorker('worker', 'worker', 0.12),
      inWorker('own-worker', 'own worker', 0.04),
      ...plain.flatMap(inPlain),
      ...plain.filter((name) => !name.startsWith('chromium')).map(faultsOf),
    ],
  },
})
