import { defineConfig } from '@playwright/test'

/** `npm run test:chaos`: for as long as one likes, so no part of `npm test`. */
export default defineConfig({ testDir: '.', testMatch: '*.run.ts', workers: 1, forbidOnly: true, reporter: 'list' })
