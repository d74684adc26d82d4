import { chromium } from '@playwright/test'
import type { BrowserContext } from '@playwright/test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBrowser, launchArguments } from '../../scripts/browser.mjs'

/** A browser in which somebody has forbidden sites to save data. */
export async function withDataForbidden(work: (context: BrowserContext) => Promise<void>): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'mayfly-forbidden-'))
  const forbidden = { profile: { default_content_setting_values: { cookies: 2 } } }
  await mkdir(join(profile, 'Default'))
  await writeFile(join(profile, 'Default', 'Preferences'), JSON.stringify(forbidden))
  const executablePath = findBrowser()
  const options = { ...(executablePath ? { executablePath } : {}), args: launchArguments() }
  const context = await chromium.launchPersistentContext(profile, options)
  try {
    await work(context)
  } finally {
    await context.close()
    await rm(profile, { recursive: true, force: true })
  }
}
