import { quantile } from './stopwatch.js'

/** A question is due every so many milliseconds. */
const EVERY = 5

/**
 * Asks every 5 ms while something is done, whether or not the earlier questions have been answered, and says how long
 * each took from the moment it was due: a page that is kept from asking is late, as a person would find.
 */
export async function latencies(ask: (n: number) => Promise<void>, work: () => Promise<unknown>): Promise<number[]> {
  const answers: Promise<number>[] = []
  const started = performance.now()
  let ended = Infinity
  const answer = async (n: number, due: number) => {
    await ask(n)
    return performance.now() - due
  }
  const asking = async () => {
    for (let n = 0; ;) {
      const due = started + n * EVERY
      // Those that fell due while the page could do nothing are asked, also when that lasted to the end.
      if (due > ended) return
      const wait = due - performance.now()
      if (wait <= 0) answers.push(answer(n++, due))
      else await pause(Math.floor(wait))
    }
  }
  const asked = asking()
  await work()
  ended = performance.now()
  await asked
  return Promise.all(answers)
}

export const median = (waits: number[]): number => quantile(waits, 0.5)
export const p99 = (waits: number[]): number => quantile(waits, 0.99)

/** Unlike nested timers these tasks are not held back to every fourth millisecond. */
export async function pause(ms: number): Promise<void> {
  await scheduler.postTask(() => undefined, { delay: ms })
}
