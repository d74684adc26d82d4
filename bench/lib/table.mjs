import { CONTENDERS } from './contenders.mjs'
import { verdict } from './rows.mjs'

const UNITS = {
  ratio: 'Times of raw IndexedDB (1.0, the limit)',
  own: 'Times of the same contender: without questions, or in the smaller database',
  ms: 'Milliseconds',
  kB: 'kB, minified and gzipped',
}

/** The results in Markdown. */
export function table({ date, browser, rounds, scale, contenders, rows, omitted }) {
  const sized = scale === 1 ? '' : `, ${scale} of the usual numbers of documents`
  return [
    '# Results',
    '',
    `${date}, ${browser}, the median of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}${sized}. Less is better.`,
    'Gaps below 20 % are noise. “–”: not measured, or given up.',
    '',
    ...Object.entries(UNITS).flatMap(([unit, title]) =>
      comparison(
        title,
        rows.filter((row) => row.unit === unit),
        contenders,
      ),
    ),
    ...(contenders.includes('mayfly') ? goals(rows) : []),
    ...(omitted.length > 0
      ? [
          '## Given up',
          '',
          ...omitted.map((one) => `- ${CONTENDERS[one.contender].title}, ${one.workload}: ${one.reason}`),
          '',
        ]
      : []),
  ].join('\n')
}

function comparison(title, rows, contenders) {
  const shown = contenders.filter((name) => rows.some(({ values }) => values[name]))
  if (shown.length === 0) return []
  return [
    `## ${title}`,
    '',
    line(['', ...shown.map((name) => CONTENDERS[name].title)]),
    line(['---', ...shown.map(() => '---:')]),
    ...rows.map(({ title: name, values, unit }) =>
      line([name, ...shown.map((one) => figure(values[one]?.median, unit))]),
    ),
    '',
  ]
}

function goals(rows) {
  return [
    '## What mayfly wants to reach',
    '',
    line(['', 'goal', 'measured', 'lowest to highest', 'reached']),
    line(['---', '---:', '---:', '---:', '---']),
    ...rows.map((row) => {
      const { title, unit, goal, values } = row
      const all = values.mayfly?.all ?? []
      const spread = all.length > 1 ? `${figure(Math.min(...all), unit)} to ${figure(Math.max(...all), unit)}` : ''
      return line([title, `${goal}${suffix(unit)}`, figure(values.mayfly?.median, unit), spread, verdict(row)])
    }),
    '',
  ]
}

export function figure(value, unit) {
  if (value === undefined) return '–'
  const digits = unit === 'ms' || value >= 100 ? 0 : value >= 10 || unit === 'kB' ? 1 : 2
  return `${value.toFixed(digits)}${suffix(unit)}`
}

const suffix = (unit) => (unit === 'ms' || unit === 'kB' ? ` ${unit}` : '')
const line = (cells) => `| ${cells.join(' | ')} |`
