import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { root } from './install.mjs'

/** Measures what a browser loads, against the limits in package.json and what the README says. */
const TOLERANCE = 0.2

// The size that matters is that of an app's own bundle, so this is one. What it loads only when needed is not counted.
for (const [name, entry] of Object.entries({ page: 'dist/index.js', fetch: 'dist/fetch.js' })) {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: `node_modules/.cache/mayfly-sizes/${name}`,
      emptyOutDir: true,
      rolldownOptions: {
        input: { [name]: entry },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
        preserveEntrySignatures: 'strict',
      },
    },
  })
}

const bin = join(root, 'node_modules', 'size-limit', 'bin.js')
const { stdout } = spawnSync(process.execPath, [bin, '--json'], { cwd: root, encoding: 'utf8' })
const readme = readFileSync(join(root, 'README.md'), 'utf8')
for (const { name, size, passed, sizeLimit } of JSON.parse(stdout)) {
  const measured = size / 1000
  const said = Number(new RegExp(`^\\| ${name} \\| ([\\d.]+) kB \\|$`, 'm').exec(readme)?.[1])
  const honest = Math.abs(said - measured) <= TOLERANCE
  console.log(`${name}: ${measured.toFixed(1)} kB (limit ${sizeLimit / 1000} kB, README ${said} kB)`)
  if (!passed) console.error('  That is above the limit.')
  if (!honest) console.error('  The README says something else.')
  if (!passed || !honest) process.exitCode = 1
}
