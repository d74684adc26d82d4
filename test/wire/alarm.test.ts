import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Alarm } from '../../src/alarm.js'

const DAY = 24 * 60 * 60 * 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('rings once, at the earliest time that it was set to', () => {
  const rung: number[] = []
  const alarm = new Alarm(() => rung.push(performance.now()))
  const start = performance.now()
  alarm.set(500)
  alarm.set(100)
  alarm.set(300)
  vi.advanceTimersByTime(1000)
  expect(rung.map((at) => at - start)).toEqual([100])
  alarm.set(50)
  alarm.stop()
  vi.advanceTimersByTime(1000)
  expect(rung).toHaveLength(1)
})

test('waits for longer than a timer can', () => {
  const ring = vi.fn()
  new Alarm(ring).set(60 * DAY)
  vi.advanceTimersByTime(60 * DAY - 1)
  expect(ring).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(ring).toHaveBeenCalledOnce()
})
