import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import nodeResolve from '@rollup/plugin-node-resolve'
import * as esbuild from 'esbuild'
import { rollup } from 'rollup'
import * as vite from 'vite'
import webpack from 'webpack'
import type { App } from './apps.js'
import type { Site } from '../support/server.js'

/** Each bundles `main.js` of an app with the bundler's defaults, and returns the folder to serve. */

export async function bundleWithVite({ folder }: App): Promise<string> {
  await vite.build({ root: folder, logLevel: 'warn' })
  return join(folder, 'dist')
}

export async function bundleWithWebpack({ folder }: App): Promise<string> {
  const path = await emptied(folder)
  const compiler = webpack({
    mode: 'production',
    context: folder,
    entry: './main.js',
    output: { path, filename: 'main.js' },
  })
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
    compiler.run((error, result) => (error ? reject(error) : resolve(result)))
  })
  await new Promise<void>((resolve, reject) => {
    compiler.close((error) => (error ? reject(error) : resolve()))
  })
  if (stats?.hasErrors() || stats?.hasWarnings()) throw new Error(stats.toString())
  return path
}

export async function bundleWithRollup({ folder }: App): Promise<string> {
  const dir = await emptied(folder)
  const bundle = await rollup({ input: join(folder, 'main.js'), plugins: [nodeResolve({ browser: true })] })
  await bundle.write({ dir, format: 'es' })
  await bundle.close()
  return dir
}

export async function bundleWithEsbuild(
  { folder }: App,
  format: 'esm' | 'iife',
  entries: string[] = ['main.js'],
): Promise<string> {
  const outdir = await emptied(folder)
  await esbuild.build({
    absWorkingDir: folder,
    entryPoints: entries,
    bundle: true,
    format,
    outdir,
    logLevel: 'warning',
  })
  return outdir
}

/** The development server of vite, which bundles what is installed when it starts. */
export async function serveWithVite({ folder }: App): Promise<Site> {
  const server = await vite.createServer({ root: folder, logLevel: 'warn', server: { port: 0 } })
  await server.listen()
  const url = server.resolvedUrls?.local[0]
  if (!url) throw new Error('The development server has no address.')
  return { url, [Symbol.asyncDispose]: () => server.close() }
}

/** A new folder with the page, which all but vite know nothing about. */
async function emptied(folder: string): Promise<string> {
  const path = join(folder, 'dist')
  await rm(path, { recursive: true, force: true })
  await cp(join(folder, 'index.html'), join(path, 'index.html'))
  return path
}
