import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { root } from './install.mjs'
import { ensureBrowser, findBrowser, launchArguments } from './browser.mjs'

/**
 * Runs very many random operations through the built package, in a page with a worker, and looks at each tenth whether
 * memory stays what it was and whether anything is left in any table: of promises, and in all maps, sets and arrays.
 */
const { values } = parseArgs({
  options: { operations: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
})
const operations = Number(values.operations)
const seed = Number(values.seed)

/** How much more than after the first tenths may be there at the end; the noise of both is far below. */
const LIMITS = { heap: 1.15, promises: 1.1, entries: 1.1 }
/** Where there is next to nothing, a few more are no growth. */
const SLACK = { heap: 1_000_000, promises: 100, entries: 3000 }

await ensureBrowser()
const { chromium } = await import('@playwright/test')
const server = createServer(answer)
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const browser = await chromium.launch({ executablePath: findBrowser(), args: launchArguments() })
try {
  const page = await browser.newPage()
  page.on('pageerror', (error) => fail(`The page failed: ${error.message}`))
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  const targets = await attach(page)
  await page.evaluate((given) => globalThis.begin(given), seed)
  const looks = []
  const started = performance.now()
  for (let tenth = 1; tenth <= 10; tenth++) {
    const refused = await page.evaluate((given) => globalThis.run(given), operations / 10)
    const look = {}
    for (const [name, ask] of Object.entries(targets())) look[name] = await measure(ask)
    looks.push(look)
    const seconds = Math.round((performance.now() - started) / 1000)
    console.log(`${(tenth * operations) / 10} operations, ${seconds} s, refusals ${JSON.stringify(refused)}`)
    for (const [name, figures] of Object.entries(look)) console.log(`  ${name}: ${JSON.stringify(figures)}`)
  }
  judge(looks)
} finally {
  await browser.close()
  server.close()
}

/** Compares the last looks with the first ones: what grows with the operations is more every time. */
function judge(looks) {
  for (const name of ['page', 'worker']) {
    if (!looks.every((look) => look[name])) fail(`There was no ${name} to look at.`)
    for (const figure of Object.keys(LIMITS)) {
      const all = looks.map((look) => look[name]?.[figure])
      const before = Math.max(...all.slice(1, 4))
      const after = Math.min(...all.slice(-3))
      if (after > before * LIMITS[figure] + SLACK[figure]) fail(`${name}: ${figure} grew, ${all.join(' → ')}`)
    }
  }
  if (!process.exitCode) console.log('Memory is flat, and nothing is left in any table.')
}

function fail(sentence) {
  console.error(sentence)
  process.exitCode = 1
}

/** What is alive after a garbage collection. */
async function measure(ask) {
  await ask('HeapProfiler.collectGarbage')
  await ask('HeapProfiler.collectGarbage')
  const { usedSize } = await ask('Runtime.getHeapUsage')
  const promises = await count(ask, 'Promise', 'function () { return this.length }')
  let entries = 0
  for (const type of ['Map', 'Set']) entries += await count(ask, type, sumOf('size'))
  entries += await count(ask, 'Array', sumOf('length'))
  await ask('Runtime.releaseObjectGroup', { objectGroup: 'soak' })
  return { heap: usedSize, promises, entries }
}

function sumOf(field) {
  return `function () { let sum = 0; for (const one of this) if (one !== this) sum += Number(one.${field}) || 0; return sum }`
}

async function count(ask, type, functionDeclaration) {
  const objectGroup = 'soak'
  const { result } = await ask('Runtime.evaluate', { expression: `${type}.prototype`, objectGroup })
  const { objects } = await ask('Runtime.queryObjects', { prototypeObjectId: result.objectId, objectGroup })
  const { result: sum } = await ask('Runtime.callFunctionOn', {
    objectId: objects.objectId,
    functionDeclaration,
    returnByValue: true,
  })
  return sum.value
}

/** Ways to ask the page and its worker, over the browser's protocol for debuggers. */
async function attach(page) {
  const session = await page.context().newCDPSession(page)
  const workers = new Map()
  const waiting = new Map()
  let calls = 0
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type === 'worker') workers.set(sessionId, targetInfo)
  })
  session.on('Target.detachedFromTarget', ({ sessionId }) => workers.delete(sessionId))
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, result, error } = JSON.parse(message)
    const { resolve, reject } = waiting.get(id) ?? {}
    waiting.delete(id)
    if (error) reject?.(new Error(error.message))
    else resolve?.(result)
  })
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false })
  const askWorker = (sessionId) => (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++calls
      waiting.set(id, { resolve, reject })
      const message = JSON.stringify({ id, method, params: params ?? {} })
      session.send('Target.sendMessageToTarget', { sessionId, message }).catch(reject)
    })
  return () => {
    const [worker] = workers.keys()
    return {
      page: (method, params) => session.send(method, params),
      ...(worker === undefined ? {} : { worker: askWorker(worker) }),
    }
  }
}

