import { stateOf } from './lifetimes.js'
import type { State } from './lifetimes.js'
import { directivesOf, secondsOf } from './policy.js'
import type { CachedResponse } from './record.js'

/**
 * What a request will take: `cached`, by the ordinary rules; only what the server has `checked`; only
 * what is `new`; `any` age, if there is one; or that and `nothing` else, not even from the network.
 */
export type Demand = 'cached' | 'checked' | 'new' | 'any' | 'nothing'

/** A request with one of these makes its own bargain with the server. */
const OWN_CONDITIONS = /^(range$|if-)/

const OF_MODES: Partial<Record<RequestCache, Demand>> = {
  'no-cache': 'checked',
  reload: 'new',
  'force-cache': 'any',
  'only-if-cached': 'nothing',
}

/** Undefined when the request wants nothing to do with a cache. */
export function demandOf({ cache, headers, url }: Request): Demand | undefined {
  const said = directivesOf(headers.get('cache-control'))
  if (cache === 'no-store' || said.has('no-store') || !/^https?:/.test(url)) return undefined
  if ([...headers.keys()].some((name) => OWN_CONDITIONS.test(name))) return undefined
  const demand = OF_MODES[cache]
  if (demand) return demand
  const isWary = said.has('no-cache') || (said.size === 0 && /\bno-cache\b/.test(headers.get('pragma') ?? ''))
  return isWary || secondsOf(said, 'max-age') === 0 ? 'checked' : 'cached'
}

/** What an answer is to this request, which may be harder to please than most. */
export function stateFor({ headers }: Request, answer: CachedResponse): State {
  const said = directivesOf(headers.get('cache-control'))
  const now = Date.now()
  const age = (now - answer.madeAt) / 1000
  const isTooOld = age > (secondsOf(said, 'max-age') ?? Infinity)
  const isFreshEnough = stateOf(answer, now + (secondsOf(said, 'min-fresh') ?? 0) * 1000) === 'fresh'
  const state = stateOf(answer, now)
  return state === 'past' || (isFreshEnough && !isTooOld) || !(said.has('max-age') || said.has('min-fresh'))
    ? state
    : 'fallback'
}

/**
 * Whether an answer may stand in for the network's when that fails. A page that is reloaded asks for what is checked,
 * and should work offline all the same; but not by what is merely fresh.
 */
export function mayReplace(demand: Demand, answer: CachedResponse): boolean {
  if (demand === 'cached') return stateOf(answer) !== 'past'
  const { freshUntil, fallbackUntil } = answer
  return demand === 'checked' && fallbackUntil > freshUntil && Date.now() < fallbackUntil
}

/** Whether a request could have got this answer from the network. */
export function suits({ redirect, mode }: Request, { redirected, type }: CachedResponse): boolean {
  // A browser that goes to a page follows redirects by itself; offline it has to have the page at once.
  const follows = redirect === 'follow' || mode === 'navigate'
  return !(redirected && !follows) && !(mode === 'same-origin' && type === 'cors')
}
