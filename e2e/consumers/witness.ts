import { expect } from '@playwright/test'
import type { Page, Worker } from '@playwright/test'

/** Less than the library waits for a worker that says nothing: a failure must be noticed, not waited for. */
const PATIENCE = 8_000

/** Sees what happens on a page from before its first script. */
export class Witness {
  /** Errors that nobody caught. */
  readonly uncaught: string[] = []
  /** What the console shows in red, the browser's own complaints included. */
  readonly logged: string[] = []
  readonly #page: Page

  private constructor(page: Page) {
    this.#page = page
    page.on('pageerror', (error) => this.uncaught.push(error.message))
    page.on('console', (message) => {
      const { url } = message.location()
      // The apps have no icon, and the browser asks for one all the same.
      if (message.type() !== 'error' || url.endsWith('/favicon.ico')) return
      this.logged.push(`${message.text()} (${url})`)
    })
  }

  static async of(page: Page): Promise<Witness> {
    await page.addInitScript(countDatabaseCalls)
    return new Witness(page)
  }

  /** What the app shows. */
  async result(url: string): Promise<unknown> {
    await this.#page.goto(url)
    const body = this.#page.locator('body[data-result]')
    await body.waitFor({ state: 'attached', timeout: PATIENCE })
    return JSON.parse((await body.getAttribute('data-result')) ?? 'null') as unknown
  }

  /** The workers, once there are as many. One that could not be loaded may take a moment to go. */
  async workers(count: number): Promise<Worker[]> {
    await expect.poll(() => this.#page.workers().length).toBe(count)
    return this.#page.workers()
  }

  /** How often the page itself, and no worker, asked for a database. */
  databaseCalls(): Promise<number> {
    return this.#page.evaluate(() => (globalThis as unknown as { databaseCalls: number }).databaseCalls)
  }

  /** The ids that lie on the disk, whoever put them there. To be asked last: it opens the database on the page. */
  stored(): Promise<unknown[]> {
    return this.#page.evaluate(async () => {
      const settled = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result)
          request.onerror = () => reject(request.error)
        })
      const stored: unknown[] = []
      for (const { name } of await indexedDB.databases()) {
        const database = await settled(indexedDB.open(name!))
        if (database.objectStoreNames.contains('notes')) {
          const ids = IDBKeyRange.lowerBound('')
          stored.push(...(await settled(database.transaction('notes').objectStore('notes').getAllKeys(ids))))
        }
        database.close()
      }
      return stored
    })
  }
}

/** Runs on the page. */
function countDatabaseCalls(): void {
  const counts = Object.assign(globalThis, { databaseCalls: 0 })
  for (const method of ['open', 'deleteDatabase'] as const) {
    const original = IDBFactory.prototype[method] as (...args: unknown[]) => IDBOpenDBRequest
    IDBFactory.prototype[method] = function (this: IDBFactory, ...args: unknown[]) {
      counts.databaseCalls += 1
      return original.apply(this, args)
    }
  }
}
