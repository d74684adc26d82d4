import { expect, newTab, openShop, test } from './support/lab.js'

test('a worker that dies: writes are lost, reads are repeated, the next call works', async ({ tab }) => {
  await openShop(tab)
  const outcomes = await tab.evaluate(async () => {
    const { store, lab } = window
    await store.items.upsert({ id: 'kept' })
    const calls = [
      store.items.get('kept'),
      store.items.upsert({ id: 'unknown' }),
      store.items.query().count(),
      store.items.update('kept', (doc) => ({ ...doc, n: 1 })),
      store.items.upsertMany([{ id: 'x' }]),
      store.sweep(),
      store.items.getMany(['kept']),
    ]
    // The messages go out at the end of this tick; the worker dies in the next, before it can have answered.
    await Promise.resolve()
    lab.workers.at(-1)!.terminate()
    const settled = await Promise.allSettled(calls)
    const next = await store.items.upsert({ id: 'next' })
    return {
      next: next.id,
      workers: lab.workers.length,
      settled: settled.map((one) =>
        one.status === 'fulfilled' ? 'fulfilled' : [one.reason.name, one.reason.code, one.reason.collection],
      ),
    }
  })
  const lost = ['MayflyError', 'lost', 'items']
  const { settled, ...rest } = outcomes
  expect(rest).toEqual({ next: 'next', workers: 2 })
  expect(settled.slice(0, 3)).toEqual(['fulfilled', lost, 'fulfilled'])
  // What had not been sent when the worker died goes to the next one; what had is lost or, if only read, repeated.
  for (const one of settled.slice(3)) expect(['fulfilled', lost]).toContainEqual(one)
})

test('terminated in the middle of writes: nothing acknowledged is missing, nothing is half written', async ({
  context,
  site,
  tab,
}) => {
  await openShop(tab, { index: 'n' })
  const rounds = await tab.evaluate(async () => {
    const { store, lab } = window
    const acknowledged: string[] = []
    const codes = new Set<string>()
    for (let round = 0; round < 15; round++) {
      // The worker of this round has started.
      await store.items.get('nothing')
      const writes = Array.from({ length: 40 }, async (_, n) => {
        // Several messages, some of them still on their way when the worker dies.
        for (let step = 0; step < n % 5; step++) await new Promise((resolve) => setTimeout(resolve))
        const doc = { id: `r${round}-${n}`, n: round, text: 'x'.repeat(500) }
        await store.items.upsert(doc).then(
          () => acknowledged.push(doc.id),
          (error: { code: string }) => codes.add(error.code),
        )
      })
      await new Promise((resolve) => setTimeout(resolve, round))
      lab.workers.at(-1)!.terminate()
      await Promise.all(writes)
    }
    return { acknowledged, codes: [...codes], workers: lab.workers.length }
  })
  expect(rounds.workers).toBeGreaterThan(10)
  expect(rounds.codes.every((code) => code === 'lost')).toBe(true)
  expect(rounds.acknowledged.length).toBeGreaterThan(0)

  const other = await newTab(context, site)
  await openShop(other, { index: 'n' })
  const found = await other.evaluate(async () => {
    const docs = await window.store.items.query().get()
    const byIndex = await Promise.all(
      Array.from({ length: 15 }, (_, n) => window.store.items.query({ where: { n } }).count()),
    )
    return {
      ids: docs.map(({ id }) => id),
      whole: docs.every(({ text, _etag }) => text?.length === 500 && _etag),
      byIndex: byIndex.reduce((sum, one) => sum + one, 0),
    }
  })
  expect(rounds.acknowledged.filter((id) => !found.ids.includes(id))).toEqual([])
  expect(found.whole).toBe(true)
  expect(found.byIndex).toBe(found.ids.length)
})

test('a worker that dies over every call does not make one hang', async ({ tab }) => {
  await openShop(tab, { sweep: 'manual' })
  const code = await tab.evaluate(async () => {
    const { store, lab } = window
    const RealWorker = window.Worker
    window.Worker = class extends RealWorker {
      override postMessage(...args: [unknown]) {
        super.postMessage(...args)
        const { path } = args[0] as { path?: string[] }
        if (path?.[0] === 'run') this.terminate()
      }
    }
    lab.workers.at(-1)!.terminate()
    return store.items.get('a').then(
      () => 'answered',
      (error: { code: string }) => error.code,
    )
  })
  expect(code).toBe('lost')
})

