import { MayflyError } from '../errors.js'
import type { ErrorCode, Remedy } from '../protocol.js'

/** A failure about which the page can do something: nothing was done, and everything may be asked again elsewhere. */
export class Obstacle extends MayflyError {
  readonly remedy: Remedy

  constructor(remedy: Remedy, code: ErrorCode, message: string, cause?: unknown) {
    super(code, message, { cause })
    this.remedy = remedy
  }
}

/** There is no IndexedDB, or what there is may not be used, as in the private windows of some browsers. */
export function noDatabase(name: string, cause?: unknown): Obstacle {
  const remedy = "With fallback: 'memory' it is kept in memory, until the page is closed."
  const sentence = `there is no IndexedDB here to keep the store “${name}” in. ${remedy}`
  return new Obstacle('memory', 'unavailable', sentence, cause)
}

/** Safari has lost the process that keeps the databases: this worker, and all others of this page, are cut off for good. */
export function serverLost(name: string, cause: unknown): Obstacle {
  const sentence = `the browser has lost the process that keeps the store “${name}”; nothing was done. Reload the page.`
  return new Obstacle('another worker', 'failed', sentence, cause)
}

export function isServerLost(error: unknown): boolean {
  return /Indexed ?D(ata)?b(ase)? server lost/i.test(String((error as Partial<Error> | null)?.message))
}
