import { listen } from './news.js'

/** A slice of deletion, in milliseconds since 1970. */
export interface Slice {
  tab: string
  from: number
  to: number
}

/** How long slices are remembered, in milliseconds. */
const KEPT = 65_000

let recent: Slice[] = []
const totals = new Map<string, number>()

listen((news) => {
  if (news.type !== 'slice') return
  recent = recent.filter(({ to }) => to > Date.now() - KEPT)
  recent.push(news)
  totals.set(news.tab, sliceCount(news.tab) + 1)
})

/** The slices of the last minute, of all tabs. */
export const recentSlices = (): readonly Slice[] => recent

/** How many slices there were since this page was opened: of one tab, or of all. */
export function sliceCount(tab?: string): number {
  if (tab !== undefined) return totals.get(tab) ?? 0
  return [...totals.values()].reduce((sum, n) => sum + n, 0)
}
