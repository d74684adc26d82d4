import { isDense } from '../dense.js'
import { fail, toFailure } from '../errors.js'
import type { Operation, Reply, StoreShape } from '../protocol.js'
import { isTtl } from '../ttl.js'

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isId: Check = (value) => isText(value) && value !== ''
const isNumber: Check = (value) => typeof value === 'number'
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isTag: Check = (value) => value === undefined || isText(value)
const isPlain: Check = (value) => Object.prototype.toString.call(value) === '[object Object]'
const isDraft: Check = (value) => isPlain(value) && isId((value as { id: unknown }).id)
const isQuestion: Check = (value) => {
  if (!isPlain(value)) return false
  const { where = {}, orderBy, limit = 1 } = value as Record<string, unknown>
  return isPlain(where) && isTag(orderBy) && isCount(limit) && limit !== 0
}
const isConflict: Check = (value) => ['fail', 'replace', 'keep'].includes(value as string)
const oneOrNone =
  (check: Check): Check =>
  (value) =>
    value === null || value === undefined || check(value)
const all =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && isDense(value) && value.every(check)

const id = { id: isId }
const ids = { ids: all(isId) }
const doc = { doc: isDraft }
const docs = { docs: all(isDraft) }
const guard = { ifMatch: isTag }
const question = { question: isQuestion }
const accepting = { onConflict: isConflict, version: isCount }
const incoming = { ...docs, times: all(isNumber) }
const key = { key: isNumber }

/** What a page may ask, and what each field has to be. What the engine asks of itself is not among it. */
const FIELDS = new Map<unknown, Record<string, Check>>(
  Object.entries({
    get: id,
    getMany: ids,
    expiresAt: id,
    create: doc,
    upsert: { ...doc, ...guard },
    replace: { ...doc, ...guard },
    patch: { ...id, ...guard, fields: isPlain },
    touch: { ...id, ...guard },
    delete: { ...id, ...guard },
    createMany: docs,
    upsertMany: docs,
    deleteMany: ids,
    clear: {},
    find: { ...question, after: isTag },
    explain: question,
    count: question,
    settings: {},
    setDefaultTtl: { defaultTtl: (value) => value === null || isTtl(value) },
    stats: {},
    watch: { ...question, ...key },
    unwatch: key,
    follow: { since: oneOrNone(isNumber) },
    unfollow: {},
    stage: { ...incoming, token: isText, part: isCount },
    unstage: { ...accepting, token: isText, parts: isCount },
    discard: { token: isText },
    restore: { ...accepting, ...incoming },
    sweep: { limit: isCount, isWhole: (value) => value === true },
  }),
)

/** Looks at what arrives, whoever sent it: what is no operation of this store gets a refusal, and goes no further. */
export class Customs {
  readonly #collections: Set<unknown>

  constructor({ collections }: StoreShape) {
    this.#collections = new Set(collections.map(({ name }) => name))
  }

  async pass(operations: unknown, run: (operations: Operation[]) => Promise<Reply[]>): Promise<Reply[]> {
    if (!Array.isArray(operations) || !isDense(operations)) return []
    const fit = operations.map((operation) => this.#cleared(operation))
    const passed = fit.filter((operation) => operation !== undefined)
    const replies = passed.length > 0 ? await run(passed) : []
    let next = 0
    return fit.map((operation) => (operation ? replies[next++]! : strange()))
  }

  /** The operation, of nothing but its own fields. */
  #cleared(operation: unknown): Operation | undefined {
    if (!isPlain(operation)) return undefined
    const { verb, collection, operations } = operation as Record<string, unknown>
    if (!this.#collections.has(collection)) return undefined
    if (verb === 'atomic') {
      if (!Array.isArray(operations) || !isDense(operations)) return undefined
      // None inside is made of others.
      const inside = operations.map((one) => (isAtomic(one) ? undefined : this.#cleared(one)))
      return inside.includes(undefined) ? undefined : ({ verb, collection, operations: inside } as Operation)
    }
    const cleared: Record<string, unknown> = { verb, collection }
    for (const [field, check] of Object.entries(FIELDS.get(verb) ?? { verb: () => false })) {
      const value = (operation as Record<string, unknown>)[field]
      if (!check(value)) return undefined
      if (value !== undefined) cleared[field] = value
    }
    return cleared as unknown as Operation
  }
}

function isAtomic(operation: unknown): boolean {
  return isPlain(operation) && (operation as { verb: unknown }).verb === 'atomic'
}

/** Whether this describes a store. */
export function isShape(shape: unknown): shape is StoreShape {
  if (!isPlain(shape)) return false
  const { name, collections, durability, patience } = shape as Record<string, unknown>
  return (
    isId(name) &&
    ['relaxed', 'strict'].includes(durability as string) &&
    isNumber(patience) &&
    all(isCollection)(collections)
  )
}

function isCollection(shape: unknown): boolean {
  if (!isPlain(shape)) return false
  const { name, defaultTtl, indexing, indexes } = shape as Record<string, unknown>
  // The store's own object stores have names that begin with `$`.
  if (!isId(name) || (name as string).startsWith('$') || !['consistent', 'none'].includes(indexing as string))
    return false
  return (
    (defaultTtl === null || isTtl(defaultTtl)) &&
    all((index) => isPlain(index) && all(isId)((index as { paths: unknown }).paths))(indexes)
  )
}

export function strange(): Reply {
  const sentence = 'this is no operation of this store. Are the page and the worker of one version of mayfly?'
  return { ok: false, failure: toFailure(fail('invalid', {}, sentence)) }
}
