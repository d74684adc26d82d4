import { element, make, write } from '../lib/dom.js'
import { act } from '../lib/notice.js'
import { count } from '../lib/words.js'
import type { Result } from '../speed/race.js'

/** A button that runs a short comparison, and its results as bars. */
export function showSpeed(): void {
  const button = element('#run', HTMLButtonElement)
  const status = element('#speed-status', HTMLElement)
  const bars = element('#bars', HTMLElement)
  button.addEventListener('click', () => {
    button.disabled = true
    act(async () => {
      try {
        const { race } = await import('../speed/race.js')
        bars.replaceChildren()
        for await (const news of race()) {
          if (typeof news === 'string') write(status, news)
          else bars.append(figure(news))
        }
        write(status, 'Done. Everything was read back and was right.')
      } catch (error) {
        write(status, '')
        throw error
      } finally {
        button.disabled = false
      }
    })
  })
}

function figure({ title, times }: Result): HTMLElement {
  const slowest = Math.max(...times.map(([, ms]) => ms))
  const [, own] = times[0]!
  const rows = times.map(([name, ms]) => {
    const bar = make('span', { class: 'bar' }, make('i'))
    ;(bar.firstElementChild as HTMLElement).style.inlineSize = `max(2px, ${(100 * ms) / slowest}%)`
    const value = make('span', { class: 'ms' }, `${ms < 10 ? ms.toFixed(1) : count(Math.round(ms))} ms`)
    const ratio = make('span', { class: 'ratio' }, ratioOf(ms, own, name))
    return make('li', { class: name === 'mayfly' ? 'own' : '' }, make('span', {}, name), bar, value, ratio)
  })
  return make('figure', {}, make('figcaption', {}, title), make('ul', { 'aria-label': title }, ...rows))
}

function ratioOf(ms: number, own: number, name: string): string {
  if (name === 'mayfly') return ''
  const ratio = ms / own
  return `${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)}×`
}
