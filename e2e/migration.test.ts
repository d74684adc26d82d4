import type { BrowserContext, Page } from '@playwright/test'
import type { Collection, CollectionDefinition, Former, Store } from 'mayfly'
import { expect, newTab, test } from './support/lab.js'
import type { Site } from './support/server.js'

interface Note {
  id: string
  name?: string
  title?: string
  runs?: number
}

type Notes = Store<{ notes: CollectionDefinition<Note> }>

declare global {
  interface Window {
    notes: Notes
    /** How often a document came to migrate. */
    calls: number
    seen: Note[]
    progress: { done: number; total: number }[]
  }
}

interface Opening {
  version: number
  /** For so many milliseconds each call of migrate keeps the page busy. */
  busy?: number
  /** The call of migrate that keeps the page busy until the server answers. */
  hangs?: number
  /** The call of migrate during which the worker dies. */
  dies?: number
}

/** Opens “book” as a version of the app does: each adds an index, and from the second on a name is called a title. */
const openBook = (page: Page, opening: Opening) =>
  page.evaluate(async ({ version, busy = 0, hangs, dies }) => {
    const { collection, openStore, workers } = window.lab
    window.calls = 0
    window.progress = []
    const wait = () => {
      for (const end = performance.now() + busy; performance.now() < end;);
    }
    const hang = () => {
      const request = new XMLHttpRequest()
      request.open('GET', '/release', false)
      request.send()
    }
    const migrate = (old: Former): Note => {
      const call = ++window.calls
      if (call === hangs) hang()
      else wait()
      if (call === dies) workers.at(-1)!.terminate()
      const { name, ...note } = old as Note
      return { ...note, ...(name === undefined ? {} : { title: name }), runs: (note.runs ?? 0) + 1 }
    }
    const onMigrate = (progress: { done: number; total: number }) => void window.progress.push(progress)
    let notes = collection<Note>(version > 1 ? { version, migrate, onMigrate } : {})
    if (version > 1) notes = notes.index('title')
    if (version > 2) notes = notes.index('runs')
    const more = collection<Note>()
    const options = { sweep: 'manual' } as const
    window.notes = version > 2 ? openStore('book', { notes, more }, options) : openStore('book', { notes }, options)
    await window.notes.ready
  }, opening)

const fill = async (page: Page, count: number) => {
  await openBook(page, { version: 1 })
  await page.evaluate(async (length) => {
    await window.notes.notes.upsertMany(Array.from({ length }, (_, n) => ({ id: `n${n}`, name: `name ${n}` })))
  }, count)
}

/** How often the documents have been migrated, as they say themselves. */
const runs = (page: Page) =>
  page.evaluate(async () => {
    const counts: Record<string, number> = {}
    for (const { runs } of await window.notes.notes.query().get()) counts[`${runs}`] = (counts[`${runs}`] ?? 0) + 1
    return counts
  })

const calls = (page: Page) => page.evaluate(() => window.calls)

const tabs = (context: BrowserContext, site: Site, count: number) =>
  Promise.all(Array.from({ length: count }, () => newTab(context, site)))

test('a worker that dies in the middle of a migration: the next one goes on, each document is migrated once', async ({
  tab,
}) => {
  await fill(tab, 3000)
  await tab.evaluate(() => window.notes.close())
  await openBook(tab, { version: 2, dies: 1500 })
  expect(await runs(tab)).toEqual({ 1: 3000 })
  expect(await tab.evaluate(() => window.lab.workers.length)).toBe(3)
  await expect.poll(() => tab.evaluate(() => window.progress.at(-1))).toMatchObject({ done: expect.any(Number) })
  const { done, total } = await tab.evaluate(() => window.progress.at(-1)!)
  // The second worker found less to do.
  expect(done).toBe(total)
  expect(total).toBeLessThan(3000)
})

test('a page that is closed in the middle of a migration: the next one goes on', async ({ context, site, tab }) => {
  await fill(tab, 3000)
  await tab.close()
  const closing = await newTab(context, site)
  const opening = openBook(closing, { version: 2, busy: 3 }).catch(() => 'closed')
  await closing.waitForFunction(() => window.progress?.some(({ done }) => done > 500))
  await closing.close()
  expect(await opening).toBe('closed')
  const next = await newTab(context, site)
  await openBook(next, { version: 2 })
  expect(await runs(next)).toEqual({ 1: 3000 })
  expect(await calls(next)).toBeLessThan(2500)
})

