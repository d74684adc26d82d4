import { chromium } from '@playwright/test'
import type { BrowserContext } from '@playwright/test'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findBrowser, launchArguments } from '../../scripts/browser.mjs'

/** Nothing that calls home, asks questions, or writes to the profile by itself. */
const QUIET = [
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-gpu',
  '--password-store=basic',
  '--use-mock-keychain',
]

/** A Chromium with a profile on the disk, as people have it: tabs behind others are hidden, and may be frozen. */
export interface OwnChromium {
  context: BrowserContext
  /** Kills all its processes, at once and without a warning. */
  kill(): Promise<void>
  close(): Promise<void>
}

/** A folder for profiles, for as long as some work takes. */
export async function withProfile<T>(work: (profile: string) => Promise<T>): Promise<T> {
  const profile = await mkdtemp(join(tmpdir(), 'mayfly-profile-'))
  try {
    return await work(profile)
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Playwright would start it with pages that are always visible, and could not kill it. */
export async function startChromium(profile: string): Promise<OwnChromium> {
  const file = findBrowser() ?? chromium.executablePath()
  const flags = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, ...QUIET]
  const browserProcess = spawn(file, [...launchArguments(), ...flags, 'about:blank'], {
    // Detached, it leads a group of processes, which are killed together.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const gone = once(browserProcess, 'exit')
  const kill = async () => {
    killGroup(browserProcess)
    await gone
  }
  const orphaned = () => killGroup(browserProcess)
  process.once('exit', orphaned)
  void gone.then(() => process.off('exit', orphaned))
  try {
    const browser = await chromium.connectOverCDP(await addressOf(browserProcess), { noDefaults: true })
    const close = async () => {
      const session = await browser.newBrowserCDPSession()
      await Promise.race([session.send('Browser.close').catch(() => undefined), gone])
      await gone
    }
    return { context: browser.contexts()[0]!, kill, close }
  } catch (error) {
    await kill()
    throw error
  }
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has gone by itself meanwhile.
  }
}

/** It says on its standard error where it listens. What else it says there is read too, or it would wait for that. */
function addressOf({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stderr! })
    const told: string[] = []
    lines.on('line', (line) => {
      told.push(line)
      const address = /^DevTools listening on (ws:.+)$/.exec(line)?.[1]
      if (address) resolve(address)
    })
    lines.once('close', () => reject(new Error(`The browser ended: ${told.join('\n')}`)))
  })
}
