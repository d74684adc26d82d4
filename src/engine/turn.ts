/** A tab that holds up the others without coming any further for so many milliseconds may be frozen. */
const FROZEN = 5000

/** Says that another tab has taken over. */
export class Overtaken extends Error {}

/**
 * Lets one tab at a time do something, while the others wait for it, where the browser has locks. A tab that is frozen
 * is overtaken: `place` says how far the work has come, whoever does it, and is undefined when it is done.
 */
export async function inTurn(
  name: string,
  work: (isMine: () => boolean) => Promise<void>,
  place: () => Promise<string | undefined>,
): Promise<void> {
  const locks = globalThis.navigator?.locks
  if (!locks) return work(() => true)
  let known: string | undefined
  let isFrozen = false
  for (;;) {
    let working: Promise<void> | undefined
    let isMine = true
    try {
      const options = isFrozen ? { steal: true } : { signal: AbortSignal.timeout(FROZEN) }
      await locks.request(name, options, () => (working = work(() => isMine)))
      return
    } catch (error) {
      if (working) {
        // Either the work has failed, or the lock was taken away from it.
        isMine = false
        await working.catch((reason: unknown) => {
          if (!(reason instanceof Overtaken)) throw reason
        })
      } else if ((error as Error).name !== 'TimeoutError') {
        // Locks are forbidden here.
        return work(() => true)
      }
    }
    const now = await place()
    if (now === undefined) return
    isFrozen = now === known
    known = now
  }
}
