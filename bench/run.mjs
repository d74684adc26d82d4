import { ensurePackages, root, run } from '../scripts/install.mjs'
import { options } from './lib/options.mjs'

const asked = options(process.argv.slice(2))
const bench = `${root}bench/`

ensurePackages()
ensurePackages('bench/')
const { ensureBrowser } = await import('../scripts/browser.mjs')
await ensureBrowser()
if (asked.build) {
  console.log('Building mayfly …')
  if (!run('node', ['scripts/build.mjs'])) process.exit(1)
}
const { measure } = await import('./lib/measure.mjs')
const { write } = await import('./lib/report.mjs')
await write(await measure(asked, bench), asked.out ?? `${bench}results${asked.isWhole ? '' : '/partial'}`)
