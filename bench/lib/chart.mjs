import { CONTENDERS, LIMIT } from './contenders.mjs'
import { figure } from './table.mjs'

/** Ratios above this are cut off, or nobody could tell the small ones apart. */
const CUT = 8

const COLUMNS = 3
const PANEL = { width: 312, gap: 16, label: 96, bars: 152, title: 30, bar: 15, end: 10 }
const MARGIN = 24
const HEAD = 76

/** Light and dark are those of the reader; the picture brings its own ground along. */
const STYLE = `
  text { font: 11px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #59636e }
  .ground { fill: #ffffff; stroke: #d1d9e0 }
  .head { font-size: 18px; font-weight: 600; fill: #1f2328 }
  .title { font-size: 12px; font-weight: 600; fill: #1f2328 }
  .bar { fill: #c3cbd5 }
  .mayfly { fill: #0f8f83 }
  text.mayfly { font-weight: 600; fill: #0b7469 }
  .limit { stroke: #1f2328; stroke-opacity: .35 }
  .cut { stroke: #ffffff; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .ground { fill: #0d1117; stroke: #3d444d }
    .head, .title { fill: #f0f6fc }
    .bar { fill: #4b5460 }
    .mayfly { fill: #2bbfae }
    text.mayfly { fill: #4fd6c6 }
    .limit { stroke: #f0f6fc; stroke-opacity: .4 }
    .cut { stroke: #0d1117 }
  }
`

/** A small chart of bars for each comparison with raw IndexedDB, and for what a page loads. */
export function chart({ contenders, rows, date, browser }) {
  const shown = rows.filter(({ unit, name }) => unit === 'ratio' || name === 'delete-asked-p99' || name === 'size-page')
  const lines = []
  for (let at = 0; at < shown.length; at += COLUMNS) lines.push(shown.slice(at, at + COLUMNS))
  let y = HEAD
  const panels = lines.map((line) => {
    const drawn = line.map((row, column) => panel(row, contenders, MARGIN + column * (PANEL.width + PANEL.gap), y))
    y += Math.max(...drawn.map(({ height }) => height))
    return drawn.map(({ svg }) => svg).join('')
  })
  const width = 2 * MARGIN + COLUMNS * PANEL.width + (COLUMNS - 1) * PANEL.gap
  const height = y + MARGIN - PANEL.end
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>mayfly compared with other ways to use IndexedDB</title><style>${STYLE}</style>`,
    `<rect class="ground" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    `<text class="head" x="${MARGIN}" y="36">Times of raw IndexedDB, written as well as can be</text>`,
    `<text x="${MARGIN}" y="55">Less is better; the line is raw IndexedDB = 1. ${browser}, ${date}. `,
    'How it is measured: bench/README.md</text>',
    ...panels,
    '</svg>\n',
  ].join('')
}

function panel({ title, unit, name, values }, contenders, x, y) {
  const measured = contenders.filter((contender) => values[contender])
  const most = Math.max(1, ...measured.map((contender) => values[contender].median))
  const cut = unit === 'kB' ? most : Math.min(CUT, Math.max(2, most))
  const scale = PANEL.bars / cut
  const bars = measured.map((contender, at) => {
    const value = values[contender].median
    const top = y + PANEL.title + at * PANEL.bar
    const left = x + PANEL.label
    const long = Math.max(1, Math.min(cut, value) * scale)
    const mark = contender === 'mayfly' ? ' class="mayfly"' : ''
    return [
      `<text${mark} x="${left - 6}" y="${top + 9.5}" text-anchor="end">${CONTENDERS[contender].short}</text>`,
      `<rect class="${mark ? 'mayfly' : 'bar'}" x="${left}" y="${top}" width="${long.toFixed(1)}" height="11" rx="2"/>`,
      value > cut ? `<path class="cut" d="M${left + long - 12} ${top + 13}l5 -15m3 15l5 -15"/>` : '',
      `<text${mark} x="${(left + long + 5).toFixed(1)}" y="${top + 9.5}">${figure(value, unit)}</text>`,
    ].join('')
  })
  const end = y + PANEL.title + measured.length * PANEL.bar
  const one = x + PANEL.label + scale
  const limit = unit === 'ratio' && values[LIMIT] ? `<path class="limit" d="M${one.toFixed(1)} ${y + 24}V${end}"/>` : ''
  const heading = `<text class="title" x="${x}" y="${y + 15}">${headingOf(name, title)}</text>`
  return { svg: `<g>${heading}${bars.join('')}${limit}</g>`, height: end - y + PANEL.end }
}

/** What does not fit, or is not a ratio to raw, is said in short. */
function headingOf(name, title) {
  if (name === 'delete-asked-p99') return 'p99 of a get meanwhile, to its own idle p99'
  if (name === 'size-page') return 'What a page loads, minified and gzipped'
  return title[0].toUpperCase() + title.slice(1)
}
