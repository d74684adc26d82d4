import { collection, MayflyError, openStore } from 'mayfly'

interface Note {
  id: string
  text: string
}

const store = openStore('mayfly-demo', { notes: collection<Note>({ defaultTtl: 120 }) })
const { notes } = store

const add = element('add', HTMLFormElement)
const setting = element('setting', HTMLFormElement)
const list = element('notes', HTMLUListElement)

add.addEventListener('submit', (event) => {
  event.preventDefault()
  const form = new FormData(add)
  const [text, ttl] = [form.get('text') as string, form.get('ttl')]
  act(async () => {
    await notes.create({ text, ...(ttl ? { ttl: Number(ttl) } : {}) })
    add.reset()
  })
})

setting.addEventListener('change', () => {
  const chosen = new FormData(setting).get('defaultTtl') as string
  act(() => notes.setDefaultTtl(chosen === 'off' ? null : Number(chosen)))
})

element('sweep', HTMLButtonElement).addEventListener('click', () => act(() => store.sweep()))

act(async () => {
  const { defaultTtl } = await notes.settings()
  element('setting', HTMLFormElement)['defaultTtl'].value = defaultTtl === null ? 'off' : String(defaultTtl)
})
setInterval(() => act(async () => undefined), 250)

/** Does what a person asked for, then shows how things are; what goes wrong is shown too. */
function act(work: () => Promise<unknown>): void {
  work()
    .then(show)
    .then(
      () => say(''),
      (error: unknown) => say(error instanceof MayflyError ? error.message : String(error)),
    )
}

async function show(): Promise<void> {
  const [docs, { live, expired }] = await Promise.all([
    notes.query({ orderBy: '_ts', order: 'desc', limit: 100 }).get(),
    notes.stats(),
  ])
  const ends = await Promise.all(docs.map((doc) => notes.expiresAt(doc.id)))
  element('stats', HTMLParagraphElement).textContent =
    `${live} live, ${expired} expired and waiting for deletion from the disk`
  list.replaceChildren(...docs.map((doc, at) => row(doc, ends[at] ?? null)))
}

function row(note: Note, end: Date | null): HTMLLIElement {
  const item = document.createElement('li')
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Touch'
  button.setAttribute('aria-label', `Touch ${note.text}`)
  button.addEventListener('click', () => act(() => notes.touch(note.id)))
  item.append(span(note.text), span(end ? `${Math.ceil((end.getTime() - Date.now()) / 1000)} s` : 'for ever'), button)
  return item
}

function span(text: string): HTMLSpanElement {
  const made = document.createElement('span')
  made.textContent = text
  return made
}

function say(problem: string): void {
  element('problem', HTMLParagraphElement).textContent = problem
}

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id)
  if (found instanceof type) return found
  throw new TypeError(`The page has no ${type.name} called ${id}.`)
}
