import { afterEach, expect, test, vi } from 'vitest'
import { Alone } from '../../src/engine/alone.js'

afterEach(() => {
  vi.unstubAllGlobals()
})

interface Options {
  ifAvailable?: boolean
  steal?: boolean
}

/** Locks of a browser in which somebody else holds the one that is asked for. */
function heldLocks() {
  const asked: Options[] = []
  const request = async (_: string, options: Options, work: (lock: object | null) => Promise<unknown>) => {
    asked.push(options)
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
  expect(asked[8]).toEqual({ steal: true })
  expect(asked[9]).toEqual({ ifAvailable: true })
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
