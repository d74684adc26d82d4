import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { findBrowser, launchArguments } from './scripts/browser.mjs'

const mayfly = new URL('./src/index.ts', import.meta.url).pathname
const executablePath = findBrowser()
const { SEED, RUNS } = process.env
const seed = Number(SEED ?? Math.floor(Math.random() * 2 ** 31))
const runs = Number(RUNS ?? 500)

/** Builds the package; `vitest` runs the same tests over fake-indexeddb and in a real browser. */
export default defineConfig({
  resolve: { alias: { mayfly } },
  build: {
    target: 'es2022',
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: 'index' },
    // The size that matters is that of the app's own bundle, and stack traces should be readable.
    minify: false,
    sourcemap: true,
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Generous, because machines are shared: no test waits for this when it passes.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    provide: { seed, runs },
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      reporter: ['text', 'html'],
      thresholds: { statements: 95, branches: 90, functions: 95, lines: 95 },
    },
    projects: [
      {
        extends: true,
        test: { name: 'fake-indexeddb', environment: 'node', setupFiles: ['test/support/fake.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'chromium',
          setupFiles: ['test/support/real.ts'],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: { ...(executablePath ? { executablePath } : {}), args: launchArguments() },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
})
