import type { Thing } from './thing.js'

/** A library, and how its documentation would have one do each task. */
export interface Contender {
  /**
   * Opens, or makes, a database of this name with an index on `total` and, where the app has to, on its expiry.
   * `'keep'`: what has expired stays until `sweep`, where a library would delete it by itself.
   */
  open(name: string, expired?: 'keep'): Promise<void>
  put(thing: Thing): Promise<unknown>
  putMany(things: Thing[]): Promise<unknown>
  get(id: string): Promise<Thing | undefined>
  getMany(ids: string[]): Promise<(Thing | undefined)[]>
  all(): Promise<Thing[]>
  /** How many are on the disk, those that have expired included. */
  count(): Promise<number>
  /** Those with a `total` from one number up to and without another. */
  range(from: number, to: number): Promise<Thing[]>
  countRange(from: number, to: number): Promise<number>
  /** Writes things that have expired when it resolves. */
  putExpired(things: Thing[]): Promise<unknown>
  /** Deletes what has expired. */
  sweep(): Promise<unknown>
  close(): Promise<unknown>
  destroy(): Promise<unknown>
  /** What is done in one transaction where a library would take one for each; the others make single calls. */
  putsInTurn?(things: Thing[]): Promise<unknown>
  putsAtOnce?(things: Thing[]): Promise<unknown>
  getsInTurn?(ids: string[]): Promise<(Thing | undefined)[]>
  getsAtOnce?(ids: string[]): Promise<(Thing | undefined)[]>
}
