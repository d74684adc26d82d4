import type { Explanation } from 'mayfly'

const numbers = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 3 })
const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const times = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

export const count = (n: number): string => numbers.format(n)

export const plural = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? '' : 's'}`

export const timeOf = (at: Date | number): string => times.format(at)

/** With its day, when that is not today. */
export function momentOf(at: number): string {
  const day = dates.format(at)
  return day === dates.format(Date.now()) ? timeOf(at) : `${timeOf(at)} on ${day}`
}

export function seconds(n: number): string {
  if (n < 120) return `${count(Math.round(n * 10) / 10)} s`
  if (n < 2 * 3600) return `${count(Math.round(n / 60))} min`
  if (n < 2 * 86_400) return `${count(Math.round(n / 3600))} h`
  return `${count(Math.round(n / 86_400))} days`
}

const LENGTHS = [
  [86_400, 'day'],
  [3600, 'h'],
  [60, 'min'],
] as const

/** A number of seconds as it was set, in the longest unit that leaves no rest. */
export function exactly(n: number): string {
  const [length, unit] = LENGTHS.find(([one]) => n >= 2 * one && n % one === 0) ?? [1, 's']
  return unit === 'day' ? plural(n / length, unit) : `${count(n / length)} ${unit}`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function bytes(n: number): string {
  const step = n < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(n) / 3))
  const scaled = n / 1000 ** step
  return `${scaled.toFixed(scaled < 10 && step > 0 ? 1 : 0)} ${UNITS[step]}`
}

/** What `explain()` says, for people. */
export function explained({ index, direction, read, returned, sorted }: Explanation, orderBy: string): string {
  const way = index
    ? `Answered by the index ${index.replaceAll(',', '+')}, ${directionOf(orderBy, direction)}`
    : 'No index serves this, so the collection was read by id'
  const memory = sorted
    ? `${plural(returned, 'match').replace('matchs', 'matches')} sorted in memory`
    : 'nothing sorted in memory'
  return `${way}: ${plural(read, 'record')} read, ${count(returned)} returned, ${memory}.`
}

function directionOf(orderBy: string, direction: 'asc' | 'desc'): string {
  if (orderBy === 'placedAt') return direction === 'desc' ? 'newest first' : 'oldest first'
  if (orderBy === 'total') return direction === 'desc' ? 'highest first' : 'lowest first'
  return direction === 'desc' ? 'backwards' : 'forwards'
}
