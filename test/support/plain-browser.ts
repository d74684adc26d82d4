import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineBrowserProvider } from '@vitest/browser'
import type { BrowserProvider, BrowserProviderOption } from 'vitest/node'
import { commandFor, faultOf } from '../../scripts/browsers.mjs'
import type { BrowserName } from '../../scripts/browsers.mjs'

declare module 'vitest/node' {
  interface _BrowserNames {
    plain: BrowserName
  }
}

/**
 * Has Vitest run in a browser that nobody drives: it is started with the address of Vitest's page, and with a profile on
 * the disk that is deleted afterwards.
 */
export function plainBrowser(name: BrowserName): BrowserProviderOption {
  return defineBrowserProvider({ name: 'plain', providerFactory: () => new PlainBrowser(name) })
}

class PlainBrowser implements BrowserProvider {
  readonly name = 'plain'
  readonly supportsParallelism = false
  readonly #browser: BrowserName
  readonly #open = new Map<ChildProcess, string>()
  readonly #endAll = () => this.#open.forEach((_, browser) => end(browser, 'SIGKILL'))

  constructor(browser: BrowserName) {
    this.#browser = browser
    process.once('exit', this.#endAll)
  }

  getCommandsContext(): Record<string, unknown> {
    return {}
  }

  async openPage(_session: string, url: string): Promise<void> {
    const profile = mkdtempSync(join(tmpdir(), `mayfly-${this.#browser}-`))
    const { program, args, env } = commandFor(this.#browser, profile, url)
    // In a group of its own, so that all its processes can be ended together.
    const browser = spawn(program, args, { env, stdio: 'ignore', detached: true })
    this.#open.set(browser, profile)
    await once(browser, 'spawn')
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map(([browser, profile]) => this.#close(browser, profile)))
    process.off('exit', this.#endAll)
  }

  async #close(browser: ChildProcess, profile: string): Promise<void> {
    if (browser.exitCode === null && browser.signalCode === null) {
      const gone = once(browser, 'exit')
      end(browser, 'SIGTERM')
      await gone
    }
    // What it has started may still be about, and writing.
    end(browser, 'SIGKILL')
    this.#open.delete(browser)
    const fault = faultOf(this.#browser, profile)
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    if (fault === undefined) return
    // Vitest says what goes wrong while it ends, but does not count it as a failure.
    process.exitCode = 1
    throw new Error(fault)
  }
}

function end({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // They are gone already.
  }
}
