import { accessSync, constants, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium as playwrights } from '@playwright/test'
import { findBrowser, launchArguments } from './browser.mjs'

/** Switches Chromium's databases to SQLite, which is to take the place of LevelDB. */
export const SQLITE = '--enable-features=IdbSqliteBackingStore'

/**
 * The browsers that the tests run in, as they come in Debian's packages. Each is started with a profile of its own and
 * the address of a page; that is all that it takes, so nothing else has to drive it.
 */
export const BROWSERS = {
  chromium: chromium(
    'Chromium, LevelDB',
    '--disable-features=IdbSqliteBackingStore,IdbSqliteOnDiskRollout',
    /\.leveldb$/,
  ),
  'chromium-sqlite': chromium('Chromium, SQLite', SQLITE, /[\\/][A-Z2-7]{52}(-wal)?$/),
  firefox: {
    title: 'Firefox ESR',
    packages: ['firefox-esr'],
    programs: () => ({
      'Firefox (or set FIREFOX to its path)': process.env.FIREFOX ?? onPath('firefox-esr', 'firefox'),
    }),
    command: ([firefox], profile, url) => [firefox, '--headless', '--no-remote', '--profile', profile, url],
    prepare: (profile, preferences) =>
      writeFileSync(join(profile, 'user.js'), userPreferences({ ...FIREFOX_PREFERENCES, ...preferences })),
  },
  webkitgtk: {
    title: 'WebKitGTK',
    packages: ['webkit2gtk-driver', 'xvfb', 'xauth'],
    programs: () => ({
      'MiniBrowser of WebKitGTK (or set MINIBROWSER to its path)': process.env.MINIBROWSER ?? miniBrowser(),
      'xvfb-run': onPath('xvfb-run'),
      xauth: onPath('xauth'),
    }),
    command: ([browser, screen], _profile, url) => [screen, '--auto-servernum', browser, url],
    environment: (profile) => ({
      HOME: profile,
      TMPDIR: profile,
      XDG_DATA_HOME: join(profile, 'data'),
      XDG_CACHE_HOME: join(profile, 'cache'),
      XDG_CONFIG_HOME: join(profile, 'config'),
      // There is no graphics card under a screen that is not there.
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
      // Its sandbox refuses to run as root, as that of Chromium does.
      ...(process.getuid?.() === 0 ? { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' } : {}),
    }),
  },
}

/** What a browser needs and this machine lacks. */
export function missingFor(name) {
  return Object.entries(BROWSERS[name].programs())
    .filter(([, path]) => path === undefined)
    .map(([what]) => what)
}

/** The command that opens an address, and what its surroundings are to be. The preferences are Firefox's. */
export function commandFor(name, profile, url, preferences = {}) {
  const { programs, command, environment, prepare } = BROWSERS[name]
  mkdirSync(profile, { recursive: true })
  prepare?.(profile, preferences)
  const [program, ...args] = command(Object.values(programs()), profile, url)
  return { program, args, env: { ...process.env, ...environment?.(profile) } }
}

/** What is wrong with how a browser kept its databases in a profile; a feature that it does not know is no error to it. */
export function faultOf(name, profile) {
  const { title, databases } = BROWSERS[name]
  if (!databases) return undefined
  const found = filesIn(join(profile, databases.folder)).map(String)
  return found.some((file) => databases.mark.test(file))
    ? undefined
    : `${title}: the databases on the disk are not of that kind, but ${found.slice(0, 5).join(', ') || 'none'}.`
}

function chromium(title, backEnd, mark) {
  return {
    title,
    packages: ['chromium'],
    databases: { folder: 'Default/IndexedDB', mark },
    programs: () => ({
      'Chromium (or set CHROMIUM to its path)': findBrowser() ?? installed(playwrights.executablePath()),
    }),
    command: ([browser], profile, url) => [
      browser,
      '--headless',
      '--no-first-run',
      '--disable-dev-shm-usage',
      ...launchArguments(),
      backEnd,
      `--user-data-dir=${profile}`,
      url,
    ],
  }
}

const FIREFOX_PREFERENCES = {
  'app.normandy.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
}

function userPreferences(values) {
  return Object.entries(values)
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
    .join('')
}

const installed = (file) => (existsSync(file) ? file : undefined)

function onPath(...names) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

/** It comes with the library, in a folder that carries the machine's kind and the library's version. */
function miniBrowser() {
  return folders('/usr/lib')
    .flatMap((folder) => [folder, ...folders(folder).filter((inner) => /webkit2?gtk-/.test(inner))])
    .map((folder) => join(folder, 'MiniBrowser'))
    .find(isExecutable)
}

function folders(parent) {
  try {
    const entries = readdirSync(parent, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(parent, entry.name))
  } catch {
    return []
  }
}

function filesIn(folder) {
  try {
    return readdirSync(folder, { recursive: true })
  } catch {
    return []
  }
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
