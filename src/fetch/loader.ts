import type { Stored } from '../types.js'
import type { Arguments } from './arguments.js'
import type { Background } from './background.js'
import type { Demand } from './demand.js'
import type { Work } from './flights.js'
import { namesIn } from './key.js'
import type { Key } from './key.js'
import { lives, nextMoment, timesOf } from './lifetimes.js'
import type { Rules } from './options.js'
import type { Permit } from './permits.js'
import { ageOf, spanOfResponse } from './policy.js'
import { conditionsOf, renewed, toAnswer } from './record.js'
import type { Answer, CachedResponse } from './record.js'
import type { Arrival, Responses } from './responses.js'

/** A call of the cached fetch. */
export interface Ask extends Arguments {
  request: Request
  signal: AbortSignal | null | undefined
  key: Key
  permit: Permit<CachedResponse>
  demand: Demand
  /** Whether its answer may be kept, and taken from what is. */
  isKept: boolean
}

/** What the network said: a response, of which everybody takes a copy, or that the stored answer still holds. */
export type Outcome =
  | { answer?: undefined; response: Response; isFailure: boolean }
  | { answer: Answer; response?: undefined; isFailure?: false }

type Known = Stored<CachedResponse> | undefined
type Condition = [name: string, value: string]

/** For how long a response is kept, and the headers that it was chosen by. */
type Terms = Pick<Arrival, 'times' | 'names'>

/** A request that went to the network and came back. */
interface Trip {
  ask: Ask
  /** What was stored when it was asked for. */
  known: Known
  askedAt: number
  receivedAt: number
}

/** A part of an answer, no answer at all, and what a script can make no response of. */
const UNFIT = /^(206|304|[^2-5].*)$/

/** The server could not answer now: what it said before still holds. */
const NOT_NOW = [408, 425, 429]

/** Goes to the network, and keeps what it brings. */
export class Loader {
  readonly #rules: Rules
  readonly #responses: Responses
  readonly #background: Background
  /** The origins that must not be asked whether something has changed. */
  readonly #reserved = new Set<string>()

  constructor(rules: Rules, responses: Responses, background: Background) {
    this.#rules = rules
    this.#responses = responses
    this.#background = background
  }

  load(ask: Ask, known: Known): Work<Outcome> {
    return async (signal, hold) => {
      // Of other methods than GET a condition says whether to do the work at all.
      const mayAsk = ask.request.method === 'GET' && ask.demand !== 'new'
      const conditions = mayAsk && known && !this.#reserved.has(originOf(known)) ? conditionsOf(known) : undefined
      const askedAt = nextMoment()
      const response = await this.#send(ask, known, signal, conditions)
      const trip = { ask, known, askedAt, receivedAt: Date.now() }
      if (known && conditions && response.status === 304) {
        const answer = renewed(known, response, trip.receivedAt)
        hold(this.#background.run(this.#keep(trip, answer)), goodUntil(ask, this.#termsOf(trip, answer.headers)))
        return { answer }
      }
      const terms = this.#judge(trip, response)
      if (terms) {
        const storing = this.#background.run(this.#keepBody(trip, response, signal))
        hold(storing, goodUntil(ask, terms))
        void storing.then(() => release(response))
      } else {
        if (known && isFinal(response)) void this.#background.run(this.#responses.shelf.drop(known))
        release(response)
      }
      return { response, isFailure: response.status >= 500 && !terms }
    }
  }

  async #send(ask: Ask, known: Known, signal: AbortSignal, conditions?: Condition[]): Promise<Response> {
    const send = (asking?: Condition[]) => this.#rules.network.send(ask.input, initOf(ask, signal, asking))
    try {
      const response = await send(conditions)
      // If it leads elsewhere by now, that has not changed; it is not what we have.
      const hasMoved = known && response.status === 304 && ![known.from, ''].includes(response.url)
      return hasMoved ? await send() : response
    } catch (error) {
      if (!conditions || known?.type !== 'cors' || signal.aborted) throw error
      // An origin has to allow these headers, or the browser does not send the request at all.
      const response = await send()
      this.#reserved.add(originOf(known))
      return response
    }
  }

  /** On which terms a response is kept; undefined when it is not worth it. */
  #judge(trip: Trip, response: Response): Terms | undefined {
    const { request, isKept } = trip.ask
    const { status, type, headers } = response
    if (!isKept || UNFIT.test(`${status}`) || type.startsWith('opaque')) return undefined
    try {
      return this.#rules.keep(response, request) ? this.#termsOf(trip, headers) : undefined
    } catch (error) {
      this.#background.report(error)
      return undefined
    }
  }

  /** Undefined when it must not be kept. */
  #termsOf({ askedAt, receivedAt }: Trip, given: HeadersInit): Terms | undefined {
    const headers = new Headers(given)
    const { defaults, override, keepsCredentials } = this.#rules
    const names = namesIn(headers.get('vary'))
    // A script does not see the cookies, so it cannot choose by them.
    if (!names || (names.includes('cookie') && !keepsCredentials)) return undefined
    const span = spanOfResponse(headers, receivedAt, defaults, override)
    if (!span) return undefined
    return { names, times: timesOf(span, askedAt, receivedAt, ageOf(headers, askedAt, receivedAt, override)) }
  }

  /** A body that breaks off is not kept. */
  async #keepBody(trip: Trip, response: Response, signal: AbortSignal): Promise<void> {
    const copy = response.clone()
    try {
      const body = copy.body ? await copy.arrayBuffer() : null
      await this.#keep(trip, toAnswer(response, trip.ask.request, body))
    } catch (error) {
      // Everybody has gone, and has been told.
      if (!signal.aborted) throw error
    }
  }

  async #keep(trip: Trip, answer: Answer): Promise<void> {
    const { ask, known } = trip
    const { key, request, permit } = ask
    const terms = this.#termsOf(trip, answer.headers)
    // What was over when it came says all the same that the stored one is.
    if (!terms || !lives(terms.times)) return known && this.#responses.shelf.drop(known)
    await this.#responses.keep({ ...terms, key, headers: request.headers, answer, permit, known })
  }
}

/**
 * With our signal and our questions. The browser's own cache stays out of it: it would
 * answer in the server's place, hold up a second request for the same address, and keep what `clear()` must remove.
 */
function initOf({ init, request, isKept }: Ask, signal: AbortSignal, conditions?: Condition[]): RequestInit {
  return {
    ...init,
    signal,
    cache: isKept && request.cache !== 'force-cache' ? 'no-store' : request.cache,
    ...(conditions && { headers: [...request.headers, ...conditions] }),
  }
}

/** Until when who comes while a response is on its way may have it too; not who has asked for the server's own word. */
function goodUntil({ demand }: Ask, terms: Terms | undefined): number {
  return demand === 'cached' || demand === 'any' ? (terms?.times.staleUntil ?? 0) : 0
}

const originOf = ({ from }: CachedResponse) => new URL(from).origin

/** Whether the answer takes the place of an earlier one, even if it is not kept itself. */
function isFinal({ status, type }: Response): boolean {
  return status < 500 && !NOT_NOW.includes(status) && !type.startsWith('opaque')
}

/**
 * Lets go of the response when everybody has taken a copy, as all do in the task in which it comes. Otherwise it would
 * gather what the copies read, and the connection would stay open when they are cancelled.
 */
function release(response: Response): void {
  setTimeout(() => {
    response.body?.cancel().catch(() => undefined)
  })
}
