import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The demo uses mayfly as it is published: what `scripts/build.mjs` made. */
export default defineConfig({
  root: path('.'),
  base: './',
  resolve: { alias: { mayfly: path('../dist/index.js') } },
  server: { fs: { allow: [path('..')] } },
  build: { outDir: path('dist'), emptyOutDir: true },
})
