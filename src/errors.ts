import type { ErrorCode, Failure } from './protocol.js'

export interface Place {
  collection?: string | undefined
  id?: string | undefined
}

/** Every failure of a store. `code` is the contract; the text is for people. */
export class MayflyError extends Error {
  /** Always the same, in a minified app too. */
  override readonly name = 'MayflyError'
  /** What went wrong. */
  readonly code: ErrorCode
  /** The collection that the call was about, where it was about one. */
  readonly collection?: string
  /** The id of the document that the call was about, where it was about one. */
  readonly id?: string

  /** The store makes these; an app needs to only where it imitates a failure, as in a test. */
  constructor(code: ErrorCode, message: string, details: Place & { cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    if (details.collection !== undefined) this.collection = details.collection
    if (details.id !== undefined) this.id = details.id
  }
}

/** An error whose text begins with the place: `orders/SO05: …`. */
export function fail(code: ErrorCode, place: Place, sentence: string, cause?: unknown): MayflyError {
  const where = [place.collection, place.id].filter((part) => part !== undefined).join('/')
  return new MayflyError(code, where ? `${where}: ${sentence}` : sentence, { ...place, cause: discreet(cause) })
}

/** A browser shows what it could not clone, the text of a function for one; what is in a document must not get about. */
function discreet(cause: unknown): unknown {
  try {
    if ((cause as Partial<Error> | undefined)?.name !== 'DataCloneError') return cause
    return new DOMException('It could not be cloned.', 'DataCloneError')
  } catch {
    return cause
  }
}

/** What a caller gives may be anything: a getter or a proxy that throws is a bad input like others. */
export function readable<T>(read: () => T, place: Place = {}): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof MayflyError) throw error
    throw fail('invalid', place, 'what was given cannot be read. Give plain data.', error)
  }
}

export function toFailure(error: unknown, place: Place = {}): Failure {
  const known = error instanceof MayflyError ? error : translate(error, place)
  const { code, message, collection, id, cause, remedy } = known as MayflyError & Pick<Failure, 'remedy'>
  return {
    code,
    message,
    ...(collection === undefined ? {} : { collection }),
    ...(id === undefined ? {} : { id }),
    ...(cause === undefined ? {} : { cause: describe(cause) }),
    ...(remedy === undefined ? {} : { remedy }),
  }
}

/** What to make of an error of a write: that a document cannot be cloned is its own fault, all else the database's. */
export function blame(error: unknown, place: Place): unknown {
  return describe(error).name === 'DataCloneError' ? translate(error, place) : error
}

export function fromFailure({ cause, ...rest }: Failure): MayflyError {
  if (!cause) return new MayflyError(rest.code, rest.message, rest)
  const original = new Error(cause.message)
  original.name = cause.name
  return new MayflyError(rest.code, rest.message, { ...rest, cause: original })
}

function translate(error: unknown, place: Place): MayflyError {
  const { name } = describe(error)
  if (name === 'DataCloneError') {
    return fail('invalid', place, 'this holds something that IndexedDB cannot store; nothing was written.', error)
  }
  return name === 'QuotaExceededError'
    ? fail(
        'quota',
        place,
        'the storage is full and nothing was written. Delete documents, or give them a shorter life.',
        error,
      )
    : fail('failed', place, `the browser’s database refused (${name}); nothing was written.`, error)
}

/** DOMExceptions are not Errors everywhere, so this looks at the shape. */
function describe(error: unknown): { name: string; message: string } {
  const { name = 'Error', message = String(error) } = (error ?? {}) as Partial<Error>
  return { name: String(name), message: String(message) }
}
