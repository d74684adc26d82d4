import { collection, openStore } from '/dist/index.js'

/** A tab that does random things, and tells the server of each before it begins and when it has ended. */
const IDS = 24
const GROUPS = 4
const LANES = 3

/** A page that falls asleep loses its connections, or never hears of an answer: what it was telling is told again. */
const post = async (path, body) => {
  for (;;) {
    try {
      const response = await fetch(path, {
        method: 'POST',
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(5000),
      })
      return await response.json()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

// A page that is loaded again is another tab.
const { tab, seed } = await post('/tab', {})

const chaos = {
  tab,
  inFlight: 0,
  calls: new Map(),
  parked: 0,
  live: {},
  feed: {},
  waiting: new Set(),
  readyAt: undefined,
  errors: [],
}
window.chaos = chaos

let state = (seed * 7919 + tab * 104_729) >>> 0
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}
const below = (n) => Math.floor(random() * n)
const pick = (list) => list[below(list.length)]

const clock = { step: -1, offset: 0 }
const store = openStore(
  'chaos',
  {
    items: collection({ defaultTtl: -1 }).index('group').uniqueIndex('v'),
    others: collection({ defaultTtl: 12 }).index('group', 'v'),
  },
  {
    durability: random() < 0.5 ? 'relaxed' : 'strict',
    worker: () => {
      const worker = new Worker('/clock.js', { type: 'module' })
      worker.postMessage({ offset: clock.offset })
      chaos.worker = worker
      return worker
    },
  },
)

const idOf = (n) => `d${String(n).padStart(2, '0')}`
const groupOf = (id) => Number(id.slice(1)) % GROUPS
const textOf = (v, size) => `${v} `.repeat(size)
const docOf = (id, v, ttl) => {
  const doc = { id, v, group: groupOf(id), size: pick([5, 50, 500]) }
  doc.text = textOf(v, doc.size)
  return ttl === undefined ? doc : { ...doc, ttl }
}
const fieldsOf = (v) => {
  const size = pick([5, 50])
  return { v, size, text: textOf(v, size) }
}
const ttls = () => pick([undefined, undefined, -1, 1 + below(4), 3 + below(12)])

/** What was seen of a document. */
const seen = (key, doc) => {
  if (!doc) return { key, v: null }
  const isTorn = doc.text !== textOf(doc.v, doc.size) || doc.group !== groupOf(doc.id)
  return { key, v: doc.v, ts: doc._ts, ttl: doc.ttl ?? null, ...(isTorn ? { torn: doc } : {}) }
}
const etags = new Map()

/** Each makes a call: what it is to be told as, and how it is made with a value of its own. */
const makers = {
  upsert: (name, id, [ttl]) =>
    write([{ key: `${name}/${id}`, ttl }], async (v) => [await store[name].upsert(docOf(id, v, ttl))]),
  create: (name, id, [ttl]) =>
    write([{ key: `${name}/${id}`, ttl }], async (v) => [await store[name].create(docOf(id, v, ttl))]),
  replace: (name, id, [ttl]) =>
    write([{ key: `${name}/${id}`, ttl }], async (v) => {
      const ifMatch = etags.get(`${name}/${id}`)
      return [await store[name].replace(docOf(id, v, ttl), ifMatch ? { ifMatch } : {})]
    }),
  patch: (name, id) =>
    write([{ key: `${name}/${id}`, isKept: true }], async (v) => [await store[name].patch(id, fieldsOf(v))]),
  update: (name, id) =>
    write([{ key: `${name}/${id}`, isKept: true }], async (v) => [
      await store[name].update(id, (doc) => ({ ...doc, ...fieldsOf(v) })),
    ]),
  delete: (name, id) => write([{ key: `${name}/${id}`, deletes: true }], () => store[name].delete(id)),
  upsertMany: (name, id) => {
    const ids = [id, idOf((Number(id.slice(1)) + 1) % IDS), idOf((Number(id.slice(1)) + 5) % IDS)]
    return {
      ...write(
        ids.map((one) => ({ key: `${name}/${one}`, ttl: -1 })),
        (v) => store[name].upsertMany(ids.map((one, n) => docOf(one, `${v}.${n}`, -1))),
      ),
      isMany: true,
    }
  },
  deleteMany: (name, id) => {
    const ids = [id, idOf((Number(id.slice(1)) + 2) % IDS)]
    const keys = ids.map((one) => ({ key: `${name}/${one}`, deletes: true }))
    return { ...write(keys, () => store[name].deleteMany(ids)), isMany: true }
  },
  atomic: (name, id, [first, second]) => {
    const next = idOf((Number(id.slice(1)) + 3) % IDS)
    const targets = [
      { key: `items/${id}`, ttl: first },
      { key: `others/${next}`, ttl: second },
      { key: `others/${id}`, deletes: true },
    ]
    return write(targets, (v) =>
      store.atomic((inside) => {
        inside.items.upsert(docOf(id, `${v}.0`, first))
        inside.others.upsert(docOf(next, `${v}.1`, second))
        inside.others.delete(id)
        // Now and then the last of them cannot be.
        if (random() < 0.3) inside.items.replace(docOf('nobody', `${v}.x`))
      }),
    )
  },
  get: (name, id) => read([`${name}/${id}`], async () => [await store[name].get(id)]),
  getMany: (name, id) => {
    const ids = [id, idOf((Number(id.slice(1)) + 7) % IDS)]
    return read(
      ids.map((one) => `${name}/${one}`),
      () => store[name].getMany(ids),
    )
  },
  query: (name, id) => {
    const group = groupOf(id)
    const ids = Array.from({ length: IDS }, (_, n) => idOf(n)).filter((one) => groupOf(one) === group)
    return read(
      ids.map((one) => `${name}/${one}`),
      async () => {
        const docs = new Map((await store[name].query({ where: { group } }).get()).map((doc) => [doc.id, doc]))
        return ids.map((one) => docs.get(one))
      },
    )
  },
}

function write(targets, call) {
  return { kind: 'write', targets, call }
}

function read(keys, call) {
  return { kind: 'read', targets: keys.map((key) => ({ key })), call }
}

let count = 0

async function perform() {
  const verb = pick(['get', 'get', 'get', 'query', 'query', 'getMany', 'upsert', 'upsert', ...Object.keys(makers)])
  const { kind, targets, call, isMany } = makers[verb](pick(['items', 'others']), idOf(below(IDS)), [ttls(), ttls()])
  const v = `${tab}-${count++}`
  for (const [n, target] of targets.entries()) if (kind === 'write') target.v = targets.length > 1 ? `${v}.${n}` : v
  // Before it begins, the server knows; and the engine has a clock no older than that.
  const { pause, offset, step } = await post('/begin', { op: v, tab, kind, verb, targets })
  if (pause) return false
  if (step > clock.step) {
    Object.assign(clock, { step, offset })
    chaos.worker?.postMessage({ offset })
  }
  chaos.inFlight++
  chaos.calls.set(v, verb)
  const end = { op: v, tab, outcome: 'ok', seen: [] }
  try {
    const answer = await call(v)
    if (Array.isArray(answer)) {
      for (const [n, { key, deletes }] of targets.entries()) {
        if (deletes) continue
        end.seen.push(seen(key, answer[n]))
        if (answer[n]) etags.set(key, answer[n]._etag)
      }
    }
  } catch (error) {
    // What was done of many until then stays.
    end.outcome = isMany ? 'lost' : (error.code ?? String(error))
    end.code = error.code ?? String(error)
    end.message = error.message
  } finally {
    chaos.inFlight--
    chaos.calls.delete(v)
  }
  await post('/end', end)
  return true
}

async function lane() {
  for (;;) {
    let isParked = false
    while (!(await perform())) {
      if (!isParked) chaos.parked++
      isParked = true
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    if (isParked) chaos.parked--
  }
}

/** Everything that is there, as a read, a live query and a feed know it. */
chaos.state = async () => {
  const all = {}
  for (const name of ['items', 'others']) {
    for (const doc of await store[name].query().get()) all[`${name}/${doc.id}`] = seen(`${name}/${doc.id}`, doc)
  }
  const live = Object.assign({}, ...Object.values(chaos.live))
  return { all, live, waiting: [...chaos.waiting], feed: chaos.feed, readyAt: chaos.readyAt }
}

/** A tab that has slept has an old clock until it asks. */
chaos.setClock = (step, offset) => {
  if (step <= clock.step) return
  Object.assign(clock, { step, offset })
  chaos.worker?.postMessage({ offset })
}

chaos.clear = async () => {
  for (const name of ['items', 'others']) await store[name].clear()
}

for (const name of ['items', 'others']) {
  store[name].query().subscribe(
    (docs) => {
      chaos.waiting.delete(name)
      chaos.live[name] = Object.fromEntries(docs.map((doc) => [`${name}/${doc.id}`, doc.v]))
    },
    (error) => {
      // Without room to note who listens, or after a worker that died before its hello, it tries again.
      if (['quota', 'unavailable', 'lost'].includes(error.code)) chaos.waiting.add(name)
      else chaos.errors.push(`live ${name}: ${error}`)
    },
  )
  store[name].changes((change) => {
    chaos.feed[`${name}/${change.id}`] = change.type === 'upsert' ? change.doc.v : null
  })
}
chaos.stage = 'opening'
// A worker that was terminated before its hello is 'unavailable', and the next call starts another.
for (let isOpen = false; !isOpen;) {
  isOpen = await store.items.get('nobody').then(
    () => true,
    (error) => {
      chaos.stage = `opening after ${error.code}`
      return error.code !== 'unavailable'
    },
  )
}
chaos.stage = 'open'
chaos.readyAt = (await post('/ready', { tab })).at
for (let n = 0; n < LANES; n++) lane().catch((error) => chaos.errors.push(`lane: ${error}`))
