/** What every contender keeps. */
export interface Thing {
  id: string
  customer: string
  total: number
  text: string
}

/** A library, and how one does each task with it. `dead` are to be gone after `tidy`, `alive` are to stay. */
export interface Contender {
  name: string
  open(): Promise<void>
  putMany(things: Thing[]): Promise<unknown>
  put(thing: Thing): Promise<unknown>
  get(id: string): Promise<Thing | undefined>
  count(): Promise<number>
  /** Writes things that expire at once, beside some that do not. */
  prepare(dead: Thing[], alive: Thing[]): Promise<unknown>
  /** Deletes what has expired. */
  tidy(): Promise<unknown>
  clear(): Promise<unknown>
  /** Leaves nothing behind. */
  destroy(): Promise<unknown>
}

/** When something expires, for the libraries that leave that to the app. */
export interface Expiring extends Thing {
  expiresAt: number
}

const HOUR = 60 * 60 * 1000

export const past = (thing: Thing): Expiring => ({ ...thing, expiresAt: Date.now() - 1 })
export const future = (thing: Thing): Expiring => ({ ...thing, expiresAt: Date.now() + HOUR })
