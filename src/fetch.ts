/**
 * The door of `mayfly/fetch`: a cache for responses, and for anything else that is loaded.
 *
 * @module fetch
 */
export { cachedFetch } from './fetch/cached-fetch.js'
export { cached } from './fetch/cached.js'
export { sourceOf } from './fetch/record.js'
export type { CachedFetch } from './fetch/cached-fetch.js'
export type { Cached, CachedOptions, CachedValue } from './fetch/cached.js'
export type { CachedFetchOptions } from './fetch/options.js'
export type { CachedResponse, Source } from './fetch/record.js'
export type { Lifetimes, Timed } from './fetch/lifetimes.js'
