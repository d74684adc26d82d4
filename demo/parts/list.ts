import { isCalm } from '../lib/pace.js'
import type { Document } from '../store.js'
import { Row } from './row.js'
import type { Verb } from './row.js'

/** How often the rings move, in milliseconds. More would be no smoother, and leave the page no idle time to delete in. */
const FRAME = 100
const CALM = 1000

/** The rows of a live result. A row stays the same element for as long as its document is there. */
export class List {
  readonly #element: HTMLElement
  /** What can have the focus when there is no document. */
  readonly #place: HTMLElement
  readonly #act: (verb: Verb, row: Row) => void
  readonly #rows = new Map<string, Row>()
  readonly #visible = new Set<Row>()
  readonly #rowOf = new WeakMap<Element, Row>()
  readonly #observer: IntersectionObserver
  /** The row that the Tab key comes to. */
  #stop: Row | undefined

  constructor(element: HTMLElement, place: HTMLElement, act: (verb: Verb, row: Row) => void) {
    this.#element = element
    this.#place = place
    this.#act = act
    this.#observer = new IntersectionObserver((entries) => this.#see(entries))
    element.addEventListener('keydown', (event) => this.#steer(event))
    element.addEventListener('focusin', () => this.#stopAt(this.#focused()))
    this.#tick()
  }

  show(docs: Document[], defaultTtl: number | null, selectedId: string | undefined): void {
    const ids = new Set(docs.map(({ id }) => id))
    const focused = this.#focused()
    const active = document.activeElement as HTMLElement | null
    let heir: Element | null | undefined
    for (const [id, row] of this.#rows) {
      if (ids.has(id)) continue
      if (row === focused) heir = row.element.nextElementSibling ?? row.element.previousElementSibling
      this.#drop(id, row)
    }
    let place = this.#element.firstElementChild
    for (const doc of docs) {
      const row = this.#rows.get(doc.id) ?? this.#add(doc)
      row.show(doc, defaultTtl)
      row.mark(doc.id === selectedId)
      if (row.element === place) place = place.nextElementSibling
      else this.#element.insertBefore(row.element, place)
    }
    // Whoever was in a row that has gone goes on from its neighbour; one that is moved loses the focus.
    const next = heir === undefined ? active : heir && this.#rowOf.get(heir)?.pick
    if (focused && next !== document.activeElement) (next ?? this.#place).focus()
    if (!this.#stop || !this.#rows.has(this.#stop.doc.id)) {
      const first = this.#element.firstElementChild
      this.#stopAt(first ? this.#rowOf.get(first) : undefined)
    }
  }

  mark(selectedId: string | undefined): void {
    for (const [id, row] of this.#rows) row.mark(id === selectedId)
  }

  #add(doc: Document): Row {
    const row = new Row(doc, this.#act)
    this.#rows.set(doc.id, row)
    this.#rowOf.set(row.element, row)
    this.#observer.observe(row.element)
    return row
  }

  #drop(id: string, row: Row): void {
    this.#rows.delete(id)
    this.#visible.delete(row)
    this.#observer.unobserve(row.element)
    row.element.remove()
  }

  #see(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const row = this.#rowOf.get(target)
      if (row && isIntersecting && this.#rows.has(row.doc.id)) this.#visible.add(row)
      else if (row) this.#visible.delete(row)
    }
  }

  /** One timer for all rows that can be seen. */
  #tick(): void {
    const now = Date.now()
    for (const row of this.#visible) row.tick(now)
    setTimeout(() => requestAnimationFrame(() => this.#tick()), isCalm() ? CALM : FRAME)
  }

  #stopAt(row: Row | undefined): void {
    if (row === this.#stop) return
    if (this.#stop) this.#stop.isStop = false
    if (row) row.isStop = true
    this.#stop = row
  }

  #focused(): Row | undefined {
    const item = document.activeElement?.closest('li')
    return item ? this.#rowOf.get(item) : undefined
  }

  #steer(event: KeyboardEvent): void {
    const row = this.#focused()
    if (!row) return
    if (event.key === 'Delete') return this.#act('delete', row)
    const at = row.controls.indexOf(document.activeElement as HTMLButtonElement)
    const rows: Record<string, Element | null> = {
      ArrowDown: row.element.nextElementSibling,
      ArrowUp: row.element.previousElementSibling,
      Home: this.#element.firstElementChild,
      End: this.#element.lastElementChild,
    }
    const beside: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1 }
    const [other, to] = [rows[event.key], beside[event.key]]
    if (other === undefined && to === undefined) return
    event.preventDefault()
    if (other) this.#rowOf.get(other)?.controls[at]?.focus()
    else if (to !== undefined) row.controls[to]?.focus()
  }
}
