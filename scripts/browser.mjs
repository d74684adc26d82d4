import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge']

const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ...['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA']
    .map((variable) => process.env[variable])
    .filter((folder) => folder !== undefined)
    .map((folder) => join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe')),
]

const HELP = `No Chrome or Chromium was found, and none could be installed. Please do one of these:
  - install Chromium or Google Chrome (on Debian or Ubuntu: apt-get install chromium), or
  - set CHROMIUM to the path of one that is there.`

/** The path of this machine's Chrome or Chromium; undefined leaves the choice to Playwright. */
export function findBrowser() {
  const onPath = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return [process.env.CHROMIUM, ...onPath, ...PLACES].find((file) => file && isExecutable(file))
}

/** Chromium refuses to run as root inside its sandbox. */
export function launchArguments() {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : []
}

/** Sees to it that there is a browser, and says what it installs. */
export async function ensureBrowser() {
  if (findBrowser() || (await hasPlaywrights())) return
  console.log('No Chrome or Chromium found on this machine.')
  for (const [what, command, args] of ways()) {
    console.log(`Installing ${what} …`)
    spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' })
    if (findBrowser() || (await hasPlaywrights())) return
    console.log(`That did not work: ${command} ${args.join(' ')}`)
  }
  throw new Error(HELP)
}

function ways() {
  const playwright = ['Chromium with Playwright', 'npx', ['playwright', 'install', 'chromium']]
  if (!isDebianRoot()) return [playwright]
  // Debian's package brings the libraries along that the browser needs.
  return [['Debian’s chromium', 'sh', ['-c', 'apt-get update -qq && apt-get install -y -qq chromium']], playwright]
}

export function isDebianRoot() {
  const release = '/etc/os-release'
  return process.getuid?.() === 0 && existsSync(release) && /^ID="?debian"?$/m.test(readFileSync(release, 'utf8'))
}

async function hasPlaywrights() {
  const { chromium } = await import('@playwright/test')
  return existsSync(chromium.executablePath())
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
