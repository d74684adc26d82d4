import { ensurePackages, run } from './install.mjs'

/** Every step of `npm test`, in order. `npm test -- lint unit` runs those two. */
const STEPS = {
  format: ['oxfmt', '--check', '.'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  readme: ['node', 'scripts/readme.mjs'],
  types: ['tsc', '-p', '.'],
  api: ['node', 'scripts/api.mjs', '--check'],
  unused: ['knip'],
  build: ['node', 'scripts/build.mjs'],
  package: ['node', 'scripts/package.mjs'],
  sizes: ['node', 'scripts/sizes.mjs'],
  unit: ['vitest', 'run', '--project', 'fake-indexeddb', '--coverage'],
  memory: ['vitest', 'run', '--project', 'memory'],
  browser: ['vitest', 'run', '--project', 'chromium', '--project', 'worker', '--project', 'own-worker'],
  sqlite: ['node', 'scripts/test-sqlite.mjs'],
  e2e: ['playwright', 'test'],
  bench: ['node', 'bench/smoke.mjs'],
}

ensurePackages()
const { ensureBrowser } = await import('./browser.mjs')

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(STEPS, name))
if (unknown.length > 0) {
  console.error(`There is no step ${unknown.join(', ')}. There are: ${Object.keys(STEPS).join(', ')}.`)
  process.exit(1)
}
const names = asked.length > 0 ? asked : Object.keys(STEPS)
if (['browser', 'sqlite', 'e2e', 'bench'].some((name) => names.includes(name))) await ensureBrowser()

const failed = []
for (const name of names) {
  const [command, ...args] = STEPS[name]
  console.log(`\n── ${name}: ${[command, ...args].join(' ')}`)
  const started = Date.now()
  if (run(command, args)) console.log(`── ${name}: passed in ${Math.round((Date.now() - started) / 1000)} s`)
  else failed.push(name)
}
if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`)
console.log(`\nsteps: ${names.length - failed.length} passed, ${failed.length} failed`)
process.exit(failed.length > 0 ? 1 : 0)
