/**
 * A file of documents: JSON, a value a line. The first line says what it is, the last how many documents lie between.
 * Plain values stand for themselves; for the others there is an object whose `$` says what it is.
 */
export interface Header {
  format: typeof FORMAT
  version: number
  store: string
  collections: { name: string; defaultTtl: number | null; /** Of its documents. */ version: number }[]
}

export interface Line {
  in: string
  doc: unknown
}

export interface Footer {
  /** As many as there are collections. */
  end: number[]
}

export const FORMAT = 'mayfly'
export const VERSION = 1

/** No line is longer, in bytes: it has to be held in memory. */
export const LONGEST_LINE = 128 * 1024 * 1024

/** No value lies deeper: every browser can clone as much as that. */
export const DEEPEST = 1000

/** Binary data: what looks into an ArrayBuffer. Not every browser has all of them. */
export const VIEWS = new Map(
  ['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float16', 'Float32', 'Float64']
    .concat('BigInt64', 'BigUint64')
    .map((name) => `${name}Array`)
    .concat('DataView')
    .flatMap((name): [string, ViewType][] => {
      const view = (globalThis as unknown as Record<string, ViewType | undefined>)[name]
      return view ? [[name, view]] : []
    }),
)

export type ViewType = new (buffer: ArrayBuffer, at: number, length: number) => ArrayBufferView

/** The errors that a clone can be. */
export const ERRORS = new Map(
  [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((type) => [type.name, type]),
)

/** Why a value has no place in a file, or a line none in a store. It never tells what they hold. */
export class Unfit extends Error {}

/** Sets a field of whatever name: assigning to `__proto__` would not make one. */
export function define(object: object, field: string, value: unknown): void {
  Object.defineProperty(object, field, { value, writable: true, enumerable: true, configurable: true })
}
