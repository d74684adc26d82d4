import { time } from './stopwatch.js'

/** A timer of a page comes at most so often, in milliseconds. */
const TICK = 4

/** How long something takes, and the longest time for which the page could do nothing else meanwhile. */
export async function timeAndLongest(work: () => Promise<unknown>): Promise<{ ms: number; longest: number }> {
  let longest = 0
  let last = performance.now()
  const tick = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last - TICK)
    last = now
  }
  // The browser's own list of long tasks has those above 50 ms only; a timer that comes late shows the shorter ones.
  const timer = setInterval(tick, TICK)
  const observer = new PerformanceObserver(() => undefined)
  observer.observe({ type: 'longtask' })
  const started = performance.now()
  const ms = await time(work)
  await new Promise((resolve) => setTimeout(resolve, TICK))
  tick()
  clearInterval(timer)
  // The entry of a task is made after it.
  await new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve)))
  const tasks = observer.takeRecords().filter(({ startTime }) => startTime >= started - 1)
  observer.disconnect()
  return { ms, longest: Math.max(longest, ...tasks.map(({ duration }) => duration)) }
}
