import { element } from '../lib/dom.js'
import { act } from '../lib/notice.js'
import { chosen } from '../lib/state.js'
import { collections } from '../store.js'
import type { Document } from '../store.js'
import { fill, read, watchMode } from './fields.js'
import { nameOf } from './row.js'

const dialog = element('#editor', HTMLDialogElement)
const form = element('form', HTMLFormElement, dialog)
let edited: Document | undefined

watchMode(form)
element('[data-cancel]', HTMLButtonElement, dialog).addEventListener('click', () => dialog.close())

// The document, and the button that opened this, may have gone meanwhile; then the focus is where it was.
dialog.addEventListener('close', () => {
  const { activeElement, body } = document
  if (activeElement === body || dialog.contains(activeElement)) element('#documents', HTMLElement).focus()
})

form.addEventListener('submit', () => {
  if (!edited) return
  const { id } = edited
  const { customer, total, ttl } = read(form)
  act(async () => {
    const saved = await collections[chosen.get()].patch(id, { customer, total, ttl })
    return `Saved ${nameOf(saved)}.`
  })
})

export function edit(doc: Document): void {
  edited = doc
  fill(form, doc)
  element('#editor-title', HTMLElement).textContent = `Edit ${nameOf(doc)}`
  dialog.showModal()
}
