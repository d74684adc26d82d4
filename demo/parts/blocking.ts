import { tabColour } from '../lib/colour.js'
import { element, make, write } from '../lib/dom.js'
import { act } from '../lib/notice.js'
import { nextFrame } from '../lib/pace.js'
import { recentSlices } from '../lib/slices.js'
import type { Slice } from '../lib/slices.js'
import { count, plural } from '../lib/words.js'
import { store } from '../store.js'
import { spread } from './examples.js'

const SIZE = 1000
const REQUESTS = 50

/** In seconds. The documents begin to expire while the thread is blocked. */
const LIFETIME = 1.4
const BLOCKED = 2

/** What happened, in milliseconds since the thread was blocked. */
interface Course {
  released: number
  answered: number
  slices: Slice[]
  done: number
}

/** The button that blocks the main thread, and what became of the deletion and of requests meanwhile. */
export function watchBlocking(): void {
  const button = element('#block', HTMLButtonElement)
  const text = element('#blocked', HTMLElement)
  button.addEventListener('click', () => {
    button.disabled = true
    act(async () => {
      try {
        write(text, `Writing ${count(SIZE)} documents …`)
        const docs = [...spread(SIZE)]
        for (const doc of docs) delete doc.ttl
        const begun = Date.now()
        await store.scraps.setDefaultTtl(-1)
        await store.scraps.upsertMany(docs)
        // However long the writing took, the first of them expires that much later from now.
        await store.scraps.setDefaultTtl((Date.now() - begun) / 1000 + LIFETIME)
        // A new setting makes the deletion look whether there is anything to do.
        await pause()
        write(text, 'The main thread is blocked. Nothing on this page moves.')
        await nextFrame()
        await nextFrame()
        const course = await block(docs.slice(0, REQUESTS).map(({ id }) => id))
        draw(course)
        write(text, wordsFor(course))
      } finally {
        button.disabled = false
      }
    })
  })
}

async function block(ids: string[]): Promise<Course> {
  const start = Date.now()
  while (Date.now() < start + BLOCKED * 1000);
  const released = Date.now() - start
  await Promise.all(ids.map((id) => store.scraps.get(id)))
  const answered = Date.now() - start
  while ((await store.scraps.stats()).expired > 0) await pause()
  const done = Date.now() - start
  // The news of the last slice may still be on its way.
  await nextFrame()
  const slices = recentSlices()
    .filter(({ from }) => from >= start)
    .map((slice) => ({ ...slice, from: slice.from - start, to: slice.to - start }))
  return { released, answered, slices, done }
}

/** Not too often: whoever asks goes before the deletion. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 200))

function wordsFor({ released, answered, slices, done }: Course): string {
  const early = slices.filter(({ from }) => from < released)
  const late = slices.filter(({ from }) => from >= released)
  const waited =
    early.length === 0
      ? 'While the thread was blocked, nothing was deleted.'
      : `While the thread was blocked, ${plural(early.length, 'slice')} went ahead: another tab was idle, or one was under way.`
  const requests = `Then ${REQUESTS} requests were answered within ${count(answered - released)} ms`
  const first = late[0]
  if (!first) return `${waited} ${requests}.`
  return `${waited} ${requests}; deletion began after ${count(Math.round(first.from - released))} ms and was done after ${count(done - released)} ms, in ${plural(late.length, 'slice')}.`
}

function draw({ released, answered, slices, done }: Course): void {
  const lanes = element('#lanes', HTMLElement)
  const end = Math.max(done, answered, ...slices.map(({ to }) => to))
  const bar = (from: number, to: number, kind: string, hue?: string) => {
    const made = make('i', { class: kind })
    made.style.insetInlineStart = `${(100 * from) / end}%`
    made.style.inlineSize = `max(2px, ${(100 * (to - from)) / end}%)`
    if (hue) made.style.background = `var(--${hue})`
    return made
  }
  const lane = (name: string, ...bars: HTMLElement[]) =>
    make('div', {}, make('span', {}, name), make('div', { class: 'lane' }, ...bars))
  lanes.hidden = false
  lanes.replaceChildren(
    lane('main thread', bar(0, released, 'blocked')),
    lane('requests', bar(released, answered, 'request')),
    lane('deletion', ...slices.map(({ from, to, tab }) => bar(Math.max(0, from), to, 'slice', tabColour(tab)))),
  )
}