test('a worker that closes itself is replaced', async ({ tab }) => {
  await openShop(tab, { sweep: 'manual' })
  const [worker] = tab.workers()
  await worker!.evaluate(() => self.close()).catch(() => undefined)
  // A write that meets the dying worker is lost; a read is repeated, and shows that there is another.
  expect(await tab.evaluate(() => window.store.items.get('a'))).toBeUndefined()
  expect(await tab.evaluate(() => window.store.items.upsert({ id: 'a' }).then(({ id }) => id))).toBe('a')
})

test('where no worker can be had, every call says so, and a later one works', async ({ tab }) => {
  const codes = await tab.evaluate(async () => {
    const { lab } = window
    const real = window.Worker
    window.Worker = class {
      constructor() {
        throw new DOMException('Forbidden here', 'SecurityError')
      }
    } as never
    const store = lab.openStore('nowhere', { items: lab.collection<{ id: string }>() })
    const calls = [
      store.ready,
      store.items.get('a'),
      store.items.upsert({ id: 'a' }),
      store.sweep(),
      store.items.query().get(),
    ]
    const outcomes = await Promise.all(
      calls.map((call) =>
        call.then(
          () => 'worked',
          (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
        ),
      ),
    )
    window.Worker = real
    return [...outcomes, (await store.items.upsert({ id: 'a' })).id]
  })
  expect(codes.at(-1)).toBe('a')
  for (const code of codes.slice(0, -1)) expect(code).toMatch(/^unavailable: .*Forbidden here.*worker: false/)
})

test('a connection that the browser closes by force is opened again', async ({ context, site, tab }) => {
  await openShop(tab)
  await tab.evaluate(() => window.store.items.upsert({ id: 'a' }))
  const session = await context.newCDPSession(tab)
  await session.send('Storage.clearDataForOrigin', { origin: site.url, storageTypes: 'indexeddb' })
  const seen = await tab.evaluate(async () => {
    const before = await window.store.items.get('a')
    const { id } = await window.store.items.upsert({ id: 'b' })
    return { before, id, count: await window.store.items.query().count() }
  })
  expect(seen).toEqual({ before: undefined, id: 'b', count: 1 })
})

test('close lets what was asked finish; destroy works with other tabs open', async ({ context, site, tab }) => {
  await openShop(tab)
  const other = await newTab(context, site)
  await openShop(other)
  const closed = await tab.evaluate(async () => {
    const { store } = window
    const writing = store.items.upsertMany(Array.from({ length: 3000 }, (_, n) => ({ id: `i${n}` })))
    const last = store.items.upsert({ id: 'last' })
    await store.close()
    return [
      (await writing).written,
      (await last).id,
      await store.items.get('a').catch((error: { code: string }) => error.code),
    ]
  })
  expect(closed).toEqual([3000, 'last', 'closed'])
  expect(await other.evaluate(() => window.store.items.query().count())).toBe(3001)
  await openShop(tab)
  await tab.evaluate(() => window.store.destroy())
  expect(await other.evaluate(() => window.store.items.query().count())).toBe(0)
})

test('where the browser has no locks, a dead worker is noticed all the same', async ({ tab }) => {
  await tab.clock.install()
  await tab.evaluate(() => Object.defineProperty(Navigator.prototype, 'locks', { value: undefined }))
  await openShop(tab, { sweep: 'manual' })
  await tab.evaluate(() => {
    const { store, lab } = window
    lab.workers.at(-1)!.terminate()
    window.pending = Promise.allSettled([store.items.upsert({ id: 'a' }), store.items.get('a')])
  })
  const another = async () => {
    await tab.clock.runFor(1000)
    return tab.evaluate(() => window.lab.workers.length)
  }
  await expect.poll(another, { intervals: [10] }).toBe(2)
  await tab.clock.resume()
  const outcomes = await tab.evaluate(async () => {
    const calls = (await window.pending) as PromiseSettledResult<unknown>[]
    return [calls.map(({ status }) => status), (await window.store.items.upsert({ id: 'a' })).id]
  })
  expect(outcomes).toEqual([['rejected', 'fulfilled'], 'a'])
})

for (const end of ['close', 'destroy'] as const) {
  test(`${end} right after opening leaves no worker behind, and no database that was not wanted`, async ({ tab }) => {
    const left = await tab.evaluate(async (end) => {
      const { openStore, collection } = window.lab
      for (let round = 0; round < 5; round++) await openStore('brief', { items: collection<{ id: string }>() })[end]()
      return (await indexedDB.databases()).length
    }, end)
    if (end === 'destroy') expect(left).toBe(0)
    await expect.poll(() => tab.workers().length).toBe(0)
    const locks = () => tab.evaluate(async () => (await navigator.locks.query()).held?.length)
    await expect.poll(locks).toBe(0)
  })
}
