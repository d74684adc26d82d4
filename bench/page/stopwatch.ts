/** Repetitions go on until so many milliseconds have been measured, so that a single hiccup does not count. */
const ENOUGH = 100
const AT_LEAST = 2

/** How long something takes, in milliseconds. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** How long one of many repetitions takes, the median; the first is not counted. What is prepared or checked is not. */
export async function repeated<I, R>(
  prepare: (n: number) => I,
  work: (input: I) => Promise<R>,
  check: (result: R, input: I) => void | Promise<void>,
): Promise<number> {
  const times: number[] = []
  let total = 0
  for (let n = 0; n <= AT_LEAST || total < ENOUGH; n++) {
    const input = prepare(n)
    let result: R | undefined
    const took = await time(async () => void (result = await work(input)))
    await check(result as R, input)
    if (n === 0) continue
    times.push(took)
    total += took
  }
  return quantile(times, 0.5)
}

export function quantile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}
