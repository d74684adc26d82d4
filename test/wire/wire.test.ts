import { collection, openStore } from 'mayfly'
import type { Store } from 'mayfly'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { countRequests } from '../support/requests.js'
import { newName } from '../support/stores.js'
import { PortWorker } from '../support/port-worker.js'

interface Item {
  id: string
  n?: number
  items?: number[]
  text?: string
  ttl?: number
}

const schema = { items: collection<Item>({ defaultTtl: -1 }) }
const opened: Store<object>[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

function open(workers: PortWorker[] = [new PortWorker()], sweep: 'idle' | 'manual' = 'manual') {
  let started = 0
  const worker = () => {
    const next = workers[started++]
    if (!next) throw new Error('There are no more workers.')
    return next as unknown as Worker
  }
  const store = openStore(newName(), schema, { worker, sweep })
  opened.push(store)
  return { store, worker: workers[0]!, items: store.items }
}

const ids = (length: number) => Array.from({ length }, (_, n) => ({ id: `i${String(n).padStart(6, '0')}`, n }))

describe('one message carries all calls of one tick', () => {
  test('2,000 calls cross as one, run in one transaction, and settle in their order', async () => {
    const { items, worker, store } = open()
    await store.ready
    const order: number[] = []
    const cost = await countRequests(() =>
      Promise.all(ids(2000).map((item) => items.upsert(item).then(({ n }) => order.push(n!)))),
    )
    expect(worker.calls('run')).toHaveLength(1)
    expect(cost).toEqual({ transaction: 1, get: 1, put: 2000 })
    expect(order).toEqual(ids(2000).map(({ n }) => n))
  })

  test('reads, writes and failures of one tick each settle with their own result', async () => {
    const { items, worker } = open()
    const outcomes = await Promise.allSettled([
      items.upsert({ id: 'a', n: 1 }),
      items.create({ id: 'a' }),
      items.get('a'),
      items.delete('a'),
      items.get('a'),
      items.replace({ id: 'b' }),
      items.query().count(),
    ])
    expect(worker.calls('run')).toHaveLength(1)
    expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code))).toMatchObject([
      { id: 'a', n: 1 },
      'conflict',
      { id: 'a', n: 1 },
      true,
      undefined,
      'not-found',
      0,
    ])
  })

  test('what arrives while a transaction runs goes together into the next', async () => {
    const { items, worker, store } = open()
    await store.ready
    const cost = await countRequests(async () => {
      const calls = []
      for (const item of ids(100)) {
        calls.push(items.upsert(item))
        await Promise.resolve()
        await Promise.resolve()
      }
      await Promise.all(calls)
    })
    expect(worker.calls('run').length).toBeGreaterThan(20)
    expect(cost['transaction']).toBeLessThan(10)
  })
})

describe('what is long crosses in pieces', () => {
  test('and is whole on the other side, in its order', async () => {
    const { items, worker } = open()
    const pieces: number[] = []
    worker.addEventListener('message', (event) => {
      const { data } = event as MessageEvent<{ mayfly?: string; items: unknown[] }>
      if (data.mayfly === 'piece') pieces.push(data.items.length)
    })
    const docs = ids(5000).map((item) => ({ ...item, text: 'x'.repeat(400) }))
    await items.upsertMany(docs)
    expect(worker.calls('run').length).toBeGreaterThan(4)
    const [all, many] = await Promise.all([items.query().get(), items.getMany(['i000002', 'none', 'i000001'])])
    expect(all.map(({ n }) => n)).toEqual(docs.map(({ n }) => n))
    expect(many.map((doc) => doc?.n)).toEqual([2, undefined, 1])
    expect(pieces.length).toBeGreaterThan(4)
    expect(Math.max(...pieces)).toBeLessThan(1500)
    expect(pieces.reduce((sum, one) => sum + one, 0)).toBe(5000)
  })

  test('large documents make small pieces, whatever they hold', async () => {
    const { items } = open()
    const large = {
      text: 'x'.repeat(200_000),
      deep: { map: new Map([[1, 2]]), bytes: new Uint8Array(50_000), list: [[1, [2]]], none: null },
    }
    await items.upsertMany(ids(6).map((item) => ({ ...item, ...large })))
    const all = await items.query().get()
    expect(all.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5])
    expect(all[5]).toMatchObject(large)
    const { items: page, next } = await items.query({ limit: 4 }).page()
    expect([page.length, typeof next]).toEqual([4, 'string'])
  })

  test('so do many single replies and many single inputs', async () => {
    const { items, worker } = open()
    const docs = ids(400).map((item) => ({ ...item, text: 'x'.repeat(5000) }))
    await items.upsertMany(docs)
    expect(worker.calls('run').length).toBeGreaterThan(5)
    const received: unknown[] = []
    worker.addEventListener('message', (event) => received.push(event))
    const found = await Promise.all([...docs.map(({ id }) => items.get(id)), items.query({ limit: 100 }).get()])
    expect(found.slice(0, 400)).toMatchObject(docs)
    expect(found[400]).toMatchObject(docs.slice(0, 100))
    expect(received.length).toBeGreaterThan(5)
  })

  test('a document that has items itself stays in one piece', async () => {
    const { items } = open()
    const doc = { id: 'a', items: Array.from({ length: 100_000 }, (_, n) => n) }
    await items.upsert(doc)
    expect(await items.get('a')).toMatchObject(doc)
  })
})

