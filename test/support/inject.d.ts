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
    /** How long an array may say that it is: WebKit clones one at the cost of its length, whatever is in it. */
    longest: number
  }
}
