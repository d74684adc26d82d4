import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The page of the benchmark, with mayfly as it is published. */
export default defineConfig({
  root: path('page'),
  base: '/',
  resolve: { alias: { mayfly: path('../dist/index.js') } },
  worker: { format: 'es' },
  build: {
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    chunkSizeWarningLimit: 5000,
  },
})
