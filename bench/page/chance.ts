import { idOf } from './thing.js'

/** Numbers below a limit, the same for everybody with the same seed. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** mulberry32. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  /** So many different ids of the things below a number, in no order. */
  ids(count: number, limit: number): string[] {
    const chosen = new Set<number>()
    while (chosen.size < Math.min(count, limit)) chosen.add(this.below(limit))
    return [...chosen].map(idOf)
  }
}
