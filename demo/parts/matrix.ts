import { element, write } from '../lib/dom.js'
import { act } from '../lib/notice.js'
import { columnOf, endOf, reasonOf, rowOf } from '../lib/rules.js'
import { chosen, defaults, selected, selectedId } from '../lib/state.js'
import { exactly, momentOf } from '../lib/words.js'
import { collections } from '../store.js'
import { nameOf } from './row.js'
import { TtlSwitch } from './ttl-switch.js'

/** The nine rules, with the one lit that applies to the selected document. */
export function showMatrix(): void {
  const table = element('#matrix', HTMLTableElement)
  const reason = element('#reason', HTMLElement)
  const own = new TtlSwitch('#selected', (mode, t) => {
    const id = selectedId.get()
    if (id === undefined) return
    const ttl = mode === 'absent' ? undefined : mode === 'never' ? -1 : t
    act(async () => void (await collections[chosen.get()].patch(id, { ttl })))
  })
  let name = ''

  const show = () => {
    const defaultTtl = defaults.get()[chosen.get()]
    const doc = selected.get()
    const column = columnOf(defaultTtl)
    const row = doc && rowOf(doc)
    for (const cell of table.querySelectorAll<HTMLElement>('[data-cell]')) {
      const isLit = cell.dataset['cell'] === `${row} ${column}`
      if (isLit) cell.setAttribute('aria-current', 'true')
      else cell.removeAttribute('aria-current')
    }
    const n = column === 'seconds' ? exactly(defaultTtl!) : 'n s'
    const t = row === 'seconds' ? exactly(doc!.ttl!) : 't s'
    write(element('[data-default]', HTMLElement, table), n)
    write(element('[data-own]', HTMLElement, table), t)
    write(element('[data-cell="absent seconds"]', HTMLElement, table), `${n} after its last write`)
    for (const cell of ['seconds none', 'seconds seconds']) {
      write(element(`[data-cell="${cell}"]`, HTMLElement, table), `${t} after its last write`)
    }
    if (doc) {
      name = nameOf(doc)
      const end = endOf(doc, defaultTtl)
      own.show(name, row!, row === 'seconds' ? doc.ttl : undefined)
      write(reason, `${reasonOf(doc, defaultTtl)}${end === null ? '' : ` That is at ${momentOf(end)}.`}`)
    } else {
      own.rest('the selected document')
      const isGone = selectedId.get() !== undefined && name !== ''
      write(reason, isGone ? `${name} does not exist any more.` : 'Select a document to see which rule applies to it.')
    }
  }
  selectedId.watch(() => {
    name = ''
    show()
  })
  selected.watch(show)
  defaults.watch(show)
}
