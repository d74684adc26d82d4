import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandFor, faultOf } from '../../scripts/browsers.mjs'
import type { BrowserName, Preferences } from '../../scripts/browsers.mjs'

/** A browser that was started with the address of a page, and with a profile on the disk that goes when it ends. */
export class Running {
  readonly #name: BrowserName
  readonly #process: ChildProcess
  readonly #profile: string
  readonly #kill = () => this.#signal('SIGKILL')

  private constructor(name: BrowserName, process: ChildProcess, profile: string) {
    this.#name = name
    this.#process = process
    this.#profile = profile
    globalThis.process.once('exit', this.#kill)
  }

  static async start(name: BrowserName, url: string, preferences: Preferences = {}): Promise<Running> {
    const profile = mkdtempSync(join(tmpdir(), `mayfly-${name}-`))
    const { program, args, env } = commandFor(name, profile, url, preferences)
    // In a group of its own, so that all its processes can be ended together.
    const browser = spawn(program, args, { env, stdio: 'ignore', detached: true })
    await once(browser, 'spawn')
    return new Running(name, browser, profile)
  }

  /** Ends it, and says what was wrong with it. */
  async end(): Promise<string | undefined> {
    const { exitCode, signalCode } = this.#process
    if (exitCode === null && signalCode === null) {
      const gone = once(this.#process, 'exit')
      this.#signal('SIGTERM')
      await gone
    }
    // What it has started may still be about, and writing.
    this.#kill()
    process.off('exit', this.#kill)
    const fault = faultOf(this.#name, this.#profile)
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    return fault
  }

  /** Kills those of its processes whose name begins so; how many there were. Needs the `/proc` of Linux. */
  killPart(name: string): number {
    const parts = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && this.#isPart(pid, name))
    for (const pid of parts) process.kill(Number(pid), 'SIGKILL')
    return parts.length
  }

  #isPart(pid: string, name: string): boolean {
    try {
      // "12 (a name) S 1 34 …": the name, in which there may be anything, the state, the parent, the group.
      const [, called, group] = /\((.*)\) \S \d+ (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      return Number(group) === this.#process.pid && called!.startsWith(name)
    } catch {
      return false
    }
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#process.pid!, signal)
    } catch {
      // They are gone already.
    }
  }
}
