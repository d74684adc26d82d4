/** The same door for a service worker, which can neither start a worker nor load a part later. */
export { openStore } from './here.js'
export { collection } from './schema.js'
export { MayflyError } from './errors.js'
export type * from './types.js'
