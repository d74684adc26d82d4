import { element, make } from '../lib/dom.js'
import { atMost } from '../lib/pace.js'
import { timeOf } from '../lib/words.js'
import { collections, NAMES } from '../store.js'

/** How many changes are shown, and how often in milliseconds. */
const SHOWN = 6
const APART = 300

interface Told {
  text: string
  type: string
  at: number
}

/** The end of an id tells it from others; the beginning may be that of thousands. */
const shortened = (id: string) => (id.length > 12 ? `…${id.slice(-8)}` : id)

/** What `changes()` tells, in whichever tab it was done. */
export function showFeed(): void {
  const list = element('#feed', HTMLElement)
  let told: Told[] = []
  const draw = atMost(APART, () => {
    const items = told.map(({ type, text, at }) =>
      make('li', {}, make('b', { class: type }, type), make('span', {}, text), make('small', {}, timeOf(at))),
    )
    list.replaceChildren(...items)
  })
  for (const name of NAMES) {
    collections[name].changes((change) => {
      const { type, id } = change
      const what = change.type === 'upsert' ? `${change.doc.customer} ${change.doc.total}` : shortened(id)
      told = [{ type, text: `${name} · ${what}`, at: Date.now() }, ...told].slice(0, SHOWN)
      draw()
    })
  }
}