test('of two tabs that open a new version at once one migrates, and the other waits', async ({
  context,
  site,
  tab,
}) => {
  await fill(tab, 3000)
  await tab.close()
  const pair = await tabs(context, site, 2)
  await Promise.all(pair.map((page) => openBook(page, { version: 2, busy: 0.2 })))
  for (const page of pair) expect(await runs(page)).toEqual({ 1: 3000 })
  const counts = await Promise.all(pair.map(calls))
  expect(counts.toSorted((a, b) => a - b)).toEqual([0, 3000])
})

test('a tab that hangs in the middle of a migration is overtaken, and undoes nothing when it comes back', async ({
  context,
  site,
  tab,
}) => {
  await fill(tab, 2000)
  await tab.close()
  const [hanging, other] = (await tabs(context, site, 2)) as [Page, Page]
  let release!: () => void
  const released = new Promise<void>((resolve) => (release = resolve))
  await hanging.route('**/release', (route) => released.then(() => route.fulfill()))
  const opening = openBook(hanging, { version: 2, hangs: 700 })
  // What it has done so far shows in a tab of the old version.
  const witness = await newTab(context, site)
  await openBook(witness, { version: 1 })
  await expect.poll(() => runs(witness).then((counts) => counts[1] ?? 0)).toBeGreaterThan(100)
  await openBook(other, { version: 2 })
  expect(await runs(other)).toEqual({ 1: 2000 })
  expect(await calls(other)).toBeGreaterThan(500)
  release()
  await opening
  expect(await runs(hanging)).toEqual({ 1: 2000 })
  expect(await calls(hanging)).toBeLessThan(1500)
})

for (const order of [
  [1, 2, 3],
  [1, 3, 2],
  [2, 1, 3],
  [2, 3, 1],
  [3, 1, 2],
  [3, 2, 1],
]) {
  test(`versions ${order.join(', ')} of an app, opened in this order, work side by side`, async ({ context, site }) => {
    const pages = await tabs(context, site, 4)
    const first = pages.pop()!
    await fill(first, 300)
    await first.close()
    const versions = order.map((version, at) => ({ version, page: pages[at]! }))
    for (const { version, page } of versions) {
      await openBook(page, { version })
      await page.evaluate(() => {
        window.stops = [window.notes.notes.query({ orderBy: 'id' }).subscribe((found) => (window.seen = found))]
      })
    }
    for (const { version, page } of versions) {
      const field = version === 1 ? 'name' : 'title'
      const text = `by ${version}`
      await page.evaluate(
        async ([key, value]) => {
          const notes: Collection<Note> = window.notes.notes
          await notes.upsert({ id: 'shared', [key!]: value })
          await notes.upsert({ id: value!, [key!]: value })
        },
        [field, text],
      )
      for (const other of versions) {
        const { named, titled, shared, count } = await other.page.evaluate(async (value) => {
          const { notes } = window.notes
          const all = await notes.query().get()
          const found = await notes.get('shared')
          return {
            named: all.filter((note) => 'name' in note).length,
            titled: await notes.query({ where: { title: value } }).count(),
            shared: found?.title ?? found?.name,
            count: await notes.query().count(),
          }
        }, text)
        expect(shared).toBe(text)
        expect(count).toBe(300 + 1 + versions.findIndex((one) => one.version === version) + 1)
        if (other.version === 1) continue
        expect({ named, titled }).toEqual({ named: 0, titled: 2 })
        await other.page.waitForFunction((value) => {
          const note = window.seen.find(({ id }) => id === 'shared')
          return note?.title === value && window.seen.every((one) => !('name' in one))
        }, text)
      }
    }
  })
}

test('a worker of another build of mayfly, out of a cache, is not spoken to: the page has its own', async ({ tab }) => {
  let asked = 0
  await tab.route('**/mayfly-worker.js', (route) => {
    asked++
    const body = 'postMessage({ mayfly: "hello", protocol: 999 }); onmessage = () => { throw new Error("spoken to") }'
    return route.fulfill({ contentType: 'text/javascript', body })
  })
  await openBook(tab, { version: 1 })
  await tab.evaluate(() => window.notes.notes.upsert({ id: 'a', name: 'x' }))
  expect(await tab.evaluate(() => window.notes.notes.get('a'))).toMatchObject({ name: 'x' })
  expect(asked).toBe(1)
  expect(await tab.evaluate(() => window.lab.workers.length)).toBe(2)
  const code = await tab.evaluate(async () => {
    const { collection, openStore } = window.lab
    const worker = () => new Worker('/dist/mayfly-worker.js', { type: 'module' })
    const store = openStore('other', { notes: collection<Note>() }, { worker })
    return store.ready.catch((error: { code: string; message: string }) => [error.code, error.message])
  })
  expect(code).toEqual(['unavailable', expect.stringContaining('another version of mayfly')])
})
