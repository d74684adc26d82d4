import { vi } from 'vitest'
import { setWorkerClocks } from './workers.js'

/** A moment to start from, in milliseconds. */
export const START = Date.UTC(2030, 0, 1)

/** Stops the clock. Only `Date` is faked: IndexedDB needs the timers. */
export function resetClock(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: START })
  setWorkerClocks(START)
}

/** Moves the clock by seconds, forwards or back. */
export function advance(seconds: number): void {
  const now = Date.now() + Math.round(seconds * 1000)
  vi.setSystemTime(now)
  setWorkerClocks(now)
}
