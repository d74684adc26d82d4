/** Counts what is asked of IndexedDB, by the name of the method, while `work` runs. */
export async function countRequests(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const undo = [IDBObjectStore, IDBIndex, IDBDatabase, IDBCursor].flatMap((type) =>
    methodsOf(type).map((name) => spy(type.prototype as never, name, counts)),
  )
  try {
    await work()
    return counts
  } finally {
    for (const restore of undo) restore()
  }
}

/** The methods that make a request, read or write records, or begin a transaction. */
function methodsOf(type: { prototype: object }): string[] {
  const asked = [
    'get',
    'getKey',
    'getAll',
    'getAllKeys',
    'count',
    'openCursor',
    'openKeyCursor',
    'put',
    'add',
    'delete',
    'clear',
    'transaction',
    'continue',
    'update',
    'createIndex',
  ]
  return asked.filter((name) => typeof Object.getOwnPropertyDescriptor(type.prototype, name)?.value === 'function')
}

function spy(
  prototype: Record<string, (...args: unknown[]) => unknown>,
  name: string,
  counts: Record<string, number>,
): () => void {
  const original = prototype[name]!
  prototype[name] = function (this: unknown, ...args: unknown[]) {
    counts[name] = (counts[name] ?? 0) + 1
    return original.apply(this, args)
  }
  return () => {
    prototype[name] = original
  }
}

/** Counts the records that IndexedDB gives out, with their values, while `work` runs; keys alone are not counted. */
export async function countRecords(work: () => Promise<unknown>): Promise<number> {
  let records = 0
  const undo = [IDBObjectStore, IDBIndex].flatMap((type) =>
    ['get', 'getAll', 'getAllRecords', 'openCursor'].map((name) => {
      const prototype = type.prototype as unknown as Record<string, (...args: unknown[]) => IDBRequest>
      const original = prototype[name]
      if (!original) return () => undefined
      prototype[name] = function (this: unknown, ...args: unknown[]) {
        const request = original.apply(this, args)
        request.addEventListener('success', () => (records += sizeOf(request.result)))
        return request
      }
      return () => {
        prototype[name] = original
      }
    }),
  )
  try {
    await work()
    return records
  } finally {
    for (const restore of undo) restore()
  }
}

function sizeOf(result: unknown): number {
  if (Array.isArray(result)) return result.length
  return result === null || result === undefined ? 0 : 1
}
