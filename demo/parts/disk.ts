import { element, write } from '../lib/dom.js'
import { tabColour } from '../lib/colour.js'
import { listen } from '../lib/news.js'
import { atMost, isCalm } from '../lib/pace.js'
import { sample } from '../lib/samples.js'
import { sliceCount } from '../lib/slices.js'
import { bytes, count } from '../lib/words.js'
import { Chart } from './chart.js'

/** How often the storage is measured, and the chart described anew, in milliseconds. */
const STORAGE = 2000
const DESCRIBED = 5000

/** The curves move on, also while nothing changes. */
const FRAME = 250

/** What happens on disk: the counts over time, the slices of deletion, and the storage. */
export function showDisk(): void {
  const place = element('#chart', HTMLElement)
  const chart = new Chart(place)
  const pulse = element('#pulse', HTMLElement)
  const slices = element('#slices', HTMLElement)

  const describe = atMost(DESCRIBED, () => {
    const now = sample.get()
    if (!now) return
    const text = `${count(now.live)} live, ${count(now.expired)} expired and waiting, ${count(now.deleted)} deleted`
    place.setAttribute('aria-label', `Documents over the last minute. Now: ${text}.`)
  })
  sample.watch((now) => {
    if (!now) return
    chart.add(now)
    for (const key of ['live', 'expired', 'deleted'] as const) write(element(`#${key}`, HTMLElement), count(now[key]))
    describe()
  })
  setInterval(() => {
    if (document.visibilityState === 'visible') chart.draw()
  }, FRAME)

  listen((news) => {
    if (news.type !== 'slice') return
    write(slices, count(sliceCount()))
    pulse.style.color = `var(--${tabColour(news.tab)})`
    for (const animation of pulse.getAnimations()) animation.cancel()
    if (isCalm()) return
    pulse.animate(
      [
        { opacity: 1, scale: 1.6 },
        { opacity: 0.35, scale: 1 },
      ],
      { duration: 500, easing: 'ease-out' },
    )
  })
  showStorage()
}

function showStorage(): void {
  const meter = element('#storage', HTMLElement)
  const text = element('#storage-text', HTMLElement)
  const bar = element('span', HTMLElement, meter)
  const measure = async () => {
    const { usage = 0, quota = 0 } = (await navigator.storage?.estimate?.()) ?? {}
    const share = quota > 0 ? (100 * usage) / quota : 0
    const words = `${bytes(usage)} used of the ${bytes(quota)} that the browser allows`
    meter.setAttribute('aria-valuenow', share.toFixed(2))
    meter.setAttribute('aria-valuetext', words)
    bar.style.inlineSize = `max(2px, ${share}%)`
    write(text, `${words} (${share < 0.01 ? 'less than 0.01' : share.toFixed(2)}\u00a0%).`)
  }
  const round = () => {
    void measure()
      .catch(() => undefined)
      .finally(() => setTimeout(round, STORAGE))
  }
  round()
}
