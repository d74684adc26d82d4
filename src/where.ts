import type { At, Path, Stored } from './document.js'

type Bare = string | number | boolean | Date | null | readonly unknown[]

type Ordered = string | number | Date | readonly unknown[]

type Range<V> = [V] extends [never] ? unknown : { gt?: V; gte?: V; lt?: V; lte?: V }

/** The literal types of a union of strings would forbid `{ gte: 'm' }`, so ranges take the whole type. */
type Widened<V> = V extends string ? string : V extends number ? number : V

/** What of a type can be compared with something. */
type Comparable<V> = unknown extends V ? Bare : Extract<V, Bare>

/** What may be asked of a field that may hold anything. */
type AnyOperators = Range<Ordered> & {
  in?: readonly Bare[]
  exists?: boolean
  startsWith?: string
  contains?: Bare
}

type Operators<V> = Range<Widened<Extract<V, Ordered>>> & {
  in?: readonly Extract<V, Bare>[]
  exists?: boolean
} & ([Extract<V, string>] extends [never] ? unknown : { startsWith?: string }) &
  ([Extract<V, readonly unknown[]>] extends [never]
    ? unknown
    : { contains?: Comparable<Extract<V, readonly unknown[]>[number]> })

/** A bare value is equality; an object holds operators, all of which must hold. */
export type Condition<V> = unknown extends V ? Bare | AnyOperators : Extract<V, Bare> | Operators<V>

/** Conditions by field or path, all of which must hold; `or` takes alternatives. */
export type Where<T> = {
  [P in Path<Stored<T>>]?: Condition<At<Stored<T>, P>>
} & { or?: readonly Where<T>[] }

/** The fields and paths that may hold something that has an order. */
export type Orderable<T> = {
  [P in Path<T>]: unknown extends At<T, P> ? P : [Extract<At<T, P>, Ordered>] extends [never] ? never : P
}[Path<T>]

/** Which documents, in what order, and how many. */
export interface QueryOptions<T> {
  /** What must hold of a document; left out: all match. */
  where?: Where<T>
  /** Leaves out documents that lack the field, or hold something there that has no order. */
  orderBy?: Orderable<Stored<T>>
  /** Ties are broken by id, in the same direction. */
  order?: 'asc' | 'desc'
  /** At most so many documents; for `page()`, so many a page. */
  limit?: number
}
