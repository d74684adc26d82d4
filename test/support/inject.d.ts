import 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the random tests start. */
    seed: number
    /** How many histories the model test plays. */
    runs: number
  }
}
