import { expect } from 'vitest'

interface OnDisk {
  doc: { id: string; _ts: number; _etag: string; ttl?: number; [field: string]: unknown }
  expiresAt?: number
  inheritsFrom?: number
}

interface Setting {
  defaultTtl: number | null
  declared: number | null
  mark: number
  since: number
  entry: number
  keptFrom: number
  kinds: Record<string, number>
  audience: Record<string, string>
  dead: { expiresAt: number; inheritsFrom: number }
  told: { expiresAt: number; inheritsFrom: number }
}

/** What lies in a collection, read past the store. */
export interface Contents {
  setting: Setting
  records: OnDisk[]
  /** The numbers of the journal's entries. */
  journal: number[]
}

/** Reads all collections, and sees to it that what lies there agrees with itself. */
export async function readDisk(name: string): Promise<Record<string, Contents>> {
  const database = await asked(indexedDB.open(name))
  try {
    const names = [...database.objectStoreNames].filter((one) => !one.startsWith('$'))
    const contents: Record<string, Contents> = {}
    for (const one of names) contents[one] = await readCollection(database, one)
    return contents
  } finally {
    database.close()
  }
}

async function readCollection(database: IDBDatabase, name: string): Promise<Contents> {
  const store = database.transaction(name).objectStore(name)
  const [keys, values] = await Promise.all([asked(store.getAllKeys()), asked(store.getAll())])
  const at = keys.indexOf(0)
  const journal = keys.filter((key) => typeof key === 'number' && key > 0) as number[]
  const isRecord = (_: unknown, nth: number) => typeof keys[nth] === 'string'
  const records = (values as OnDisk[]).filter(isRecord)
  const setting = values[at] as Setting
  expect(records.map(({ doc }) => doc.id)).toEqual(keys.filter(isRecord))
  for (const record of records) checkTimes(record)
  checkSetting(setting, journal)
  for (const index of store.indexNames) await checkIndex(store.index(index), records)
  return { setting, records, journal }
}

/** At most one of the two times, and the one that follows from the document. */
function checkTimes({ doc, expiresAt, inheritsFrom }: OnDisk): void {
  const written = Math.round(doc._ts * 1000)
  const own = doc.ttl === -1 ? undefined : doc.ttl === undefined ? undefined : written + doc.ttl * 1000
  const inherited = doc.ttl === undefined ? written : undefined
  const times = { expiresAt: expiresAt && Math.ceil(expiresAt), inheritsFrom: inheritsFrom && Math.ceil(inheritsFrom) }
  expect({ id: doc.id, ...times }).toEqual({ id: doc.id, expiresAt: own, inheritsFrom: inherited })
}

function checkSetting(setting: Setting, journal: number[]): void {
  const { defaultTtl, declared, mark, since, entry, keptFrom, kinds, audience, dead, told } = setting
  for (const ttl of [defaultTtl, declared]) expect(ttl === null || ttl === -1 || ttl > 0).toBe(true)
  for (const number of [mark, since, entry, keptFrom, ...Object.values(dead), ...Object.values(told)]) {
    expect(number).toBeTypeOf('number')
    expect(number).not.toBeNaN()
  }
  for (const kind of Object.values(kinds)) expect(kind).toBeTypeOf('number')
  for (const attention of Object.values(audience)) expect(['results', 'changes']).toContain(attention)
  expect(keptFrom).toBeLessThanOrEqual(entry + 1)
  // From the first that is kept on, none is missing.
  const kept = journal.filter((number) => number >= keptFrom)
  if (Object.keys(audience).length > 0 && entry < 100) {
    expect(kept).toEqual(Array.from({ length: entry - keptFrom + 1 }, (_, nth) => keptFrom + nth))
  }
  expect(Math.max(0, ...journal)).toBeLessThanOrEqual(entry)
}

/** An index has what follows from the records, no more and no less. */
async function checkIndex(index: IDBIndex, records: OnDisk[]): Promise<void> {
  const found: string[] = []
  const request = index.openKeyCursor()
  await new Promise<void>((resolve, reject) => {
    request.addEventListener('error', () => reject(request.error!))
    request.addEventListener('success', () => {
      const cursor = request.result
      if (!cursor) return resolve()
      if (typeof cursor.primaryKey === 'string') found.push(JSON.stringify([cursor.key, cursor.primaryKey]))
      cursor.continue()
    })
  })
  const expected = records.flatMap((record) => {
    return keysOf(record, index).map((key) => JSON.stringify([key, record.doc.id]))
  })
  expect({ index: index.name, entries: found.toSorted() }).toEqual({ index: index.name, entries: expected.toSorted() })
}

function keysOf(record: OnDisk, { keyPath, multiEntry }: IDBIndex): unknown[] {
  if (Array.isArray(keyPath)) {
    const values = keyPath.map((path) => valueAt(record, path))
    return values.every(isKey) ? [values] : []
  }
  const value = valueAt(record, keyPath as string)
  const values = multiEntry && Array.isArray(value) ? [...new Set<unknown>(value)] : [value]
  return values.filter(isKey)
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce((inner, field) => (inner as Record<string, unknown> | undefined)?.[field], value)
}

/** As far as the tests go that look at disks. */
function isKey(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'number' && !Number.isNaN(value))
}

function asked<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error!))
  })
}
