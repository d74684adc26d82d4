import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import { findBrowser, launchArguments } from './browser.mjs'
import { faultOf, SQLITE } from './browsers.mjs'

/** Whether this machine's Chromium has the SQLite back end: a feature that it does not know is no error to it. */
export async function hasSqlite() {
  const profile = mkdtempSync(join(tmpdir(), 'mayfly-sqlite-'))
  const executablePath = findBrowser()
  const context = await chromium.launchPersistentContext(profile, {
    ...(executablePath ? { executablePath } : {}),
    args: [...launchArguments(), SQLITE],
  })
  try {
    const page = context.pages()[0] ?? (await context.newPage())
    await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
    await page.goto('http://localhost/')
    await page.evaluate(makeDatabase)
    return faultOf('chromium-sqlite', profile) === undefined
  } finally {
    await context.close()
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Runs on the page. */
function makeDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('probe', 1)
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore('probe').put(1, 1))
    request.addEventListener('success', () => resolve())
    request.addEventListener('error', () => reject(request.error))
  })
}
