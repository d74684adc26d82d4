import { readFileSync } from 'node:fs'

const NAMES = [
  'indexedDB',
  'IDBCursor',
  'IDBCursorWithValue',
  'IDBDatabase',
  'IDBFactory',
  'IDBIndex',
  'IDBKeyRange',
  'IDBObjectStore',
  'IDBOpenDBRequest',
  'IDBRequest',
  'IDBTransaction',
  'IDBVersionChangeEvent',
]

const MARK = '?memory'

/**
 * Makes a second copy of the engine, for a database in memory. In it the names of the browser's IndexedDB are imports
 * from fake-indexeddb: nothing global is touched, and what is not the engine is shared with the first copy.
 */
export function inMemory() {
  const isCopied = (id) => /\/src\/engine\/[\w-]+\.ts$|\/node_modules\/idb\//.test(id)
  return {
    name: 'in-memory',
    enforce: 'pre',
    async resolveId(source, importer) {
      const isInside = importer?.endsWith(MARK)
      if (importer?.includes('/fake-indexeddb/') && source.endsWith('/scheduling.js')) {
        return this.resolve('./scheduling.js', `${import.meta.dirname}/../src/engine/memory.ts`)
      }
      if (!isInside && !source.endsWith('/engine/memory.js')) return undefined
      const plain = isInside ? importer.slice(0, -MARK.length) : importer
      const resolved = await this.resolve(source, plain, { skipSelf: true })
      if (!resolved || !isCopied(resolved.id)) return resolved
      return { id: resolved.id + MARK, moduleSideEffects: false }
    },
    load(id) {
      if (!id.endsWith(MARK)) return undefined
      const code = readFileSync(id.slice(0, -MARK.length), 'utf8')
      const used = NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(code))
      // On the first line, so that the source map stays right.
      const imports = used.length > 0 ? `import { ${used.join(', ')} } from 'fake-indexeddb'; ` : ''
      return { code: imports + code, moduleType: id.includes('.ts') ? 'ts' : 'js', map: null }
    },
  }
}
