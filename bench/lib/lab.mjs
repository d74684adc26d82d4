import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { chromium } from '@playwright/test'
import { findBrowser, launchArguments } from '../../scripts/browser.mjs'
import { root } from '../../scripts/install.mjs'
import { serve } from './server.mjs'

/** Not the folder for temporary files, which may be in memory; and packages of the benchmark are found from there. */
const CACHE = `${root}bench/node_modules/.cache`

/** A browser with its profile on the disk, and a folder of pages for it. */
export class Lab {
  #context
  #server
  #folder

  constructor() {
    mkdirSync(CACHE, { recursive: true })
    this.#folder = mkdtempSync(`${CACHE}/run-`)
    // Also when it is interrupted.
    process.once('exit', () => rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 }))
  }

  /** Where the pages are that it serves. */
  get pages() {
    return `${this.#folder}/pages`
  }

  /** Where what becomes pages may be written. */
  get sources() {
    return `${this.#folder}/sources`
  }

  async open() {
    this.#server = await serve(this.pages)
    const executablePath = findBrowser()
    this.#context = await chromium.launchPersistentContext(`${this.#folder}/profile`, {
      ...(executablePath ? { executablePath } : {}),
      args: [...launchArguments(), '--js-flags=--expose-gc'],
    })
    this.version = this.#context.browser()?.version() ?? 'of unknown version'
  }

  /** A page of its own at an origin of its own, so that nothing is left in it by others; closed after the work. */
  async page(site, path, work) {
    const page = await this.#context.newPage()
    try {
      const errors = []
      page.on('pageerror', (error) => errors.push(error.message))
      await page.goto(`http://${site}.localhost:${this.#server.port}${path}`)
      const result = await work(page)
      if (errors.length > 0) throw new Error(errors.join('\n'))
      return result
    } finally {
      await page.close()
    }
  }

  /** Does a task on a fresh page; undefined when it takes too long. */
  run(site, job, patience) {
    return this.page(site, '/', async (page) => {
      let timer
      const late = new Promise((resolve) => (timer = setTimeout(resolve, patience)))
      try {
        return await Promise.race([page.evaluate((asked) => window.bench(asked), job), late])
      } finally {
        clearTimeout(timer)
      }
    })
  }

  async close() {
    await this.#context?.close()
    await this.#server?.end()
  }
}
