import { element } from '../lib/dom.js'
import { field } from '../lib/form.js'
import { rowOf } from '../lib/rules.js'
import type { Document } from '../store.js'

export interface Fields {
  customer: string
  total: number
  /** Absent when the document has none of its own. */
  ttl?: number
}

/** What is in a form about a document. */
export function read(form: HTMLFormElement): Fields {
  const mode = field(form, 'mode')
  const ttl = mode === 'never' ? -1 : mode === 'seconds' ? Number(field(form, 'seconds')) : undefined
  return {
    customer: field(form, 'customer'),
    total: Number(field(form, 'total')),
    ...(ttl === undefined ? {} : { ttl }),
  }
}

export function fill(form: HTMLFormElement, doc: Document): void {
  element('[name=customer]', HTMLInputElement, form).value = doc.customer
  element('[name=total]', HTMLInputElement, form).value = String(doc.total)
  element('[name=mode]', HTMLSelectElement, form).value = rowOf(doc)
  if (rowOf(doc) === 'seconds') element('[name=seconds]', HTMLInputElement, form).value = String(doc.ttl)
  reveal(form)
}

/** The number of seconds can be given where it counts. */
export function watchMode(form: HTMLFormElement): void {
  form.addEventListener('change', () => reveal(form))
  reveal(form)
}

function reveal(form: HTMLFormElement): void {
  const isNeeded = element('[name=mode]', HTMLSelectElement, form).value === 'seconds'
  element('[name=seconds]', HTMLInputElement, form).disabled = !isNeeded
}