describe('a worker', () => {
  test('that dies leaves writes lost, and reads to the next one', async () => {
    const workers = [new PortWorker(), new PortWorker()]
    const { items, store } = open(workers)
    await store.ready
    const [dying] = workers
    dying!.postMessage = () => queueMicrotask(() => dying!.dispatchEvent(new Event('messageerror')))
    const outcomes = await Promise.allSettled([items.upsert({ id: 'a' }), items.get('a'), items.query().count()])
    expect(outcomes).toMatchObject([
      { reason: { name: 'MayflyError', code: 'lost', collection: 'items', id: 'a' } },
      { status: 'fulfilled', value: undefined },
      { status: 'fulfilled', value: 0 },
    ])
    expect(await items.upsert({ id: 'a' })).toMatchObject({ id: 'a' })
  })

  test('that dies over a sweep or an opening is followed by another', async () => {
    const workers = [new PortWorker(), new PortWorker()]
    const { store } = open(workers)
    await store.ready
    const [dying] = workers
    dying!.postMessage = () => queueMicrotask(() => dying!.dispatchEvent(new Event('messageerror')))
    expect(await store.sweep()).toEqual({ deleted: 0 })
  })

  test('is given up after three that died over the same call', async () => {
    const workers = Array.from({ length: 4 }, () => new PortWorker())
    const { items, store } = open(workers)
    await store.ready
    for (const worker of workers) {
      const send = worker.postMessage.bind(worker)
      worker.postMessage = (message) => {
        if (message.path?.[0] === 'run') queueMicrotask(() => worker.dispatchEvent(new Event('messageerror')))
        else send(message)
      }
    }
    await expect(items.get('a')).rejects.toMatchObject({ code: 'lost', id: 'a' })
  })

  test('of another version is refused, and so is one that fails to load; the text says what to do', async () => {
    const broken = new PortWorker({ isSilent: true })
    const workers = [new PortWorker({ protocol: -1 }), broken]
    const { items, store } = open(workers)
    await expect(store.ready).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.ready).rejects.toThrow(/another version of mayfly.*worker: false/)
    const reading = items.get('a')
    const failing = setInterval(() => broken.dispatchEvent(Object.assign(new Event('error'), { message: '' })))
    await expect(reading).rejects.toThrow(/could not be loaded/)
    clearInterval(failing)
    await expect(items.get('a')).rejects.toThrow(/There are no more workers/)
  })

  test('that never says hello is not waited for without end', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    const { store } = open([new PortWorker({ isSilent: true })])
    const refusal = expect(store.ready).rejects.toThrow(/did not say hello/)
    await vi.advanceTimersByTimeAsync(10_000)
    await refusal
    vi.useRealTimers()
  })

  test('that falls silent, with nobody to tell of its death, is given up while somebody waits', async () => {
    const workers = [new PortWorker(), new PortWorker()]
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { items, store } = open(workers)
    await store.ready
    workers[0]!.postMessage = () => undefined
    const calls = Promise.allSettled([items.upsert({ id: 'a' }), items.get('a')])
    await vi.advanceTimersByTimeAsync(25_000)
    vi.useRealTimers()
    expect(await calls).toMatchObject([{ reason: { code: 'lost' } }, { status: 'fulfilled', value: undefined }])
  })

  test('that takes its time is left alone', async () => {
    const worker = new PortWorker()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { items, store } = open([worker])
    await store.ready
    const send = worker.postMessage.bind(worker)
    const held: Parameters<typeof send>[0][] = []
    worker.postMessage = (message) => void (message.path?.[0] === 'run' ? held.push(message) : send(message))
    const reading = items.get('a')
    for (let second = 0; second < 60; second++) {
      await vi.advanceTimersByTimeAsync(1000)
      // The channel's own time is real.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    vi.useRealTimers()
    for (const message of held) send(message)
    expect(await reading).toBeUndefined()
    expect(worker.calls('ping').length).toBeGreaterThan(2)
  })

  test('is not given up by a page that was asleep itself', async () => {
    const worker = new PortWorker()
    const terminate = vi.spyOn(worker, 'terminate')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { items, store } = open([worker])
    await store.ready
    const send = worker.postMessage.bind(worker)
    const held: Parameters<typeof send>[0][] = []
    worker.postMessage = (message) => void held.push(message)
    const reading = items.get('a')
    // Every look of this page comes half a minute late, as in a tab that is hidden or a machine that sleeps.
    for (let look = 0; look < 30; look++) {
      const late = performance.now() + 30_000
      vi.spyOn(performance, 'now').mockReturnValue(late)
      await vi.advanceTimersByTimeAsync(1000)
    }
    vi.mocked(performance.now).mockRestore()
    vi.useRealTimers()
    expect(terminate).not.toHaveBeenCalled()
    worker.postMessage = send
    for (const message of held) send(message)
    expect(await reading).toBeUndefined()
  })

  test('cut off from the database is replaced, and nothing that was asked of it is lost', async () => {
    const workers = [new PortWorker(), new PortWorker()]
    const { items, store } = open(workers)
    await store.ready
    await items.upsert({ id: 'kept' })
    const events: string[] = []
    store.on('recreated', () => events.push('recreated'))
    store.on('reconnected', () => events.push('reconnected'))
    const results: string[] = []
    items.query().subscribe((found) => results.push(found.map(({ id }) => id).join()))
    await expect.poll(() => results).toEqual(['kept'])
    // From now on the connection is refused, and so is every new one, until another worker takes over.
    const lost = () => new DOMException('Connection to Indexed Database server lost. Refresh the page', 'UnknownError')
    const terminate = vi.spyOn(workers[0]!, 'terminate')
    const isGone = () => terminate.mock.calls.length > 0
    const begin = IDBDatabase.prototype.transaction
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
      if (isGone()) return begin.apply(this, args)
      throw new DOMException('The connection is closing.', 'InvalidStateError')
    })
    const open_ = IDBFactory.prototype.open
    vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(function (this: IDBFactory, ...args) {
      if (isGone()) return open_.apply(this, args)
      throw lost()
    })
    const outcomes = await Promise.allSettled([
      items.upsert({ id: 'written' }),
      items.get('kept'),
      items.query().count(),
    ])
    expect(outcomes).toMatchObject([{ value: { id: 'written' } }, { value: { id: 'kept' } }, { value: 2 }])
    expect(isGone()).toBe(true)
    await expect.poll(() => results.at(-1)).toBe('kept,written')
    expect(events).toEqual(['reconnected'])
    vi.restoreAllMocks()
  })

  test('closes when the store does, and destroys what it kept', async () => {
    const worker = new PortWorker()
    const terminate = vi.spyOn(worker, 'terminate')
    const { items, store } = open([worker])
    const writing = items.upsert({ id: 'a' })
    await store.destroy()
    expect(await writing).toMatchObject({ id: 'a' })
    expect(terminate).toHaveBeenCalled()
    await expect(items.get('a')).rejects.toMatchObject({ code: 'closed' })
  })

  test('tells of what expires early, so that the page comes to delete it', async () => {
    vi.useRealTimers()
    const worker = new PortWorker()
    const { items, store } = open([worker], 'idle')
    await expect.poll(() => worker.calls('tidy').length).toBeGreaterThan(0)
    await items.upsert({ id: 'soon', ttl: 0.05 })
    await expect.poll(() => items.stats()).toEqual({ live: 0, expired: 0, nextExpiry: null })
    await store.close()
  })

  test('answers nothing that is not part of the wire', async () => {
    const { items, worker, store } = open()
    await store.ready
    const answers: unknown[] = []
    worker.addEventListener('message', ({ data }: Event & { data?: { id?: string } }) => {
      if (data?.id?.startsWith('intruder')) answers.push(data)
    })
    const intrusions = [
      { type: 'GET', path: ['run'] },
      { type: 'GET', path: [] },
      { type: 'APPLY', path: ['run', 'constructor'], argumentList: [{ type: 'RAW', value: 'return 1' }] },
      { type: 'APPLY', path: ['constructor'], argumentList: [] },
      { type: 'APPLY', path: ['__proto__'], argumentList: [] },
      { type: 'SET', path: ['run'], value: { type: 'RAW', value: 1 } },
      { type: 'CONSTRUCT', path: ['run'], argumentList: [] },
      { type: 'ENDPOINT' },
      { type: 'RELEASE' },
      'text',
      null,
    ]
    intrusions.forEach((message, at) =>
      worker.intrude(typeof message === 'object' ? { ...message, id: `intruder-${at}` } : message),
    )
    // Messages come in order: after this answer there would have been the others.
    expect(await items.upsert({ id: 'a' })).toMatchObject({ id: 'a' })
    expect(answers).toEqual([])
  })
})
