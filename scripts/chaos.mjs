import { parseArgs } from 'node:util'
import { ensurePackages, run } from './install.mjs'

/** `npm run test:chaos -- --minutes 20 --seed 1`. */
const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } })
for (const [name, value] of Object.entries(values)) {
  if (!(Number(value) >= 0)) {
    console.error(`--${name} takes a number, not ${value}.`)
    process.exit(1)
  }
}
ensurePackages()
const { ensureBrowser } = await import('./browser.mjs')
await ensureBrowser()
if (values.minutes) process.env.MINUTES = values.minutes
if (values.seed) process.env.SEED = values.seed
const isDone = run('node', ['scripts/build.mjs']) && run('playwright', ['test', '--config', 'e2e/chaos'])
process.exit(isDone ? 0 : 1)
