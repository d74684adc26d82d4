import type { Source } from 'mayfly/fetch'
import { make, write } from '../lib/dom.js'
import { isCalm } from '../lib/pace.js'
import { count, seconds } from '../lib/words.js'

export interface Weather {
  city: string
  celsius: number
  sky: string
  measuredAt: number
}

/** For so many milliseconds at least the page shows what the cache has just said, before it says more by itself. */
const GRACE = 500

const MARKS: Record<Source, [mark: string, note: string]> = {
  network: ['fresh', 'network'],
  fresh: ['fresh', 'cache'],
  stale: ['stale', 'cache, refreshing'],
  fallback: ['offline', 'cache, no network'],
}

/** A city in the list, with where its weather came from. */
export class Place {
  readonly city: string
  readonly element: HTMLLIElement
  readonly #value = make('span', { class: 'value' }, '…')
  readonly #mark = make('span', { class: 'mark' })
  readonly #note = make('small')
  readonly #age: HTMLElement
  readonly #spans: { fresh: number; stale: number }
  #measuredAt = 0
  #ageing: ReturnType<typeof setTimeout> | undefined

  /** Until when, in seconds of its age, an answer is fresh, and until when it is given while it is refreshed. */
  constructor(city: string, fresh: number, stale: number) {
    this.city = city
    this.#spans = { fresh, stale }
    this.#age = make('span', { class: 'age', 'aria-hidden': 'true' }, make('i'))
    this.element = make('li', {}, make('b', {}, city), this.#value, this.#mark, this.#note, this.#age)
  }

  show({ celsius, sky, measuredAt }: Weather, source: Source, took: number): void {
    const [mark, note] = MARKS[source]
    const old = Math.max(0, Math.round((Date.now() - measuredAt) / 1000))
    write(this.#value, `${celsius.toFixed(1)} °C, ${sky}`)
    const age = `${seconds(old)} old`
    this.#say(mark, `${note} · ${count(Math.max(1, Math.round(took)))} ms · ${age}`)
    if (measuredAt !== this.#measuredAt) this.#begin(measuredAt)
    this.#expect()
  }

  /** Nobody may ask again while it grows stale. */
  #expect(): void {
    clearTimeout(this.#ageing)
    const { fresh, stale } = this.#spans
    const leave = () => this.#say('stale', 'not asked for again')
    if (this.#mark.dataset['mark'] === 'stale') this.#at(stale, leave)
    if (this.#mark.dataset['mark'] !== 'fresh') return
    this.#at(fresh, () => {
      leave()
      this.#at(stale, () => this.#say('stale', 'kept in case the network fails'))
    })
  }

  /** Does something once the answer is so many seconds old. */
  #at(age: number, work: () => void): void {
    this.#ageing = setTimeout(work, Math.max(GRACE, this.#measuredAt + age * 1000 - Date.now()))
  }

  /** The network failed, and nothing is kept. */
  fail(): void {
    this.#say('offline', 'nothing is kept, and the network failed')
  }

  #say(mark: string, note: string): void {
    write(this.#mark, mark)
    this.#mark.dataset['mark'] = mark
    write(this.#note, note)
  }

  /** The hand moves through the fresh and the stale part of its life by itself. */
  #begin(measuredAt: number): void {
    this.#measuredAt = measuredAt
    const hand = this.#age.firstElementChild as HTMLElement
    for (const animation of hand.getAnimations()) animation.cancel()
    const duration = this.#spans.stale * 1000
    const animation = hand.animate([{ translate: '0' }, { translate: 'calc(100% - 9px)' }], {
      duration,
      fill: 'forwards',
      // In steps of a second where nothing is to move.
      easing: isCalm() ? `steps(${this.#spans.stale})` : 'linear',
    })
    animation.currentTime = Date.now() - measuredAt
    this.#age.style.setProperty('--fresh', `${(100 * this.#spans.fresh) / this.#spans.stale}%`)
  }
}
