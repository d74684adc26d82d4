import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run } from '../scripts/install.mjs'

/** Proves that the benchmark works, on a few documents; how long anything takes is no part of it. */
const folder = mkdtempSync(join(tmpdir(), 'mayfly-bench-'))
const contenders = ['raw', 'mayfly', 'dexie']
const workloads = ['open-loaded', 'put-once', 'get-turn', 'delete', 'growth-query', 'size']
const measured = [
  'open-loaded',
  'put-once',
  'get-turn',
  'delete-alone',
  'delete-alone-longest',
  'delete-asked-median',
  'delete-asked-p99',
  'delete-asked-time',
  'growth-query-1000',
  'growth-query-3000',
  'size-page',
]
try {
  const args = ['--contenders', contenders.join(), '--workloads', workloads.join(), '--out', folder]
  const small = ['--rounds', '1', '--no-warm-up', '--scale', '0.01', '--no-build']
  assert(run('node', ['bench/run.mjs', ...args, ...small]), 'the benchmark ended with an error')
  checkResults()
  checkRefusal(['--contenders', 'nobody'], /--contenders has no nobody\. There are: raw, mayfly/)
  checkRefusal(['--workloads', 'pu'], /--workloads has no pu\./)
  checkRefusal(['--rounds', '1.5'], /--rounds is a whole number/)
  checkRefusal(['--scale', 'much'], /--scale is a number from .* not much/)
  checkRefusal(['--quick'], /--quick/)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Every row has a figure of every contender, in the table and in the picture. */
function checkResults() {
  const { rows, omitted } = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'))
  assert.deepEqual(omitted, [])
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => name !== 'size-worker'),
    measured,
  )
  for (const { name, values } of rows) {
    const wanted = name === 'size-worker' ? ['mayfly'] : contenders
    assert.deepEqual(Object.keys(values).toSorted(), wanted.toSorted(), name)
    for (const { median } of Object.values(values)) assert(Number.isFinite(median) && median >= 0, name)
  }
  const table = readFileSync(join(folder, 'results.md'), 'utf8')
  for (const { title } of rows) assert(table.includes(`| ${title} |`), title)
  assert.match(readFileSync(join(folder, 'results.svg'), 'utf8'), /^<svg .*class="mayfly".*<\/svg>\n$/s)
}

function checkRefusal(args, sentence) {
  const { status, stderr } = spawnSync(process.execPath, ['bench/run.mjs', ...args], { cwd: root, encoding: 'utf8' })
  assert.equal(status, 1, args.join(' '))
  assert.match(stderr, sentence)
}