function answer({ url }, response) {
  if (url === '/') {
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><title>soak</title><script type="module">(${app})()</script>`)
    return
  }
  try {
    const body = readFileSync(`${root}dist/${url.split('/').pop()}`)
    response.setHeader('content-type', 'text/javascript')
    response.end(body)
  } catch {
    response.statusCode = 404
    response.end()
  }
}

/** What the page does. It runs there, so it must need nothing from here. */
async function app() {
  const { collection, openStore } = await import('/dist/index.js')
  let state = 1
  const below = (end) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
  const store = openStore('soak', {
    notes: collection({ defaultTtl: 30 }).index('n').uniqueIndex('code'),
    logs: collection({ defaultTtl: -1 }).index('n'),
  })
  const IDS = 400
  const id = () => `i${below(IDS)}`
  const note = () => ({ id: id(), n: below(50), text: 'x'.repeat(below(60)), ttl: [-1, 0.05, 1, 20][below(4)] })
  const stops = []
  const names = ['notes', 'logs']
  const things = () => store[names[below(2)]]
  const WAYS = [
    () => things().upsert(note()),
    () => things().create(note()),
    () => things().replace(note()),
    () => things().patch(id(), { n: below(50) }),
    () => things().update(id(), (doc) => ({ ...doc, n: below(50) })),
    () => things().touch(id()),
    () => things().delete(id()),
    () => things().get(id()),
    () => things().getMany([id(), id(), id()]),
    () =>
      things()
        .query({ where: { n: { gte: below(50) } }, orderBy: 'n', limit: 5 })
        .get(),
    () =>
      things()
        .query({ where: { n: below(50) } })
        .count(),
    () => things().query({ limit: 3 }).page(),
    () => things().expiresAt(id()),
  ]
  const RARE = [
    () => things().stats(),
    () => things().upsertMany(Array.from({ length: 20 }, note)),
    () => things().deleteMany(Array.from({ length: 20 }, id)),
    () => things().createMany(Array.from({ length: 5 }, note)),
    () => store.notes.setDefaultTtl([30, -1, 5][below(3)]),
    () => store.sweep(),
    () => store.atomic(({ notes, logs }) => (notes.upsert(note()), logs.patch(id(), { n: 1 }))),
    () =>
      stops.push(
        things()
          .query({ orderBy: 'n', limit: 1 + below(20) })
          .subscribe(() => undefined),
      ),
    () => stops.push(things().changes(() => undefined)),
    () => stops.length > 6 && stops.splice(below(stops.length), 1)[0](),
    () => stops.length > 3 && stops.splice(below(stops.length), 1)[0](),
  ]
  globalThis.begin = async (seed) => {
    state = seed
    await store.ready
  }
  globalThis.run = async (operations) => {
    const refused = {}
    const note = ({ code = 'a bug' }) => void (refused[code] = (refused[code] ?? 0) + 1)
    for (let done = 0; done < operations;) {
      const size = 1 + below(100)
      done += size
      const ways = Array.from({ length: size }, () =>
        below(60) === 0 ? RARE[below(RARE.length)] : WAYS[below(WAYS.length)],
      )
      await Promise.all(ways.map(async (way) => way()).map((call) => call.catch(note)))
    }
    // Whoever still listens is none of what is measured.
    for (const stop of stops.splice(0)) stop()
    await store.sweep()
    await store.notes.stats()
    return refused
  }
}
