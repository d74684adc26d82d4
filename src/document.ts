/** What every collection keeps: an object with a string `id`. */
export interface Identified {
  /** 1 to 1,023 bytes, and no other document of the collection has it. */
  id: string
}

interface Ttl {
  /** Seconds that the document lives after its last write; -1: for ever; absent: the collection’s default. */
  ttl?: number
}

type WithTtl<T> = 'ttl' extends keyof T ? T : T & Ttl

/** A document as the store gives it back. */
export type Stored<T> = WithTtl<T> & {
  /** When the document was last written: seconds since 1970, with the milliseconds as their fraction. */
  readonly _ts: number
  /** A mark that changes with every write, for `ifMatch`. */
  readonly _etag: string
}

/** `_ts` and `_etag` are ignored, so that a document just read can be changed and written back. */
export type Writable<T> = WithTtl<T> & { readonly _ts?: number; readonly _etag?: string }

/** A document as an earlier version of the app wrote it: its fields are to be looked at before they are believed. */
export interface Former extends Identified {
  /** When it was last written. */
  readonly _ts: number
  /** Its mark, which another takes the place of. */
  readonly _etag: string
  [field: string]: unknown
}

type Without<T, K extends PropertyKey> = T extends unknown ? { [P in keyof T as Exclude<P, K>]: T[P] } : never

/** A document to create: its `id` is generated when it is left out. */
export type Creatable<T extends Identified> = Without<Writable<T>, 'id'> & { id?: T['id'] | undefined }

/** Fields to change; one that is `undefined` is removed. */
export type Patch<T> = T extends unknown
  ? { [K in Exclude<keyof WithTtl<T>, 'id' | '_ts' | '_etag'>]?: WithTtl<T>[K] | undefined }
  : never

type Leaf = string | number | bigint | boolean | Date | null | undefined | symbol

type Nested =
  | readonly unknown[]
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | RegExp
  | Error
  | ((...args: never[]) => unknown)

type Depth = [never, 0, 1, 2, 3, 4]

/** A field, or a path into the document such as `address.city`, up to five fields deep. */
export type Path<T, D extends number = 5> = [D] extends [never] | [0]
  ? never
  : T extends Leaf | Nested
    ? never
    : T extends object
      ? {
          [K in keyof T & string]-?:
            | K
            | (Path<NonNullable<T[K]>, Depth[D] & number> extends infer Inner extends string ? `${K}.${Inner}` : never)
        }[keyof T & string]
      : never

/** The type of what stands at a path. */
export type At<T, P extends string> = T extends unknown
  ? P extends keyof T
    ? T[P]
    : P extends `${infer Head}.${infer Tail}`
      ? Head extends keyof T
        ? At<NonNullable<T[Head]>, Tail>
        : undefined
      : undefined
  : never
