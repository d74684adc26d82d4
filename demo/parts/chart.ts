import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { colour, tabColour, watchScheme } from '../lib/colour.js'
import type { Sample } from '../lib/samples.js'
import { recentSlices } from '../lib/slices.js'
import { count } from '../lib/words.js'

/** What the chart shows, in seconds. */
const SPAN = 60
const HEIGHT = 240
const NARROW = 480

/** The strip under the curves in which every slice is a stroke, in CSS pixels. */
const STRIP = 16

/** How far from what is in sight it is drawn all the same. */
const AHEAD = '100%'

/** Live documents, expired ones and deleted ones over the last minute. */
export class Chart {
  readonly #plot: uPlot
  readonly #rows: Sample[] = []
  #isSeen = false

  constructor(place: HTMLElement) {
    this.#plot = new uPlot(optionsFor(place), [[], [], [], []], place)
    new ResizeObserver(() => this.#plot.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place)
    const see = (entries: IntersectionObserverEntry[]) => {
      this.#isSeen = entries.at(-1)!.isIntersecting
      this.draw()
    }
    new IntersectionObserver(see, { rootMargin: AHEAD }).observe(place)
    watchScheme(() => this.#plot.redraw())
  }

  add(sample: Sample): void {
    const rows = this.#rows
    rows.push(sample)
    // One from before the span stays, so that the curves begin at the edge.
    while (rows.length > 1 && rows[1]!.at < sample.at - SPAN * 1000) rows.shift()
    this.draw()
  }

  draw(): void {
    if (!this.#isSeen) return
    const rows = this.#rows
    const now = Date.now() / 1000
    const columns = (['live', 'expired', 'deleted'] as const).map((key) => rows.map((row) => row[key]))
    this.#plot.batch(() => {
      this.#plot.setData([rows.map(({ at }) => at / 1000), ...columns] as uPlot.AlignedData, false)
      this.#plot.setScale('x', { min: now - SPAN, max: now })
      this.#plot.setScale('y', { min: 0, max: Math.max(10, ...columns.flat()) * 1.08 })
    })
  }
}

function optionsFor(place: HTMLElement): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: () => colour('muted'),
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  const series = (label: string, name: string, fill?: string): uPlot.Series => ({
    label,
    stroke: () => colour(name),
    width: 2,
    points: { show: false },
    ...(fill ? { fill: () => colour(fill) } : {}),
  })
  return {
    width: place.clientWidth,
    height: HEIGHT,
    padding: [8, 16, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, auto: false }, y: { auto: false } },
    axes: [
      {
        ...axis,
        gap: STRIP + 4,
        size: STRIP + 26,
        splits: (plot, _, min, max) => ticks(plot, min, max),
        values: (_, splits) => splits.map((at) => ago(splits, at)),
      },
      { ...axis, size: 56, values: (_, splits) => splits.map((n) => count(n)) },
    ],
    series: [
      {},
      series('Live', 'live', 'live-fill'),
      series('Expired, waiting', 'expired', 'expired-fill'),
      { ...series('Deleted', 'deleted'), dash: [6, 4] },
    ],
    hooks: { draw: [drawSlices] },
  }
}

/** Counted back from now, and fewer where there is less room. */
function ticks(plot: uPlot, min: number, max: number): number[] {
  const step = plot.width < NARROW ? 20 : 10
  const size = Math.floor((max - min) / step)
  return Array.from({ length: size + 1 }, (_, n) => max - (size - n) * step)
}

function ago(splits: number[], at: number): string {
  const past = Math.round(splits.at(-1)! - at)
  return past === 0 ? 'now' : `−${past} s`
}

function drawSlices(plot: uPlot): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  for (const { tab, from, to } of recentSlices()) {
    const left = plot.valToPos(from / 1000, 'x', true)
    if (left < bbox.left) continue
    const width = Math.max(1.5 * ratio, plot.valToPos(to / 1000, 'x', true) - left)
    ctx.fillStyle = colour(tabColour(tab))
    ctx.fillRect(
      left,
      bbox.top + bbox.height + 4 * ratio,
      Math.min(width, bbox.left + bbox.width - left),
      STRIP * ratio - 6 * ratio,
    )
  }
}
