import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** An app of somebody else, in which nothing is installed but the packed package. */
export class App {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  async write(files: Record<string, string>): Promise<void> {
    await Promise.all(Object.entries(files).map(([path, text]) => writeFile(join(this.folder, path), text)))
  }

  /** The names of the packages that are installed. */
  async packages(): Promise<string[]> {
    const names = await readdir(join(this.folder, 'node_modules'))
    return names.filter((name) => !name.startsWith('.'))
  }
}

/** Empty apps with the package installed, by name, in a temporary folder. */
export class Apps<Name extends string> {
  readonly #folder: string
  readonly #apps: Map<Name, App>

  private constructor(folder: string, apps: Map<Name, App>) {
    this.#folder = folder
    this.#apps = apps
  }

  static async make<Name extends string>(names: readonly Name[]): Promise<Apps<Name>> {
    if (!existsSync(join(root, 'dist', 'index.js'))) {
      throw new Error('There is no dist to pack. Make it with: npm test -- build')
    }
    const folder = await mkdtemp(join(await realpath(tmpdir()), 'mayfly-apps-'))
    try {
      const tarball = await pack(folder)
      const apps = names.map(async (name) => [name, await install(tarball, join(folder, name))] as const)
      return new Apps(folder, new Map(await Promise.all(apps)))
    } catch (error) {
      await remove(folder)
      throw error
    }
  }

  get(name: Name): App {
    return this.#apps.get(name)!
  }

  all(): App[] {
    return [...this.#apps.values()]
  }

  remove(): Promise<void> {
    return remove(this.#folder)
  }
}

async function pack(folder: string): Promise<string> {
  const printed = await npm(root, 'pack', '--json', '--pack-destination', folder)
  const [{ filename }] = JSON.parse(printed) as [{ filename: string }]
  return join(folder, filename)
}

async function install(tarball: string, folder: string): Promise<App> {
  const app = new App(folder)
  await mkdir(folder)
  await app.write({ 'package.json': JSON.stringify({ name: 'app', private: true }) })
  // Offline, because the package needs no other.
  await npm(folder, 'install', '--offline', '--no-audit', '--no-fund', tarball)
  return app
}

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', args, { cwd, shell: process.platform === 'win32' })
  return stdout
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true })
}
