import { partsOf, placeOf } from '../operation.js'
import type { CollectionShape, Evicted, Horizon, Operation, SweepSlice } from '../protocol.js'
import { weight } from '../weight.js'
import type { Clock } from './clock.js'
import type { Fullness } from './fullness.js'

/** How many documents are deleted at once to make room for a write. */
const SLICE = 1000

/**
 * So many bytes, and so many times what is to be written, are given up for a write at most: a browser that has not
 * given back the space by then, as Chromium does at its leisure, would not for the rest.
 */
const BYTES = 4_000_000
const TIMES = 8

/** About how many bytes a record takes beside what it was written from. */
const OWN = 32

export interface RoomTools {
  collections: CollectionShape[]
  clock: Clock
  one: (operation: Operation) => Promise<unknown>
}

/** Room for a batch of writes that found the storage full: what has expired goes, then what would soonest. */
export class Room {
  readonly #tools: RoomTools
  readonly #batch: Operation[]
  #isCleaned = false

  constructor(batch: Operation[], tools: RoomTools) {
    this.#batch = batch
    this.#tools = tools
  }

  /** Makes a little more room before each time that it yields: then it is worth while to try again. */
  async *steps(operations: Operation[], face: Fullness): AsyncGenerator<void> {
    // It may have been something else, that has passed.
    if (face === 'likely') yield
    if (await this.#clean()) yield
    const needed = sizeOf(operations)
    let freed = 0
    while (freed < BYTES + TIMES * needed) {
      // By and by in larger strides: each costs another attempt.
      const more = await this.#evict(Math.max(needed, freed / 4))
      if (more === 0) return
      freed += more
      yield
      // One that will never fit must not cost what the others of its batch do not need.
      if (operations.length > 1 && freed >= 2 * needed) return
    }
  }

  /** Deletes what has expired, once; true when that was anything. */
  async #clean(): Promise<boolean> {
    if (this.#isCleaned || this.#tools.clock.probation > 0) return false
    this.#isCleaned = true
    let deleted = 0
    for (const { name, indexing } of this.#tools.collections) {
      if (indexing !== 'none') deleted += await this.#sweep(name)
    }
    return deleted > 0
  }

  async #sweep(collection: string): Promise<number> {
    let deleted = 0
    let from: Horizon | undefined
    try {
      for (;;) {
        const operation: Operation = { verb: 'sweep', collection, limit: SLICE, from, isWhole: true }
        const slice = (await this.#tools.one(operation)) as SweepSlice
        deleted += slice.deleted
        from = slice.reached
        if (!slice.more) return deleted
      }
    } catch {
      // What could be deleted may be enough.
      return deleted
    }
  }

  /** Deletes about so many bytes of what would expire soonest, in whichever collection; gives back how many they were. */
  async #evict(goal: number): Promise<number> {
    const next = new Map<string, number>()
    let freed = 0
    const evict = async (collection: string, until: number) => {
      const operation: Operation = {
        verb: 'evict',
        collection,
        goal: goal - freed,
        until,
        kept: this.#named(collection),
      }
      const evicted = (await this.#tools.one(operation)) as Evicted
      freed += evicted.freed
      if (evicted.next === null) next.delete(collection)
      else next.set(collection, evicted.next)
    }
    try {
      for (const { name, evict: mayEvict } of this.#tools.collections) if (mayEvict) await evict(name, -Infinity)
      while (freed < goal && next.size > 0) {
        const [first, second] = [...next].toSorted(([, one], [, other]) => one - other)
        await evict(first![0], second?.[1] ?? Infinity)
      }
    } catch {
      // What could be deleted may be enough.
    }
    return freed
  }

  /** What the batch writes, or has written, does not make way for the rest of it. */
  #named(collection: string): string[] {
    return this.#batch.flatMap(partsOf).flatMap((operation) => {
      if (operation.collection !== collection) return []
      if ('docs' in operation) return operation.docs.map(({ id }) => id)
      const { id } = placeOf(operation)
      return id === undefined ? [] : [id]
    })
  }
}

/** About how many bytes operations write. */
function sizeOf(operations: Operation[]): number {
  let sum = 1
  for (const operation of operations.flatMap(partsOf)) {
    const docs = 'doc' in operation ? [operation.doc] : 'docs' in operation ? operation.docs : []
    for (const doc of docs) sum += weight(doc) + OWN
    if ('fields' in operation) sum += weight(operation.fields)
  }
  return sum
}
