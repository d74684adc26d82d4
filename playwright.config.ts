import { defineConfig } from '@playwright/test'
import { findBrowser, launchArguments } from './scripts/browser.mjs'

const executablePath = findBrowser()

/** Built pages in a real browser. */
export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.test.ts',
  testIgnore: 'engines/**',
  workers: 1,
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
