/// <reference types="vite/client" />
import 'vitest'
import type { Place } from './workers.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the random tests start. */
    seed: number
    /** How many histories the model test plays. */
    runs: number
    engine: Place
  }
}
