import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensurePackages, root, run } from './install.mjs'

/** Makes `docs/api` from the JSDoc of what is exported; with `--check`, says whether it is what would be made. */
const committed = `${root}docs/api`

ensurePackages('docs/')
if (!process.argv.includes('--check')) {
  if (!generate(committed)) process.exit(1)
} else {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-api-'))
  try {
    if (!generate(folder) || !isSame(pagesOf(folder), pagesOf(committed))) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function generate(out) {
  return run('node', ['docs/node_modules/typedoc/bin/typedoc', '--options', 'docs/typedoc.json', '--out', out])
}

function pagesOf(folder) {
  const text = (name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')
  return new Map(readdirSync(folder).map((name) => [name, text(name)]))
}

function isSame(wanted, found) {
  const names = new Set([...wanted.keys(), ...found.keys()])
  const differing = [...names].filter((name) => wanted.get(name) !== found.get(name))
  for (const name of differing) console.error(`docs/api/${name} is not what the source says. Run: npm run api`)
  return differing.length === 0
}
