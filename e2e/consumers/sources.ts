/** What people write in their apps. */

interface Use {
  /** What the package is imported from. */
  from?: string
  /** The options of `openStore`; none unless told. */
  options?: string
}

/** What the page shows when everything works: the document, and how many seconds after its writing it expires. */
export const SHOWN = { text: 'Hello', ttl: 60, expiresAfter: 60 }

const show = `
function show(result) {
  document.body.dataset.result = JSON.stringify(result)
}`

/** The page's script: writes a document, reads it back, keeps the store open and shows what came of it. */
export function pageScript(use: Use = {}): string {
  return `${writeAndRead(use)}
${show}
writeAndRead().then(show, (error) => show({ code: error.code, message: error.message }))
`
}

/** A script for a page on which no call can succeed: shows how each one fails, and whether closing still works. */
export const failingScript = `
import { collection, MayflyError, openStore } from 'mayfly'

const store = openStore('shop', { notes: collection({ defaultTtl: -1 }) })
const { notes } = store
const calls = {
  ready: store.ready,
  sweep: store.sweep(),
  create: notes.create({ text: 'Hello' }),
  upsert: notes.upsert({ id: 'first', text: 'Hello', ttl: 60 }),
  replace: notes.replace({ id: 'first', text: 'Hello' }),
  patch: notes.patch('first', { text: 'Hello' }),
  update: notes.update('first', (note) => note),
  touch: notes.touch('first'),
  delete: notes.delete('first'),
  createMany: notes.createMany([{ text: 'Hello' }]),
  upsertMany: notes.upsertMany([{ id: 'first', text: 'Hello' }]),
  deleteMany: notes.deleteMany(['first']),
  clear: notes.clear(),
  get: notes.get('first'),
  getMany: notes.getMany(['first']),
  query: notes.query().get(),
  first: notes.query().first(),
  page: notes.query().page(),
  count: notes.query().count(),
  explain: notes.query().explain(),
  loop: notes.query()[Symbol.asyncIterator]().next(),
  setDefaultTtl: notes.setDefaultTtl(60),
  settings: notes.settings(),
  expiresAt: notes.expiresAt('first'),
  stats: notes.stats(),
}
${show}
const outcome = (call) => call.then(
  () => 'no failure',
  (error) => (error instanceof MayflyError ? { code: error.code, message: error.message } : String(error)),
)
async function outcomes() {
  const first = Object.fromEntries(
    await Promise.all(Object.entries(calls).map(async ([name, call]) => [name, await outcome(call)])),
  )
  // The first ones failed together; this one is alone.
  const later = await outcome(notes.get('first'))
  const destroy = await outcome(store.destroy())
  const close = await outcome(openStore('other', { notes: collection() }).close())
  return { failures: { ...first, later, destroy }, close }
}
outcomes().then(show)
`

/** A service worker: writes a document and reads it back when a page asks, and answers with what came of it. */
export function serviceWorkerScript(use: Use): string {
  return `${writeAndRead(use)}
addEventListener('message', (event) => {
  const answer = (result) => event.ports[0].postMessage(result)
  event.waitUntil(
    writeAndRead().then(answer, (error) => answer({ code: error.code, message: error.message })),
  )
})
`
}

/** The script of a page that asks its service worker. */
export function askingScript(type: 'classic' | 'module'): string {
  return `${show}
async function ask() {
  await navigator.serviceWorker.register('/sw.js', { type: '${type}' })
  const { active } = await navigator.serviceWorker.ready
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = ({ data }) => show(data)
  active.postMessage('write and read', [port2])
}
ask().catch((error) => show(String(error)))
`
}

export function html({ script = 'type="module" src="/main.js"', head = '' } = {}): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>app</title>
    ${head}
    <script ${script}></script>
  </head>
  <body></body>
</html>
`
}

/** Bundles that are no modules must wait for the body by themselves. */
export const CLASSIC = 'defer src="/main.js"'

function writeAndRead({ from = 'mayfly', options }: Use): string {
  return `
import { collection, openStore } from '${from}'

async function writeAndRead() {
  const store = openStore('shop', { notes: collection({ defaultTtl: -1 }) }${options ? `, ${options}` : ''})
  await store.notes.upsert({ id: 'first', text: 'Hello', ttl: 60 })
  const { text, ttl, _ts } = await store.notes.get('first')
  const expiresAt = await store.notes.expiresAt('first')
  return { text, ttl, expiresAfter: (expiresAt.getTime() - Math.round(_ts * 1000)) / 1000 }
}`
}
