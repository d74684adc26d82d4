import { fail } from '../errors.js'
import type { StoreShape } from '../protocol.js'

/** Where nothing says that somebody is in the way, somebody else's change may just take its time. */
const LENIENCE = 6

/** Something that other tabs can hold up: the opening of the database, or its deletion. */
export interface Undertaking<T> {
  done: Promise<T>
  /** Resolves when another tab is known to be in the way. */
  blocked: Promise<void>
  /** Whether the work itself has begun, however long it takes. */
  begun: boolean
}

/** A notice that somebody can be waited for to give. */
export function notice(): { given: Promise<void>; give: () => void } {
  let give!: () => void
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give }
}

/** Waits, but not for ever unless that is asked: every call must settle. The undertaking itself goes on. */
export async function patiently<T>({ name, patience }: StoreShape, undertaking: Undertaking<T>): Promise<T> {
  if (patience === Infinity) return undertaking.done
  let timer: ReturnType<typeof setTimeout> | undefined
  let settled = false
  try {
    return await new Promise<T>((resolve, reject) => {
      const giveUpAfter = (seconds: number) => {
        clearTimeout(timer)
        if (settled) return
        timer = setTimeout(() => {
          if (undertaking.begun) return
          const remedy = 'Close the other tabs of this app and try again, or give openStore() more patience.'
          reject(fail('blocked', {}, `another tab keeps the store “${name}” open and does not let go. ${remedy}`))
        }, seconds * 1000)
      }
      giveUpAfter(patience * LENIENCE)
      void undertaking.blocked.then(() => giveUpAfter(patience))
      undertaking.done.then(resolve, reject)
    })
  } finally {
    settled = true
    clearTimeout(timer)
  }
}
