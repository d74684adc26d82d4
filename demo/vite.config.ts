import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { offline } from './build/offline.js'
import { weatherApi } from './build/weather.js'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const dist = (file: string) => path(`../dist/${file}.js`)

/** The demo uses mayfly as it is published: what `scripts/build.mjs` made. */
const alias = [
  { find: /^mayfly$/, replacement: dist('index') },
  { find: /^mayfly\/fetch$/, replacement: dist('fetch') },
  { find: /^mayfly\/worker$/, replacement: dist('mayfly-worker') },
  { find: /^mayfly\/service-worker$/, replacement: dist('service-worker') },
]

export default defineConfig({
  root: path('.'),
  base: './',
  resolve: { alias },
  plugins: [weatherApi(), offline(path('./service-worker.ts'), alias)],
  server: { fs: { allow: [path('..')] } },
  worker: { format: 'es' },
  build: { outDir: path('dist'), emptyOutDir: true, target: 'es2022' },
})
