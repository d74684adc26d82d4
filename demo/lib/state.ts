import { collections, NAMES } from '../store.js'
import type { Document, Name } from '../store.js'
import { listen, tell } from './news.js'
import { value } from './value.js'

/** The collection that is shown. It stands in the address, so that a second tab shows the same. */
export const chosen = value<Name>(nameIn(location.hash) ?? 'baskets')

/** The settings as the store has them. */
export const defaults = value<Readonly<Record<Name, number | null>>>({ baskets: 60, orders: -1, invoices: null })

/** The document that the matrix is about, and what became of it. */
export const selected = value<Document | undefined>(undefined)
export const selectedId = value<string | undefined>(undefined)

chosen.watch((name) => {
  if (nameIn(location.hash) !== name) history.replaceState(null, '', `#${name}`)
  selectedId.set(undefined)
})
// Links within the page lead elsewhere, and leave that as it is.
addEventListener('hashchange', () => {
  chosen.set(nameIn(location.hash) ?? chosen.get())
  if (!nameIn(location.hash)) history.replaceState(null, '', `#${chosen.get()}`)
})
listen((news) => {
  if (news.type === 'settings') void readDefaults()
})

/** The selected document, for as long as it exists. */
let stop: (() => void) | undefined
selectedId.watch((id) => {
  stop?.()
  stop = undefined
  selected.set(undefined)
  if (id === undefined) return
  stop = collections[chosen.get()].query({ where: { id } }).subscribe(([doc]) => selected.set(doc))
})

export async function readDefaults(): Promise<void> {
  const settings = await Promise.all(NAMES.map((name) => collections[name].settings()))
  const next = Object.fromEntries(NAMES.map((name, at) => [name, settings[at]!.defaultTtl])) as Record<
    Name,
    number | null
  >
  const now = defaults.get()
  if (NAMES.some((name) => now[name] !== next[name])) defaults.set(next)
}

export async function setDefault(name: Name, defaultTtl: number | null): Promise<void> {
  await collections[name].setDefaultTtl(defaultTtl)
  await readDefaults()
  tell({ type: 'settings' })
}

function nameIn(hash: string): Name | undefined {
  return NAMES.find((name) => `#${name}` === hash)
}
