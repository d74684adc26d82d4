/** What every contender keeps: about 400 bytes. */
export interface Thing {
  id: string
  customer: string
  total: number
  placedAt: Date
  tags: string[]
  text: string
}

/** A thing in a library that leaves expiry to the app. */
export interface Expiring extends Thing {
  expiresAt: number
}

const TEXT = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore. '

export function idOf(n: number): string {
  return `thing-${String(n).padStart(7, '0')}`
}

/** The things from one number up to another; `total` is the number. */
export function things(from: number, to: number): Thing[] {
  return Array.from({ length: to - from }, (_, at) => thing(from + at))
}

export function thing(n: number): Thing {
  return {
    id: idOf(n),
    customer: `customer ${n % 997}`,
    total: n,
    placedAt: new Date(1_700_000_000_000 + n * 1000),
    tags: ['blue', `tag ${n % 13}`],
    text: `${n} ${TEXT.repeat(2)}`,
  }
}

const DAY = 24 * 60 * 60 * 1000

/** Where in time things of an app's own expiry lie. */
export const past = (one: Thing): Expiring => ({ ...one, expiresAt: Date.now() - 1 })
export const future = (one: Thing): Expiring => ({ ...one, expiresAt: Date.now() + DAY })
