import type { Page } from '@playwright/test'

/** How many records lie on the disk, dead or alive: counted from outside of mayfly. */
export function onDisk(page: Page, collection: 'items' | 'others' = 'items'): Promise<number> {
  return page.evaluate(async (name) => {
    const result = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result))
        request.addEventListener('error', () => reject(request.error))
      })
    const database = await result(indexedDB.open('shop'))
    const count = await result(database.transaction(name).objectStore(name).count(IDBKeyRange.lowerBound('')))
    database.close()
    return count
  }, collection)
}
