import { defineConfig } from '@playwright/test'
import { availableParallelism } from 'node:os'
import { findBrowser, launchArguments } from './scripts/browser.mjs'

const executablePath = findBrowser()

/** What measures time says so in its name: it runs with nothing beside it. */
const ALONE = /@alone/

/** Built pages in a real browser. */
export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.test.ts',
  testIgnore: 'engines/**',
  // Each has a browser of its own.
  workers: Math.min(availableParallelism(), 4),
  projects: [
    { name: 'setup', testMatch: '**/*.setup.ts' },
    { name: 'e2e', grepInvert: ALONE, dependencies: ['setup'] },
    { name: 'alone', grep: ALONE, workers: 1 },
  ],
  forbidOnly: true,
  timeout: 120_000,
  // Generous, because machines are shared: no test waits for this when it passes.
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    browserName: 'chromium',
    launchOptions: { ...(executablePath ? { executablePath } : {}), args: launchArguments() },
  },
})
