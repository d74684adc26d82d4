import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensurePackages, run } from './install.mjs'

ensurePackages()
const { ensureBrowser, isDebianRoot } = await import('./browser.mjs')
const { BROWSERS, missingFor } = await import('./browsers.mjs')
const { hasSqlite } = await import('./sqlite.mjs')

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(BROWSERS, name))
if (unknown.length > 0) {
  console.error(`There is no browser ${unknown.join(', ')}. There are: ${Object.keys(BROWSERS).join(', ')}.`)
  process.exit(1)
}
const names = asked.length > 0 ? asked : Object.keys(BROWSERS)
const isLacking = (name) => missingFor(name).length > 0
if (names.filter(isChromium).some(isLacking)) await ensureBrowser().catch(({ message }) => console.log(message))
install(names.filter(isLacking))
if (!run('node', ['scripts/build.mjs'])) process.exit(1)

const results = []
for (const name of names) {
  const absence = await whyNot(name)
  results.push({ name, ...(absence ? absent(absence) : tested(name)) })
}
const width = Math.max(...names.map((name) => BROWSERS[name].title.length))
console.log()
for (const { name, text } of results) console.log(`${BROWSERS[name].title.padEnd(width)}  ${text}`)
const isFailed = results.some((result) => result.isFailed) || results.every((result) => result.isAbsent)
process.exit(isFailed ? 1 : 0)

/** Debian's packages bring the libraries along that the browsers need. */
function install(lacking) {
  if (lacking.length === 0 || !isDebianRoot()) return
  const packages = [...new Set(lacking.flatMap((name) => BROWSERS[name].packages))].join(' ')
  console.log(`Installing ${packages} …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const command = `apt-get update -qq && apt-get install -y -qq ${packages}`
  const { status } = spawnSync('sh', ['-c', command], { stdio: 'inherit', env })
  if (status !== 0) console.log(`That did not work: ${command}`)
}

/** What keeps a browser from being tested here; undefined when nothing does. */
async function whyNot(name) {
  const missing = missingFor(name)
  if (missing.length > 0) {
    return `not here: ${missing.join(', ')}. On Debian: apt-get install ${BROWSERS[name].packages.join(' ')}`
  }
  if (name !== 'chromium-sqlite' || (await hasSqlite())) return undefined
  return 'this Chromium does not have that back end'
}

/** Whoever asked for a browser by name wants to know that it was not there. */
function absent(text) {
  return { text, isAbsent: true, isFailed: asked.length > 0 }
}

function tested(name) {
  console.log(`\n── ${BROWSERS[name].title}`)
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-report-'))
  const report = join(folder, 'report.json')
  const started = Date.now()
  const isPassed = run('vitest', [
    'run',
    '--project',
    `${name}/*`,
    '--reporter=dot',
    '--reporter=json',
    `--outputFile=${report}`,
  ])
  const seconds = Math.round((Date.now() - started) / 1000)
  const text = `${isPassed ? 'passed' : 'FAILED'}: ${countsIn(report)}, ${seconds} s`
  rmSync(folder, { recursive: true })
  return { text, isFailed: !isPassed }
}

function isChromium(name) {
  return name.startsWith('chromium')
}

function countsIn(report) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'))
    return `${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`
  } catch {
    return 'no result'
  }
}
