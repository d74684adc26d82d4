import { icon, make, write } from '../lib/dom.js'
import { endOf, lifetimeOf } from '../lib/rules.js'
import { momentOf, seconds } from '../lib/words.js'
import type { Document } from '../store.js'

export type Verb = 'select' | 'touch' | 'edit' | 'delete'

const HINTS = { touch: 'Touch: restart the countdown', edit: 'Edit', delete: 'Delete' }

const RADIUS = 15
const ROUND = 2 * Math.PI * RADIUS

const LONG = 40

export function nameOf({ customer, total }: Pick<Document, 'customer' | 'total'>): string {
  return `${customer.length > LONG ? `${customer.slice(0, LONG)}…` : customer} ${total}`
}

/** A document in the list, with a ring that counts down to its expiry. */
export class Row {
  readonly element: HTMLLIElement
  readonly pick: HTMLButtonElement
  /** All that can be done with it, from left to right; the first one selects it. */
  readonly controls: HTMLButtonElement[]
  readonly #name = make('b')
  readonly #facts = make('span')
  readonly #placed = make('span', { class: 'placed' })
  readonly #left = make('span', { class: 'left', 'aria-hidden': 'true' })
  /** A name that changes every second would be read out every second. */
  readonly #spoken = make('span', { class: 'sr' })
  readonly #ring: SVGSVGElement
  readonly #arc: SVGCircleElement
  readonly #buttons: [Verb, HTMLButtonElement][]
  doc: Document
  #end: number | null = null
  #lifetime = Infinity

  constructor(doc: Document, act: (verb: Verb, row: Row) => void) {
    this.doc = doc
    ;[this.#ring, this.#arc] = ring()
    this.pick = make('button', { type: 'button', class: 'pick', 'aria-pressed': 'false' })
    const facts = make('small', {}, this.#facts, this.#placed)
    this.pick.append(this.#ring, make('span', { class: 'what' }, this.#name, facts), this.#spoken, this.#left)
    this.pick.addEventListener('click', () => act('select', this))
    this.#buttons = (['touch', 'edit', 'delete'] as const).map((verb) => {
      const button = make('button', { type: 'button', class: 'quiet', title: HINTS[verb] }, icon(verb))
      button.addEventListener('click', () => act(verb, this))
      return [verb, button]
    })
    this.controls = [this.pick, ...this.#buttons.map(([, button]) => button)]
    this.element = make('li', {}, ...this.controls)
    this.isStop = false
  }

  show(doc: Document, defaultTtl: number | null): void {
    const { customer, total, placedAt, ttl } = doc
    this.doc = doc
    this.#end = endOf(doc, defaultTtl)
    this.#lifetime = lifetimeOf(doc, defaultTtl) ?? Infinity
    write(this.#name, customer)
    const own = ttl === undefined ? 'no ttl' : ttl === -1 ? 'ttl −1' : `ttl ${ttl}`
    write(this.#facts, `${own} · ${total.toFixed(2)}`)
    write(this.#placed, ` · ${days.format(placedAt)}`)
    for (const [verb, button] of this.#buttons) {
      const label = `${verb[0]!.toUpperCase()}${verb.slice(1)} ${nameOf(doc)}`
      button.setAttribute('aria-label', label)
    }
    write(this.#spoken, this.#end === null ? 'never expires' : `expires at ${momentOf(this.#end)}`)
    this.#ring.classList.toggle('ever', this.#end === null)
    this.tick(Date.now())
  }

  /** Whether the Tab key comes here: of all rows to one, and the arrow keys lead from there to the others. */
  set isStop(isStop: boolean) {
    for (const control of this.controls) control.tabIndex = isStop ? 0 : -1
  }

  mark(isSelected: boolean): void {
    this.pick.setAttribute('aria-pressed', String(isSelected))
  }

  tick(now: number): void {
    if (this.#end === null) return write(this.#left, 'for ever')
    const left = Math.max(0, (this.#end - now) / 1000)
    const share = Math.min(1, left / this.#lifetime)
    this.#arc.style.strokeDashoffset = String(ROUND * (1 - share))
    this.#ring.classList.toggle('soon', left < 5)
    write(this.#left, seconds(Math.ceil(left)))
  }
}

const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })

function ring(): [SVGSVGElement, SVGCircleElement] {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 36 36')
  svg.setAttribute('class', 'ring')
  svg.setAttribute('aria-hidden', 'true')
  const [track, arc] = ['track', 'arc'].map((name) => {
    const circle = document.createElementNS('http://www.w3.org/2000/svg', 'circle')
    for (const [key, at] of Object.entries({ cx: 18, cy: 18, r: RADIUS })) circle.setAttribute(key, String(at))
    circle.setAttribute('class', name)
    return circle
  }) as [SVGCircleElement, SVGCircleElement]
  arc.style.strokeDasharray = String(ROUND)
  svg.append(track, arc)
  return [svg, arc]
}
