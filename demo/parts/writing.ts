import { element, write } from '../lib/dom.js'
import { tell } from '../lib/news.js'
import { act, tellAll } from '../lib/notice.js'
import { chosen, selectedId } from '../lib/state.js'
import { count, plural } from '../lib/words.js'
import { collections, NAMES, store } from '../store.js'
import { few, spread } from './examples.js'
import { read, watchMode } from './fields.js'
import { nameOf } from './row.js'

const MANY = 10_000
const VISITED = 'mayfly-demo visited'
const IN_MEMORY = 'This browser lets no page save data: all of this is in memory, and for this tab alone.'

/** What puts documents into the chosen collection, and takes them all out. */
export function watchWriting(): void {
  const add = element('#add', HTMLFormElement)
  watchMode(add)
  add.addEventListener('submit', (event) => {
    event.preventDefault()
    act(async () => {
      const made = await collections[chosen.get()].create({ ...read(add), placedAt: new Date() })
      selectedId.set(made.id)
      return `Added ${nameOf(made)}.`
    })
  })
  const generate = element('#generate', HTMLButtonElement)
  generate.addEventListener('click', () => act(() => fillUp(generate)))
  element('#clear', HTMLButtonElement).addEventListener('click', () => {
    const name = chosen.get()
    act(async () => {
      await collections[name].clear()
      tell({ type: 'cleared' })
      return `${name} is empty.`
    })
  })
}

async function fillUp(button: HTMLButtonElement): Promise<string> {
  const progress = element('#progress', HTMLProgressElement)
  button.disabled = true
  progress.hidden = false
  progress.max = MANY
  progress.value = 0
  const started = performance.now()
  try {
    const { written } = await collections[chosen.get()].upsertMany(spread(MANY), {
      onProgress: ({ done }) => (progress.value = done),
    })
    const took = `${count(Math.round(performance.now() - started))} ms`
    write(element('#written', HTMLElement), `${count(written)} written in ${took}`)
    return `${plural(written, 'document')} written in ${took}.`
  } finally {
    button.disabled = false
    progress.hidden = true
  }
}

/** At the very first visit there is something to look at. */
export async function welcome(): Promise<void> {
  if ((await store.persistence) === 'memory') tellAll(IN_MEMORY)
  else {
    if (localStorage.getItem(VISITED)) return
    localStorage.setItem(VISITED, 'yes')
  }
  await Promise.all(NAMES.map((name) => collections[name].upsertMany(few(name))))
}
