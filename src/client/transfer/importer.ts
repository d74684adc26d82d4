import { fail, fromFailure, MayflyError } from '../../errors.js'
import type { Failure, Incoming, Operation, OnConflict, Restored } from '../../protocol.js'
import { isTtl, TTL_RULE } from '../../ttl.js'
import { MESSAGE, weight } from '../../weight.js'
import { toDraft } from '../draft.js'
import { call } from '../report.js'
import type { Imported, ImportOptions, TransferTools } from '../transfer.js'
import { decode } from './decoder.js'
import { Unfit } from './format.js'
import { checked } from './options.js'
import { Reading } from './reading.js'
import { ABORTED, linesOf } from './lines.js'

/** How many documents cross at once, at most. */
const PART = 1000

/** A time that is later than this is none. */
const LATEST = 8.64e15

/** More than can be there: all that have expired. */
const ALL = 2 ** 30

/** Takes a file in: all of it or nothing, unless asked for what can be had. */
export async function importFrom(
  tools: TransferTools,
  source: unknown,
  options: ImportOptions = {},
): Promise<Imported> {
  const work = new Import(tools, checked(tools, options))
  try {
    return await work.run(source)
  } catch (error) {
    const rest = await work.stop()
    if (error === ABORTED) return rest
    throw rest.imported > 0 ? withCount(work.explain(error), rest.imported) : work.explain(error)
  }
}

class Import {
  readonly #tools: TransferTools
  readonly #options: ImportOptions
  readonly #onConflict: OnConflict
  readonly #token = crypto.getRandomValues(new Uint32Array(4)).join('-')
  readonly #reading: Reading
  readonly #parts = new Map<string, number>()
  readonly #ids = new Map<string, Set<string>>()
  readonly #settings = new Map<string, number | null>()
  readonly #versions = new Map<string, number>()
  readonly #sum: Imported = { imported: 0, expired: 0, kept: 0, stopped: false }
  #collection = ''
  #part: Incoming = { docs: [], times: [] }
  #weight = 0
  #done = 0

  constructor(tools: TransferTools, options: ImportOptions) {
    this.#tools = tools
    this.#options = options
    this.#onConflict = options.onConflict ?? 'fail'
    this.#reading = new Reading(Object.keys(tools.collections), options.collections)
  }

  async run(source: unknown): Promise<Imported> {
    const { signal, onProgress } = this.#options
    for await (const text of linesOf(source, signal)) {
      const line = this.#reading.take(text)
      if (line === 'header') await this.#begin()
      else if (line) await this.#add(line.in, line.doc)
      this.#reading.leave()
    }
    this.#reading.finish()
    await this.#flush()
    if (!this.#options.partial) await this.#commit(signal)
    call(onProgress, { done: this.#done, total: this.#done })
    return this.#sum
  }

  /** Leaves nothing behind of what was not taken in; gives back what was. */
  async stop(): Promise<Imported> {
    // In a part that is not full there may be documents before the damaged line, which are to be kept.
    if (this.#options.partial && !this.#options.signal?.aborted) await this.#flush().catch(() => undefined)
    for (const collection of this.#parts.keys()) {
      await this.#ask({ verb: 'discard', collection, token: this.#token }).catch(() => undefined)
    }
    return { ...this.#sum, stopped: true }
  }

  explain(error: unknown): unknown {
    if (error instanceof MayflyError) return error
    if (error instanceof Unfit) return this.#reading.refusal(error.message)
    return fail('failed', {}, `the source broke off after line ${this.#reading.line}.`, error)
  }

  async #begin(): Promise<void> {
    for (const { name, defaultTtl, version } of this.#reading.wanted) {
      this.#versions.set(name, version)
      this.#ids.set(name, new Set())
      this.#settings.set(name, (await this.#tools.collections[name]!.settings()).defaultTtl)
      if (!this.#options.settings) continue
      this.#settings.set(name, defaultTtl)
      if (this.#options.partial) for (const operation of settingOf(name, defaultTtl)) await this.#ask(operation)
    }
  }

  async #add(collection: string, node: unknown): Promise<void> {
    const doc = decode(node)
    const { _ts } = Object(doc) as { _ts?: unknown }
    const time = typeof _ts === 'number' ? Math.round(_ts * 1000) : NaN
    if (!(time >= 0 && time <= LATEST)) throw new Unfit('its _ts, when it was written, is not there or is no time')
    const draft = this.#reading.checked(() => toDraft(doc, collection, false))
    if (draft.ttl !== undefined && this.#settings.get(collection) !== null && !isTtl(draft.ttl)) {
      throw new Unfit(`${TTL_RULE}. To import it all the same, turn time to live off meanwhile: setDefaultTtl(null)`)
    }
    const ids = this.#ids.get(collection)!
    if (ids.has(draft.id)) throw new Unfit('there is a document with this id in the file already')
    ids.add(draft.id)
    if (collection !== this.#collection) await this.#flush()
    this.#collection = collection
    this.#part.docs.push(draft)
    this.#part.times.push(time)
    this.#weight += weight(draft)
    if (this.#part.docs.length === PART || this.#weight >= MESSAGE) await this.#flush()
  }

  async #flush(): Promise<void> {
    const [collection, part] = [this.#collection, this.#part]
    if (part.docs.length === 0) return
    this.#part = { docs: [], times: [] }
    this.#weight = 0
    if (this.#options.partial) {
      this.#count(
        await this.#ask({
          verb: 'restore',
          collection,
          onConflict: this.#onConflict,
          version: this.#versions.get(collection)!,
          ...part,
        }),
      )
    } else {
      const number = this.#parts.get(collection) ?? 0
      this.#parts.set(collection, number + 1)
      await this.#ask({ verb: 'stage', collection, token: this.#token, part: number, ...part })
    }
    this.#done += part.docs.length
    call(this.#options.onProgress, { done: this.#done })
  }

  async #commit(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw ABORTED
    const [token, onConflict] = [this.#token, this.#onConflict]
    const operations: Operation[] = this.#options.settings
      ? this.#reading.wanted.flatMap(({ name, defaultTtl }) => settingOf(name, defaultTtl))
      : []
    const taking = [...this.#parts]
    for (const [collection, parts] of taking) {
      const version = this.#versions.get(collection)!
      operations.push({ verb: 'unstage', collection, token, parts, onConflict, version })
    }
    const [first] = operations
    if (!first) return
    const values = (await this.#ask({ verb: 'atomic', collection: first.collection, operations })) as unknown[]
    this.#parts.clear()
    for (const value of values.slice(operations.length - taking.length)) this.#count(value)
  }

  #count(value: unknown): void {
    const { imported, expired, kept, failure } = value as Restored
    this.#sum.imported += imported
    this.#sum.expired += expired
    this.#sum.kept += kept
    if (failure) throw fromFailure(failure)
  }

  #ask(operation: Operation): Promise<unknown> {
    return this.#tools.queue.call(() => operation)
  }
}

/** With what has died under the old setting gone, what comes is judged by the new one alone. */
function settingOf(collection: string, defaultTtl: number | null): Operation[] {
  return [
    { verb: 'setDefaultTtl', collection, defaultTtl },
    { verb: 'sweep', collection, limit: ALL, isWhole: true },
  ]
}

function withCount(error: unknown, imported: number): unknown {
  if (!(error instanceof MayflyError)) return error
  const { code, message, collection, id, cause } = error
  const said: Omit<Failure, 'cause'> = { code, message: `${message} The ${imported} before it were imported.` }
  return new MayflyError(said.code, said.message, { collection, id, cause })
}
