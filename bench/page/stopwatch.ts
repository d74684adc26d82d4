/** Repetitions go on until so many milliseconds have been measured, so that a single hiccup does not count. */
const ENOUGH = 100

/** For so long, and once at least, nothing is measured: what a page has just begun is slow. */
const WARM = 50

/** How long something takes, in milliseconds. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/**
 * How long one of many repetitions takes, the median; what is prepared or checked is not counted. There is a least
 * number of them, or a slow moment would be all that is measured of what is short.
 */
export async function repeated<I, R>(
  times: number,
  prepare: (n: number) => I,
  work: (input: I) => Promise<R>,
  check: (result: R, input: I) => void | Promise<void>,
): Promise<number> {
  let n = 0
  const once = async () => {
    const input = prepare(n++)
    let result: R | undefined
    const took = await time(async () => void (result = await work(input)))
    await check(result as R, input)
    return took
  }
  let warm = 0
  while (warm < WARM) warm += await once()
  const measured: number[] = []
  let total = 0
  while (measured.length < times || total < ENOUGH) {
    const took = await once()
    measured.push(took)
    total += took
  }
  return quantile(measured, 0.5)
}

export function quantile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}
