import { rmSync } from 'node:fs'
import { build } from 'vite'
import { root, run } from './install.mjs'

/** Makes `dist`, the package as it is published. */
rmSync(`${root}dist`, { recursive: true, force: true })
await build({ root, configFile: `${root}vite.config.ts`, logLevel: 'warn' })
if (!run('tsc', ['-p', 'tsconfig.build.json'])) process.exit(1)
