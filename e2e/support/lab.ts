import { expect, test as base } from '@playwright/test'
import type { BrowserContext, Page } from '@playwright/test'
import type * as Mayfly from 'mayfly'
import { fileURLToPath } from 'node:url'
import { serve } from './server.js'
import type { Site } from './server.js'

export interface Item {
  id: string
  n?: number
  text?: string
  ttl?: number
}

type Schema = { items: Mayfly.CollectionDefinition<Item>; others: Mayfly.CollectionDefinition<Item> }

interface Lab {
  openStore: typeof Mayfly.openStore
  collection: typeof Mayfly.collection
  MayflyError: typeof Mayfly.MayflyError
  workers: Worker[]
  sent: number
  received: number
  idleCallbacks: number
  backgroundTasks: number
  indexedDBCalls: number
  /** Moves time, or has deletions fail, in every worker of every tab; gives back what each asked of IndexedDB so far. */
  askWorkers(
    question: { pass?: number; leap?: number; fail?: number; isServerLost?: boolean },
    workers?: number,
  ): Promise<Record<string, number>[]>
}

declare global {
  interface Window {
    lab: Lab
    store: Mayfly.Store<Schema>
    pending: Promise<unknown>
    log: unknown[]
    changes?: string[]
    stops?: (() => void)[]
    collectGarbage?: () => Promise<void>
  }
}

export interface OpenOptions {
  defaultTtl?: number | null
  index?: 'n' | 'text'
  sweep?: 'idle' | 'manual'
  patience?: number
  worker?: false
}

/** Opens the store “shop” on a page, as `window.store`. */
export async function openShop(page: Page, options: OpenOptions = {}): Promise<void> {
  await page.evaluate(async ({ defaultTtl = null, index, ...rest }) => {
    const { collection, openStore } = window.lab
    const items = collection<Item>({ defaultTtl })
    window.store = openStore(
      'shop',
      { items: index ? items.index(index) : items, others: collection<Item>({ defaultTtl }) },
      rest,
    )
    await window.store.ready
  }, options)
}

/** Has the worker of a page take its time to delete, so that something can happen in the middle of it. */
export async function slowDown(page: Page): Promise<void> {
  await page.evaluate(() => window.lab.workers.at(-1)!.postMessage({ slowness: 5 }))
}

/** A new tab with the package loaded. */
export async function newTab(context: BrowserContext, site: Site): Promise<Page> {
  const page = await context.newPage()
  await page.goto(site.url)
  await page.waitForFunction(() => 'lab' in window)
  return page
}

/**
 * The built package as plain files, and the pages of `e2e/site`. The worker's address leads to an entry for
 * tests, which loads the real one once it has installed what tests need to see and move.
 */
export function route(path: string): string {
  if (path === '/dist/mayfly-worker.js') return '/e2e/site/worker.js'
  if (path === '/real/mayfly-worker.js') return '/dist/mayfly-worker.js'
  return path.startsWith('/dist/') ? path : `/e2e/site${path}`
}

export const test = base.extend<{ tab: Page }, { site: Site }>({
  site: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures that are needed from this pattern.
    async ({}, use) => {
      await using site = await serve(fileURLToPath(new URL('../..', import.meta.url)), { route })
      await use(site)
    },
    { scope: 'worker' },
  ],
  tab: async ({ context, site }, use) => use(await newTab(context, site)),
})

export { expect }
