import type { Stats } from 'mayfly'
import { collections, NAMES, store } from '../store.js'
import type { Name } from '../store.js'
import { listen } from './news.js'
import { atMost } from './pace.js'
import { readDefaults } from './state.js'
import { value } from './value.js'

/** How things stand on the disk at a moment. */
export interface Sample {
  /** Milliseconds since 1970. */
  at: number
  live: number
  expired: number
  /** What the idle loop of any tab has deleted since this page was opened. */
  deleted: number
  of: Readonly<Record<Name, Stats>>
}

/** While something happens, and while nothing does. */
const SOON = 250
const LATER = 1000

export const sample = value<Sample | undefined>(undefined)

let expiries = 0
/** Whatever expired was either deleted since, or is waiting still. */
let origin: number | undefined
let before = 0

/** From now on, counts: `stats()` reads no document. */
export function startSampling(): void {
  for (const name of [...NAMES, 'scraps'] as const) {
    store[name].changes(({ type }) => {
      if (type === 'expire') expiries++
    })
  }
  // What is cleared away was not deleted by the idle loop.
  listen(({ type }) => {
    if (type === 'cleared') origin = undefined
  })
  measure()
}

let timer: ReturnType<typeof setTimeout> | undefined

/** Looks how things stand, soon: for who knows that they have changed. */
export const measure = atMost(SOON, async () => {
  clearTimeout(timer)
  let wait = LATER
  try {
    if (document.visibilityState === 'visible') wait = await take()
  } catch {
    // A store that is busy or gone says so where somebody asks for something.
  }
  timer = setTimeout(measure, wait)
})

async function take(): Promise<number> {
  const [stats, scraps] = await Promise.all([
    Promise.all(NAMES.map((name) => collections[name].stats())),
    store.scraps.stats(),
    readDefaults(),
  ])
  const all = [...stats, scraps]
  const live = sum(all.map((one) => one.live))
  const expired = sum(all.map((one) => one.expired))
  origin ??= expiries - expired - before
  // An expiry that is counted already may not have been told yet.
  const deleted = Math.max(before, expiries - expired - origin)
  const last = sample.get()
  const isMoving = expired > 0 || deleted !== before || live !== last?.live
  before = deleted
  const of = Object.fromEntries(NAMES.map((name, at) => [name, stats[at]])) as Record<Name, Stats>
  sample.set({ at: Date.now(), live, expired, deleted, of })
  return isMoving ? SOON : LATER
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}
