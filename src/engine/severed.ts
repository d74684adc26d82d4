import { isClosing } from './closing.js'
import { isServerLost } from './obstacle.js'

/** What is said of a transaction whose connection the browser has closed. */
const NAMES = new Set(['AbortError', 'InvalidStateError', 'UnknownError', 'TransactionInactiveError'])

/** The browser has closed the connection by force, in the middle of a transaction. */
export class Severed extends Error {
  /** The commit had been asked for, and nobody knows what became of it. Otherwise nothing was written. */
  readonly isUncertain: boolean

  constructor(isUncertain: boolean, cause: unknown) {
    super('The browser closed the connection.', { cause })
    this.isUncertain = isUncertain
  }
}

/** Whether it was the end of the connection that a transaction failed of. */
export function isSevered({ db }: IDBTransaction, error: unknown): boolean {
  return isServerLost(error) || (NAMES.has(String((error as Partial<Error>)?.name)) && isClosing(db))
}
