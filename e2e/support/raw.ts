/**
 * Looks at a database from outside of mayfly, on a page: what is in an index and not in its store as it is in the
 * index, or the other way round. Nothing is what should be found.
 */
export async function findDisagreements(name: string): Promise<string[]> {
  const result = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.addEventListener('success', () => resolve(request.result))
      request.addEventListener('error', () => reject(request.error))
    })
  const at = (record: unknown, path: string) =>
    path.split('.').reduce<unknown>((value, field) => (value as Record<string, unknown> | undefined)?.[field], record)
  const isKey = (value: unknown) => {
    try {
      return indexedDB.cmp(value, value) === 0
    } catch {
      return false
    }
  }
  const database = await result(indexedDB.open(name))
  const found: string[] = []
  let indexes = 0
  for (const storeName of database.objectStoreNames) {
    const store = database.transaction(storeName).objectStore(storeName)
    const [records, ids] = await Promise.all([result(store.getAll()), result(store.getAllKeys())])
    for (const indexName of store.indexNames) {
      // In one transaction: somebody may be writing.
      const index = store.index(indexName)
      indexes++
      const expected = new Set<string>()
      for (const [position, record] of records.entries()) {
        const key = Array.isArray(index.keyPath)
          ? index.keyPath.map((path) => at(record, path))
          : at(record, index.keyPath)
        const keys = index.multiEntry && Array.isArray(key) ? key : [key]
        for (const one of keys) if (isKey(one)) expected.add(JSON.stringify([one, ids[position]]))
      }
      const actual = new Set<string>()
      const request = index.openKeyCursor()
      for (let cursor = await result(request); cursor; cursor = await result(request)) {
        actual.add(JSON.stringify([cursor.key, cursor.primaryKey]))
        cursor.continue()
      }
      for (const entry of expected) if (!actual.has(entry)) found.push(`${indexName} lacks ${entry}`)
      for (const entry of actual) if (!expected.has(entry)) found.push(`${indexName} has ${entry}`)
    }
  }
  database.close()
  return indexes > 0 ? found : ['there is no index']
}
