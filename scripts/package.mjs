import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run } from './install.mjs'

/** Packs the package as npm would publish it, and has the tarball judged. */
const folder = mkdtempSync(join(tmpdir(), 'mayfly-'))
const shell = process.platform === 'win32'
try {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, encoding: 'utf8', shell }),
  )
  const tarball = join(folder, packed.filename)
  const sound =
    check(packed) &&
    run('publint', ['run', tarball, '--strict']) &&
    run('attw', [tarball, '--profile', 'esm-only', '--format', 'table-flipped'])
  if (!sound) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** What belongs in the package is there, what does not is not, and nothing is left to install. */
function check({ files, dependencies }) {
  const paths = files.map((file) => file.path)
  const missing = ['dist/index.js', 'dist/index.d.ts', 'README.md', 'LICENSE', 'CHANGELOG.md'].filter(
    (path) => !paths.includes(path),
  )
  const strange = paths.filter((path) => !/^(dist\/|package\.json$|README\.md$|LICENSE$|CHANGELOG\.md$)/.test(path))
  if (missing.length > 0) console.error(`The package lacks ${missing.join(', ')}.`)
  if (strange.length > 0) console.error(`The package has ${strange.join(', ')}, which nobody needs.`)
  if (dependencies) console.error('The package has run-time dependencies.')
  return missing.length === 0 && strange.length === 0 && !dependencies
}
