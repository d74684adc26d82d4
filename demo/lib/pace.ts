/** What takes long is done less often: this many times its duration lies between the end and the next time. */
const REST = 4
/** … and yet not longer, in milliseconds: what is shown would be of the past. */
const REST_AT_MOST = 2000

/** Does `work` at once, and then at most every so many milliseconds, the last time after the last call. */
export function atMost(apart: number, work: () => Promise<unknown> | void): () => void {
  let isBusy = false
  let isWanted = false
  const run = async () => {
    isBusy = true
    while (isWanted) {
      isWanted = false
      const started = performance.now()
      await work()
      const wait = Math.max(apart, Math.min(REST_AT_MOST, REST * (performance.now() - started)))
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
    isBusy = false
  }
  return () => {
    isWanted = true
    if (!isBusy) void run()
  }
}

export const isCalm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

/** Gives the page the chance to show what has changed. */
export const nextFrame = (): Promise<unknown> => new Promise(requestAnimationFrame)
