import { expect, openShop, test } from './support/lab.js'

test('the database lives in a worker, and the page never calls IndexedDB', async ({ tab }) => {
  await openShop(tab, { defaultTtl: 60 })
  const read = await tab.evaluate(async () => {
    await window.store.items.upsert({ id: 'a', n: 1 })
    return {
      doc: await window.store.items.get('a'),
      calls: window.lab.indexedDBCalls,
      workers: window.lab.workers.length,
    }
  })
  expect(read).toMatchObject({ doc: { id: 'a', n: 1 }, calls: 0, workers: 1 })
  expect(tab.workers()).toHaveLength(1)
  expect(await tab.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name))).toEqual(['shop'])
})

test('2,000 calls of one tick are one message and one transaction, settled in the order of the calls', async ({
  tab,
}) => {
  await openShop(tab, { defaultTtl: 60, sweep: 'manual' })
  const seen = await tab.evaluate(async () => {
    const { lab, store } = window
    await store.items.get('nothing')
    const [before] = await lab.askWorkers({})
    const { sent, received } = lab
    const order: number[] = []
    const writes = Array.from({ length: 2000 }, async (_, n) => {
      const doc = await store.items.upsert({ id: `i${n}`, n })
      order.push(n)
      return doc.n
    })
    const results = await Promise.all(writes)
    const crossed = { sent: lab.sent - sent, received: lab.received - received }
    const [after] = await lab.askWorkers({})
    const inOrder = (list: unknown[]) => list.length === 2000 && list.every((n, at) => n === at)
    return {
      ...crossed,
      inOrder: inOrder(order) && inOrder(results),
      transactions: after!['transaction']! - before!['transaction']!,
      count: await store.items.query().count(),
    }
  })
  expect(seen).toEqual({ sent: 1, received: 1, inOrder: true, transactions: 1, count: 2000 })
})

test('under a stream of single calls, what arrives while a transaction runs goes together into the next', async ({
  tab,
}) => {
  await openShop(tab, { sweep: 'manual' })
  const transactions = await tab.evaluate(async () => {
    const { lab, store } = window
    const [before] = await lab.askWorkers({})
    // A call a task: each is a message of its own.
    const calls: Promise<unknown>[] = []
    await new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel()
      port1.addEventListener('message', () => {
        calls.push(store.items.upsert({ id: `i${calls.length}` }))
        if (calls.length < 1000) port2.postMessage(0)
        else resolve()
      })
      port1.start()
      port2.postMessage(0)
    })
    await Promise.all(calls)
    const [after] = await lab.askWorkers({})
    return after!['transaction']! - before!['transaction']!
  })
  expect(transactions).toBeLessThan(700)
})

test('errors of the worker are MayflyErrors on the page, with code, collection, id and cause', async ({ tab }) => {
  await openShop(tab, { defaultTtl: 60 })
  const seen = await tab.evaluate(async () => {
    const { store, lab } = window
    await store.items.upsert({ id: 'a' })
    const describe = (error: unknown) => {
      const { name, code, collection, id, message, cause } = error as InstanceType<typeof lab.MayflyError>
      const causeName = (cause as Error | undefined)?.name
      return { isOne: error instanceof lab.MayflyError, name, code, collection, id, message, causeName }
    }
    // What a worker can be sent, and IndexedDB cannot store.
    const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))
    const calls = [
      store.items.create({ id: 'a' }),
      store.items.replace({ id: 'b' }),
      store.items.upsert({ id: 'a', ttl: 0 }),
      store.items.upsert({ id: 'a', text: module as never }),
    ]
    return Promise.all(calls.map((call) => call.then(() => undefined, describe)))
  })
  const common = { isOne: true, name: 'MayflyError', collection: 'items' }
  expect(seen).toMatchObject([
    { ...common, code: 'conflict', id: 'a' },
    { ...common, code: 'not-found', id: 'b' },
    { ...common, code: 'invalid', id: 'a' },
    { ...common, code: 'invalid', id: 'a', causeName: 'DataCloneError' },
  ])
})

test('await using closes the store, and its worker ends', async ({ tab }) => {
  const code = await tab.evaluate("import('/using.js').then(({ useAndAsk }) => useAndAsk(window.lab))")
  expect(code).toBe('closed')
  await expect.poll(() => tab.workers().length).toBe(0)
})
