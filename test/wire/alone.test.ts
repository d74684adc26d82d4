import { afterEach, expect, test, vi } from 'vitest'
import { Alone } from '../../src/engine/alone.js'

afterEach(() => {
  vi.unstubAllGlobals()
})

interface Options {
  ifAvailable?: boolean
  steal?: boolean
  signal?: AbortSignal
}

/** Locks of a browser in which somebody else holds the one that is asked for. */
function heldLocks() {
  const asked: Options[] = []
  const request = async (_: string, options: Options, work: (lock: object | null) => Promise<unknown>) => {
    asked.push(options)
    // Whoever waits in the line waits in vain.
    if (options.signal) return new Promise((_, reject) => options.signal!.addEventListener('abort', reject))
    return work(options.steal ? {} : null)
  }
  vi.stubGlobal('navigator', { locks: { request } })
  return asked
}

test('without locks it simply works', async () => {
  vi.stubGlobal('navigator', undefined)
  expect(await new Alone('x').run(async () => 5)).toBe(5)
})

test('it does not wait for another tab, but does not let a frozen one starve it either', async () => {
  const asked = heldLocks()
  const alone = new Alone('x')
  const answers = []
  for (let n = 0; n < 10; n++) answers.push(await alone.run(async () => 5))
  expect(answers).toEqual([...Array.from({ length: 8 }, () => undefined), 5, undefined])
  expect(asked.slice(8).map((options) => Object.keys(options))).toEqual([['signal'], ['steal'], ['ifAvailable']])
})

test('it takes the lock from nobody who lets go in time', async () => {
  const asked: Options[] = []
  const request = async (_: string, options: Options, work: (lock: object | null) => Promise<unknown>) => {
    asked.push(options)
    return work(options.ifAvailable ? null : {})
  }
  vi.stubGlobal('navigator', { locks: { request } })
  const alone = new Alone('x')
  for (let n = 0; n < 12; n++) await alone.run(async () => 5)
  expect(asked.some(({ steal }) => steal)).toBe(false)
})

test('a lock that is taken away in the middle leaves what was done; where locks are forbidden it works without', async () => {
  const failing = (name: string) => ({
    locks: {
      request: async (_: string, __: Options, work: (lock: object) => Promise<unknown>) => {
        if (name === 'AbortError') await work({})
        throw new DOMException('no', name)
      },
    },
  })
  vi.stubGlobal('navigator', failing('AbortError'))
  expect(await new Alone('x').run(async () => 5)).toBe(5)
  vi.stubGlobal('navigator', failing('SecurityError'))
  expect(await new Alone('x').run(async () => 6)).toBe(6)
})
