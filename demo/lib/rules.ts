import { plural } from './words.js'

/** The three things that a document's ttl and a collection's defaultTtl can be: the rows and columns of the matrix. */
export type Row = 'absent' | 'never' | 'seconds'
export type Column = 'off' | 'none' | 'seconds'

export interface Timed {
  ttl?: number
  _ts: number
}

export function rowOf({ ttl }: { ttl?: number }): Row {
  return ttl === undefined ? 'absent' : ttl === -1 ? 'never' : 'seconds'
}

export function columnOf(defaultTtl: number | null): Column {
  return defaultTtl === null ? 'off' : defaultTtl === -1 ? 'none' : 'seconds'
}

/** For how many seconds a document lives after its last write; null: for ever. */
export function lifetimeOf(doc: { ttl?: number }, defaultTtl: number | null): number | null {
  if (defaultTtl === null) return null
  const ttl = doc.ttl ?? defaultTtl
  return ttl === -1 ? null : ttl
}

/** When it expires, in milliseconds since 1970; null: never. */
export function endOf(doc: Timed, defaultTtl: number | null): number | null {
  const lifetime = lifetimeOf(doc, defaultTtl)
  return lifetime === null ? null : (doc._ts + lifetime) * 1000
}

export function reasonOf(doc: { ttl?: number }, defaultTtl: number | null): string {
  const lifetime = lifetimeOf(doc, defaultTtl)
  const own = doc.ttl === undefined ? 'no ttl' : doc.ttl === -1 ? 'ttl −1' : `ttl ${doc.ttl}`
  if (defaultTtl === null) return `It has ${own}, but time to live is off here: it never expires.`
  if (doc.ttl === -1) return 'Its ttl of −1 says for ever, whatever the collection’s default is.'
  if (lifetime === null) return 'It has no ttl of its own and the collection no default: it never expires.'
  const from = doc.ttl === undefined ? 'It has no ttl of its own and takes the collection’s' : 'Its own ttl wins'
  return `${from}: it expires ${plural(lifetime, 'second')} after its last write.`
}
