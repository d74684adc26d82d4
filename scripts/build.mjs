import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { build } from 'vite'
import { inMemory } from './in-memory.mjs'
import { root, run } from './install.mjs'

/** Makes `dist`, the package as it is published. */
const common = { root, configFile: false, logLevel: 'warn', publicDir: false }

rmSync(`${root}dist`, { recursive: true, force: true })

// The worker stands by itself, so that a browser can load it as it is. Nobody else would minify it.
await build({
  ...common,
  build: {
    target: 'es2022',
    outDir: 'dist',
    sourcemap: true,
    rolldownOptions: {
      input: { 'mayfly-worker': 'src/engine/worker.ts' },
      output: { entryFileNames: '[name].js', codeSplitting: false },
    },
  },
})
const workerText = readFileSync(`${root}dist/mayfly-worker.js`, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '')

await build({
  ...common,
  plugins: [keepWorkerExpression(), inMemory()],
  define: { MAYFLY_WORKER_TEXT: JSON.stringify(workerText) },
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: false,
    sourcemap: true,
    // An app's own build does that, and stack traces should be readable.
    minify: false,
    lib: {
      entry: { index: 'src/index.ts', 'service-worker': 'src/service-worker.ts', fetch: 'src/fetch.ts' },
      formats: ['es'],
    },
    rolldownOptions: { output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' } },
  },
})

if (!run('tsc', ['-p', 'tsconfig.build.json'])) process.exit(1)
writeFileSync(`${root}dist/mayfly-worker.d.ts`, 'export {}\n')
writeFileSync(`${root}dist/LICENSES.txt`, licences())

/**
 * Bundlers find a worker by the literal expression `new Worker(new URL(…, import.meta.url))`, and this one would
 * rewrite it into something that the next one does not know. So it is hidden while this one works.
 */
function keepWorkerExpression() {
  const expression = `new URL('./mayfly-worker.js', import.meta.url)`
  // As long as what it stands for, so that the source map stays right.
  const hidden = '__MAYFLY_WORKER_URL__'.padEnd(expression.length, '_')
  const swap = (from, to) => (code) => (code.includes(from) ? { code: code.replace(from, to), map: null } : undefined)
  return {
    name: 'keep-worker-expression',
    enforce: 'pre',
    transform: swap(expression, hidden),
    renderChunk: swap(hidden, expression),
    closeBundle() {
      const literal = 'new Worker(new URL("./mayfly-worker.js", import.meta.url), { type: "module" })'
      if (!readFileSync(`${root}dist/open.js`, 'utf8').includes(literal)) {
        throw new Error('The expression that starts the worker did not survive the build.')
      }
    },
  }
}

/** The texts of the licences of what is bundled. */
function licences() {
  const texts = { idb: 'LICENSE', comlink: 'LICENSE', 'fake-indexeddb': 'LICENSE' }
  return Object.entries(texts)
    .map(([name, file]) => {
      const { version, license } = JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, 'utf8'))
      const text = readFileSync(`${root}node_modules/${name}/${file}`, 'utf8')
      return `${name} ${version} (${license})\n\n${text.trim()}\n`
    })
    .join(`\n${'-'.repeat(72)}\n\n`)
}
