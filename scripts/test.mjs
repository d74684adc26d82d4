import { ensurePackages } from './install.mjs'
import { Output, runStep } from './step.mjs'

/** Every step of `npm test`, in order. `npm test -- lint unit` runs those two. */
const STEPS = {
  readme: ['node', 'scripts/readme.mjs'],
  format: ['oxfmt', '--check', '.'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  types: ['tsc', '-p', '.'],
  unused: ['knip'],
  api: ['node', 'scripts/api.mjs', '--check'],
  build: ['node', 'scripts/build.mjs'],
  package: ['node', 'scripts/package.mjs'],
  sizes: ['node', 'scripts/sizes.mjs'],
  unit: ['vitest', 'run', '--project', 'fake-indexeddb', '--coverage'],
  memory: ['vitest', 'run', '--project', 'memory'],
  bench: ['node', 'bench/smoke.mjs'],
  browser: ['vitest', 'run', '--project', 'chromium', '--project', 'worker', '--project', 'own-worker'],
  sqlite: ['node', 'scripts/test-sqlite.mjs'],
  e2e: ['playwright', 'test', '--project', 'e2e'],
  alone: ['playwright', 'test', '--project', 'alone'],
}

/**
 * Stages come one after another. The lanes of a stage run side by side, for even a small machine can do two things at
 * once; what measures time has the machine to itself.
 */
const STAGES = [
  // Others look at what it makes.
  [['readme']],
  [
    ['format', 'lint', 'types', 'unused'],
    ['api', 'build'],
  ],
  [
    ['package', 'sizes', 'unit'],
    ['memory', 'bench', 'browser', 'sqlite'],
  ],
  [['e2e']],
  [['alone']],
]

ensurePackages()
const { ensureBrowser } = await import('./browser.mjs')

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(STEPS, name))
if (unknown.length > 0) {
  console.error(`There is no step ${unknown.join(', ')}. There are: ${Object.keys(STEPS).join(', ')}.`)
  process.exit(1)
}
const names = asked.length > 0 ? asked : Object.keys(STEPS)
if (['browser', 'sqlite', 'e2e', 'alone', 'bench'].some((name) => names.includes(name))) await ensureBrowser()

const failed = []
for (const stage of STAGES) {
  const output = new Output()
  const lanes = stage.map((lane) => lane.filter((name) => names.includes(name)).map((name) => [name, output.block()]))
  await Promise.all(lanes.map(run))
}
if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`)
console.log(`\nsteps: ${names.length - failed.length} passed, ${failed.length} failed`)
process.exit(failed.length > 0 ? 1 : 0)

async function run(lane) {
  for (const [name, block] of lane) {
    const [command, ...args] = STEPS[name]
    block.write(`\n── ${name}: ${[command, ...args].join(' ')}\n`)
    const started = Date.now()
    const hasPassed = await runStep(command, args, block)
    block.write(
      `── ${name}: ${hasPassed ? 'passed in' : 'FAILED after'} ${Math.round((Date.now() - started) / 1000)} s\n`,
    )
    block.end()
    if (!hasPassed) failed.push(name)
  }
}
