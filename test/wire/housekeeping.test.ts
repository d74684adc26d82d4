import { afterEach, expect, test, vi } from 'vitest'
import { Housekeeping } from '../../src/client/housekeeping.js'
import { watchPresence } from '../../src/client/presence.js'
import type { Tidied } from '../../src/protocol.js'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const quiet: Tidied = { deleted: 0, wait: null }

/** An engine that answers what the test says, and the moments at which it was asked. */
function engine(...answers: (Tidied | Error)[]) {
  const asked: number[] = []
  const tidy = async () => {
    asked.push(performance.now())
    const answer = answers.shift() ?? quiet
    if (answer instanceof Error) throw answer
    return answer
  }
  return { tidy, asked }
}

test('it asks while there is more, then sleeps until it is woken', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const link = engine({ deleted: 5, wait: 0 }, { deleted: 1, wait: 5000 })
  const house = new Housekeeping(link)
  house.wake(0)
  await vi.advanceTimersByTimeAsync(1000)
  expect(link.asked).toHaveLength(0)
  house.start()
  await vi.advanceTimersByTimeAsync(1000)
  expect(link.asked).toHaveLength(0)
  house.wake(0)
  await vi.advanceTimersByTimeAsync(1000)
  expect(link.asked).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(5000)
  expect(link.asked).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(link.asked).toHaveLength(3)
  house.wake(100)
  await vi.advanceTimersByTimeAsync(200)
  expect(link.asked).toHaveLength(4)
  house.stop()
  house.wake(0)
  await vi.advanceTimersByTimeAsync(1000)
  expect(link.asked).toHaveLength(4)
})

test('a round that fails is not the last: it tries again, less and less often', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const link = engine(...Array.from({ length: 9 }, () => new Error('no')))
  const house = new Housekeeping(link)
  house.start()
  house.wake(0)
  await vi.advanceTimersByTimeAsync(600_000)
  const pauses = link.asked.slice(1).map((at, n) => Math.round((at - link.asked[n]!) / 1000))
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
})

test('on a page it waits for an idle callback, in one that is hidden for a background task', async () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  const idle: (() => void)[] = []
  const tasks: object[] = []
  vi.stubGlobal('document', page)
  vi.stubGlobal('requestIdleCallback', (callback: () => void) => idle.push(callback))
  vi.stubGlobal('cancelIdleCallback', () => idle.splice(0))
  vi.stubGlobal('scheduler', {
    postTask: async (task: () => void, options: object) => {
      tasks.push(options)
      task()
    },
  })
  const link = engine()
  const house = new Housekeeping(link)
  house.start()
  house.wake(0)
  await expect.poll(() => idle.length).toBe(1)
  expect(link.asked).toHaveLength(0)
  idle.pop()!()
  await expect.poll(() => link.asked.length).toBe(1)

  // Hidden while it waits, the idle callback may never come.
  house.wake(0)
  await expect.poll(() => idle.length).toBe(1)
  page.visibilityState = 'hidden'
  page.dispatchEvent(new Event('visibilitychange'))
  await expect.poll(() => link.asked.length).toBe(2)
  house.wake(0)
  await expect.poll(() => link.asked.length).toBe(3)
  expect([idle.length, tasks]).toEqual([0, [{ priority: 'background' }, { priority: 'background' }]])
})

test('a page that is put to sleep, and one that wakes, are told of; one that ends is not', () => {
  const [page, frame] = [new EventTarget(), new EventTarget()]
  vi.stubGlobal('document', page)
  vi.stubGlobal('addEventListener', frame.addEventListener.bind(frame))
  const told: string[] = []
  const stop = watchPresence(
    () => told.push('sleep'),
    () => told.push('wake'),
  )
  const pass = (type: string, persisted: boolean) => frame.dispatchEvent(Object.assign(new Event(type), { persisted }))
  pass('pageshow', false)
  pass('pagehide', true)
  pass('pageshow', true)
  page.dispatchEvent(new Event('freeze'))
  page.dispatchEvent(new Event('resume'))
  pass('pagehide', false)
  stop()
  pass('pagehide', true)
  expect(told).toEqual(['sleep', 'wake', 'sleep', 'wake'])
})
