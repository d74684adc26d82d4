import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'vite'
import type { Alias, Plugin } from 'vite'

/** Builds the service worker, once the page is there: it has to know every file of the page by name. */
export function offline(entry: string, alias: Alias[]): Plugin {
  let folder = ''
  return {
    name: 'offline',
    apply: 'build',
    configResolved(config) {
      folder = config.build.outDir
    },
    async closeBundle() {
      await build({
        configFile: false,
        // It would warn of `import.meta`, which only a page that starts a worker needs.
        logLevel: 'error',
        publicDir: false,
        resolve: { alias },
        define: { FILES: JSON.stringify(['./', ...filesIn(folder)]) },
        build: {
          outDir: folder,
          emptyOutDir: false,
          target: 'es2022',
          // One file, and no module: not every browser loads those as service workers.
          rolldownOptions: {
            input: { 'service-worker': entry },
            output: { entryFileNames: '[name].js', format: 'iife', codeSplitting: false },
          },
        },
      })
    },
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name !== 'service-worker.js')
    .map((file) => relative(folder, join(file.parentPath, file.name)).replaceAll('\\', '/'))
    .toSorted()
}
