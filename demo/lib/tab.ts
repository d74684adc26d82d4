/** The tabs of this page have letters. A tab holds its letter by a lock, which goes with the tab. */
const PREFIX = 'mayfly-demo-tab '
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')

export interface Tab {
  letter: string
}

export const tab: Tab = { letter: await take() }

/** The letters of all open tabs. */
export async function tabs(): Promise<string[]> {
  // Where data are forbidden, so are locks.
  const { held = [] } = (await navigator.locks?.query().catch(() => undefined)) ?? {}
  const letters = held.flatMap(({ name }) => (name?.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []))
  return letters.length > 0 ? letters.toSorted() : [tab.letter]
}

async function take(): Promise<string> {
  for (const letter of navigator.locks ? LETTERS : []) if (await hold(letter)) return letter
  return '?'
}

function hold(letter: string): Promise<boolean> {
  return new Promise((resolve) => {
    navigator.locks
      .request(PREFIX + letter, { ifAvailable: true }, (lock) => {
        resolve(lock !== null)
        return lock ? new Promise<never>(() => undefined) : undefined
      })
      .catch(() => resolve(false))
  })
}
