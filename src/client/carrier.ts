/** What `export` and `import` are done with. */
export { partsOf } from './transfer/exporter.js'
export { importFrom } from './transfer/importer.js'
