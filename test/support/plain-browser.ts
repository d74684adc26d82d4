import { defineBrowserProvider } from '@vitest/browser'
import type { BrowserProvider, BrowserProviderOption } from 'vitest/node'
import type { BrowserName } from '../../scripts/browsers.mjs'
import { Running } from './running.js'

declare module 'vitest/node' {
  interface _BrowserNames {
    plain: BrowserName
  }
}

/** Has Vitest run in a browser that nobody drives: it is started with the address of Vitest's page. */
export function plainBrowser(name: BrowserName): BrowserProviderOption {
  return defineBrowserProvider({ name: 'plain', providerFactory: () => new PlainBrowser(name) })
}

class PlainBrowser implements BrowserProvider {
  readonly name = 'plain'
  readonly supportsParallelism = false
  readonly #browser: BrowserName
  readonly #running: Running[] = []

  constructor(browser: BrowserName) {
    this.#browser = browser
  }

  getCommandsContext(): Record<string, unknown> {
    return {}
  }

  async openPage(_session: string, url: string): Promise<void> {
    this.#running.push(await Running.start(this.#browser, url))
  }

  async close(): Promise<void> {
    const faults = await Promise.all(this.#running.splice(0).map((browser) => browser.end()))
    const fault = faults.find((text) => text !== undefined)
    if (fault === undefined) return
    // Vitest says what goes wrong while it ends, but does not count it as a failure.
    process.exitCode = 1
    throw new Error(fault)
  }
}
