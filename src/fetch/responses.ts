import type { Stored } from '../types.js'
import { suits } from './demand.js'
import { idsOf, union, variantOf } from './key.js'
import type { Key } from './key.js'
import type { Timed } from './lifetimes.js'
import type { Permit } from './permits.js'
import type { Answer, CachedResponse } from './record.js'
import { endOf } from './shelf.js'
import type { Shelf } from './shelf.js'

/** An answer on its way to the shelf. */
export interface Arrival {
  key: Key
  headers: Headers
  answer: Answer
  times: Omit<Timed, 'id'>
  /** The headers that the server chose it by. */
  names: string[]
  permit: Permit<CachedResponse>
  /** What was there when it was asked for. */
  known: Stored<CachedResponse> | undefined
}

/** Answers that are kept by address; those that vary lie behind a signpost, which says by which headers. */
export class Responses {
  readonly shelf: Shelf<CachedResponse>

  constructor(shelf: Shelf<CachedResponse>) {
    this.shelf = shelf
  }

  async find({ id, url }: Key, request: Request): Promise<Stored<CachedResponse> | undefined> {
    const found = await this.shelf.find(id)
    const doc = found && isSignpost(found) ? await this.shelf.find(variantOf(id, found.vary, request.headers)) : found
    return doc && doc.url === url && suits(request, doc) ? doc : undefined
  }

  async keep(arrival: Arrival): Promise<void> {
    const { key, headers, answer, times, permit, known } = arrival
    const vary = arrival.names.length > 0 ? await this.#pointTo(arrival) : []
    if (!vary) return
    const id = vary.length > 0 ? variantOf(key.id, vary, headers) : key.id
    await this.shelf.put({ ...answer, ...times, id, url: key.url, vary }, permit, known?.id === id ? known : undefined)
  }

  /** Removes all answers of an address; how many there were. */
  removeAll(url: string): Promise<number> {
    return this.shelf.removeNamed(url, { id: idsOf(url) })
  }

  /** Sees to it that the signpost leads there, for as long as there is something: the names that choose, or undefined. */
  async #pointTo({ key, names, times, permit }: Arrival): Promise<string[] | undefined> {
    const current = await this.shelf.find(key.id)
    const signpost = current && isSignpost(current) ? current : undefined
    const vary = union(names, signpost?.vary ?? [])
    const left = signpost ? (endOf(signpost) - Date.now()) / 1000 : 0
    if (vary.length === signpost?.vary.length && left >= lengthOf(times.ttl)) return vary
    const ttl = left > lengthOf(times.ttl) ? signpost?.ttl : times.ttl
    const askedAt = Math.max(times.askedAt, signpost?.askedAt ?? 0)
    const doc = { ...times, ...NOTHING, askedAt, id: key.id, url: key.url, vary, ...(ttl ? { ttl } : {}) }
    return (await this.shelf.put(doc, permit, current)) && vary
  }
}

const NOTHING: Answer = {
  status: 0,
  statusText: '',
  headers: [],
  from: '',
  redirected: false,
  type: 'default',
  body: null,
}

function isSignpost({ status }: CachedResponse): boolean {
  return status === 0
}

function lengthOf(ttl = -1): number {
  return ttl === -1 ? Infinity : ttl
}
