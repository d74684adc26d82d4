/**
 * The door of `mayfly`, and of `mayfly/service-worker`, which has the same names with the engine on board.
 *
 * @module mayfly
 */
export { openStore } from './page.js'
export { collection } from './schema.js'
export { MayflyError } from './errors.js'
export type * from './types.js'
