/** How many documents there are; the option `--scale` changes them all. */
const STORED = 20_000
const DELETION = { stored: 40_000, size: 10_000 }
const GROWN = [10_000, 100_000, 300_000]

/**
 * What is measured. `size`: how many documents it is about; `stored`: how many live ones there are before.
 * `times`: how often it is repeated at least, on its page; `pages`: on how many pages it is done in a round.
 * `prepare` is done on a page of its own before each. `needs`: what it is compared to.
 */
export function workloads(scale) {
  const n = (count) => Math.max(1, Math.round(count * scale))
  // The first opening of a round finds the browser asleep.
  const pages = scale < 0.1 ? 1 : 3
  const full = { stored: n(STORED) }
  const deletion = { stored: n(DELETION.stored), size: n(DELETION.size), prepare: 'expire' }
  const all = {
    'open-loaded': { ...full, size: 1, pages, title: 'open and read one, module loaded' },
    'open-fresh': { ...full, size: 1, pages, title: 'load the module, open and read one' },
    'put-turn': { size: n(500), title: `${text(n(500))} puts, one after another` },
    'put-once': { size: n(2000), title: `${text(n(2000))} puts at once` },
    'put-many': { size: n(20_000), title: `bulk put of ${text(n(20_000))}` },
    'get-turn': { ...full, size: n(500), title: `${text(n(500))} gets, one after another` },
    'get-once': { ...full, size: n(2000), title: `${text(n(2000))} gets at once` },
    'get-many': { ...full, size: n(5000), title: `${text(n(5000))} ids in one call` },
    'get-all': { ...full, size: n(STORED), title: `all ${text(n(STORED))}` },
    'range-short': { ...full, times: 50, size: n(100), title: `index range of ${text(n(100))}` },
    'range-long': { ...full, size: n(5000), title: `index range of ${text(n(5000))}` },
    'count-range': { ...full, times: 20, size: n(5000), title: `count of ${text(n(5000))} in an index` },
    'delete-alone': {
      ...deletion,
      title: `deletion of ${text(n(DELETION.size))} expired among ${text(n(DELETION.stored + DELETION.size))}`,
    },
    'delete-asked': {
      ...deletion,
      quiet: Math.max(100, 2000 * scale),
      needs: 'delete-alone',
      title: 'that deletion with a get every 5 ms',
    },
    'growth-get': { sizes: GROWN.map(n), times: 10, size: n(100), title: 'get' },
    'growth-query': { sizes: GROWN.map(n), size: 20, times: 50, title: 'query of 20' },
    'growth-delete': { sizes: GROWN.map(n), size: n(1000), prepare: 'expire', title: `deletion of ${text(n(1000))}` },
    size: { title: 'what a page loads' },
  }
  return Object.fromEntries(Object.entries(all).map(([name, workload]) => [name, { name, ...workload }]))
}

export function text(number) {
  return number.toLocaleString('en-GB')
}
