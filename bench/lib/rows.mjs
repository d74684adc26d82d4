import { LIMIT } from './contenders.mjs'
import { median } from './rounds.mjs'
import { text } from './workloads.mjs'

/** What mayfly wants to reach, for each row; ratios, milliseconds or kilobytes, as the row has. */
const GOALS = {
  'open-loaded': 5,
  'open-fresh': 2.5,
  'put-turn': 2.5,
  'put-once': 1.4,
  'put-many': 1.15,
  'get-turn': 2,
  'get-once': 1.4,
  'get-many': 1.1,
  'get-all': 1.5,
  'range-short': 1.5,
  'range-long': 1.3,
  'count-range': 1.2,
  'delete-alone': 1.1,
  'delete-asked-median': 1.5,
  'delete-asked-p99': 3,
  'delete-asked-time': 3,
  longest: 50,
  'growth-get': 1.3,
  'growth-query': 1.3,
  'growth-delete': 1.5,
  'size-page': 5,
  'size-worker': 9,
}

/** Gaps below this are noise. */
const NOISE = 1.2

/** The table: for each row what each contender reached, the median over the rounds, and what it was in each of them. */
export function rows(workloads, results, sizes) {
  return workloads.flatMap((workload) => {
    const mine = results.filter((result) => result.workload === workload.name)
    if (workload.name === 'size') return sizeRows(sizes)
    if (workload.sizes) return growthRows(workload, mine)
    if (workload.name === 'delete-asked') return askedRows(workload, mine, results)
    return timeRows(workload, mine)
  })
}

/** Whether mayfly is where it wants to be. */
export function verdict({ goal, values }) {
  const reached = values.mayfly?.median
  if (reached === undefined) return '–'
  return reached <= goal ? 'yes' : reached <= goal * NOISE ? 'no, but within the noise' : 'no'
}

function timeRows({ name, title }, mine) {
  const time = row(name, title, 'ratio', GOALS[name], mine, ({ values, round }) => {
    const limit = mine.find((result) => result.contender === LIMIT && result.round === round)
    return limit && values.ms / limit.values.ms
  })
  if (!mine.some(({ values }) => values.longest !== undefined)) return [time]
  const longest = `${title}: longest task of the page`
  return [time, row(`${name}-longest`, longest, 'ms', GOALS.longest, mine, ({ values }) => values.longest)]
}

function askedRows({ name, title }, mine, results) {
  const alone = ({ contender, round }) =>
    results.find((one) => one.workload === 'delete-alone' && one.contender === contender && one.round === round)
  const own = (key, what, of) => row(`${name}-${key}`, `${title}: ${what}`, 'own', GOALS[`${name}-${key}`], mine, of)
  return [
    own('median', 'median wait, to that without the deletion', ({ values }) => values.median / values.quietMedian),
    own(
      'p99',
      '99th percentile of the wait, to that without the deletion',
      ({ values }) => values.p99 / values.quietP99,
    ),
    own('time', 'time, to that with nobody asking', (result) => result.values.ms / alone(result)?.values.ms),
  ]
}

function growthRows({ name, title, sizes }, mine) {
  const [least, ...more] = sizes
  return more.map((size) =>
    row(
      `${name}-${size}`,
      `${title} among ${text(size)}, to that among ${text(least)}`,
      'own',
      GOALS[name],
      mine.filter(({ stored }) => stored === size),
      ({ contender, round, values }) => {
        const small = mine.find((one) => one.contender === contender && one.round === round && one.stored === least)
        return small && values.ms / small.values.ms
      },
    ),
  )
}

function sizeRows(sizes) {
  return ['page', 'worker'].map((part) => ({
    name: `size-${part}`,
    title: part === 'page' ? 'what a page loads' : 'what its worker loads',
    unit: 'kB',
    goal: GOALS[`size-${part}`],
    values: Object.fromEntries(
      Object.entries(sizes)
        .filter(([, size]) => size[part] !== undefined)
        .map(([contender, size]) => [contender, { median: size[part], all: [size[part]] }]),
    ),
  }))
}

function row(name, title, unit, goal, results, of) {
  const values = {}
  for (const contender of new Set(results.map((result) => result.contender))) {
    const all = results
      .filter((result) => result.contender === contender)
      .map(of)
      .filter((value) => Number.isFinite(value))
    if (all.length > 0) values[contender] = { median: median(all), all }
  }
  return { name, title, unit, goal, values }
}
