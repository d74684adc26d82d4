import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Installs the packages of a folder's lock file, unless exactly those are there. */
export function ensurePackages(folder = '') {
  const cwd = `${root}${folder}`
  const stamp = `${cwd}node_modules/.mayfly-lock`
  const wanted = createHash('sha256')
    .update(readFileSync(`${cwd}package-lock.json`))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log(`Installing the packages of ${folder}package-lock.json (npm ci) …`)
  if (!run('npm', ['ci', '--no-audit', '--no-fund'], { cwd })) process.exit(1)
  writeFileSync(stamp, wanted)
}

/** Runs a command of this machine or of an installed package in the project; true when it succeeds. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { ...commandOptions(), stdio: 'inherit', ...options })
  if (error) console.error(`${command} could not be started: ${error.message}`)
  return status === 0
}

/** What it takes to run such a command. */
export function commandOptions() {
  return {
    cwd: root,
    shell: process.platform === 'win32',
    env: { ...process.env, PATH: `${root}node_modules/.bin${delimiter}${process.env.PATH}` },
  }
}
