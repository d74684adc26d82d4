export { openStore } from './page.js'
export { collection } from './schema.js'
export { MayflyError } from './errors.js'
export type * from './types.js'
