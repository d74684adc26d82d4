import { collection, openStore } from 'mayfly'
import type { Former, Store } from 'mayfly'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { inTurn, Overtaken } from '../../src/engine/turn.js'
import { PortWorker } from '../support/port-worker.js'
import { settled } from '../support/settled.js'
import { newName } from '../support/stores.js'

interface Note {
  id: string
  runs?: number
  text?: string
}

const opened: Store<object>[] = []

afterEach(async () => {
  vi.unstubAllGlobals()
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

const old = { notes: collection<Note>() }

function young(onCall: (id: string) => void) {
  const migrate = (note: Former): Note => {
    onCall(note.id)
    return { ...(note as Note), runs: ((note as Note).runs ?? 0) + 1 }
  }
  return { notes: collection<Note>({ version: 2, migrate }) }
}

function open<S extends typeof old>(schema: S, name: string, workers = [new PortWorker()]) {
  const rest = [...workers]
  const store = openStore(name, schema as never, {
    worker: () => rest.shift() as unknown as Worker,
    sweep: 'manual',
  }) as unknown as Store<S>
  opened.push(store as Store<object>)
  return { store, workers }
}

async function filled(count: number): Promise<string> {
  const name = newName()
  const { store } = open(old, name)
  await store.notes.upsertMany(Array.from({ length: count }, (_, n) => ({ id: `n${String(n).padStart(5, '0')}` })))
  await store.close()
  return name
}

describe('over a wire', () => {
  test('documents come to the page and go back; the function stays there', async () => {
    const name = await filled(450)
    const asked: string[] = []
    const { store, workers } = open(
      young((id) => asked.push(id)),
      name,
    )
    expect(await store.notes.query({ where: { runs: 1 } }).count()).toBe(450)
    expect(asked).toHaveLength(450)
    expect(workers[0]!.calls('answer').length).toBeGreaterThan(1)
    expect(workers[0]!.calls('open')).toHaveLength(1)
  })

  test('an engine that is gone in the middle leaves what it has done to another, which does the rest', async () => {
    const name = await filled(1000)
    const asked: string[] = []
    const dying = new PortWorker()
    const { store: first } = open(
      young((id) => asked.push(id)),
      name,
      [dying],
    )
    first.ready.catch(() => undefined)
    await settled(() => expect(dying.calls('answer').length).toBeGreaterThan(1))
    // It never hears the answers to its questions, nor anything else.
    dying.terminate()
    const { store: second } = open(
      young((id) => asked.push(id)),
      name,
    )
    expect(await second.notes.query({ where: { runs: 1 } }).count()).toBe(1000)
    // What was under way when it died was not written, and came to the function again.
    expect(asked.length).toBeLessThan(1600)
    opened.splice(opened.indexOf(first as Store<object>), 1)
  })

  test('what an old tab writes while its document is on the page is not lost: it comes once more', async () => {
    const name = await filled(50)
    const elder = openStore(name, old, { worker: false, sweep: 'manual' })
    opened.push(elder as Store<object>)
    await elder.notes.get('n00000')
    const asked: string[] = []
    const writing: Promise<unknown>[] = []
    const { store } = open(
      young((id) => {
        asked.push(id)
        // The answer has a channel to cross, which this is ahead of.
        if (asked.length === 20) {
          writing.push(elder.notes.upsert({ id: 'n00010', text: 'later' }), elder.notes.create({ id: 'n00010a' }))
        }
      }),
      name,
    )
    const all = await store.notes.query().get()
    await Promise.all(writing)
    expect(await store.notes.get('n00010')).toMatchObject({ text: 'later', runs: 1 })
    expect(all.filter(({ runs }) => runs !== 1)).toEqual([])
    expect((await store.notes.query().get()).map(({ runs }) => runs)).toEqual(Array.from({ length: 51 }, () => 1))
    expect(asked.filter((id) => id === 'n00010')).toHaveLength(2)
  })

  test('a store that is closed in the middle stops there', async () => {
    const name = await filled(1000)
    const asked: string[] = []
    let closing: Promise<void> | undefined
    const { store } = open(
      young((id) => {
        asked.push(id)
        closing ??= store.close()
      }),
      name,
    )
    store.ready.catch(() => undefined)
    await settled(() => expect(closing).toBeDefined())
    await closing
    expect(asked.length).toBeLessThan(1000)
    const { store: next } = open(
      young((id) => asked.push(id)),
      name,
    )
    expect(await next.notes.query({ where: { runs: 1 } }).count()).toBe(1000)
  })
})

interface Options {
  steal?: boolean
  signal?: AbortSignal
}

/** The locks of a browser, of which one is held by whoever took it last. */
function locks() {
  const asked: string[] = []
  let holder: { overtaken: (error: Error) => void } | undefined
  const waiting: (() => void)[] = []
  const request = (_: string, options: Options, work: () => Promise<unknown>) =>
    new Promise((resolve, reject) => {
      asked.push(...Object.keys(options))
      const begin = () => {
        const self = { overtaken: reject }
        holder = self
        void work()
          .then(resolve, reject)
          .finally(() => {
            if (holder !== self) return
            holder = undefined
            waiting.shift()?.()
          })
      }
      if (options.steal) {
        holder?.overtaken(new DOMException('stolen', 'AbortError'))
        begin()
      } else if (holder) {
        waiting.push(begin)
        options.signal!.addEventListener('abort', () => {
          const at = waiting.indexOf(begin)
          if (at === -1) return
          waiting.splice(at, 1)
          reject(options.signal!.reason as Error)
        })
      } else begin()
    })
  vi.stubGlobal('navigator', { locks: { request } })
  return asked
}

/** Time that passes as soon as somebody waits for it. */
function fastTimeouts() {
  vi.stubGlobal('AbortSignal', {
    timeout() {
      const controller = new AbortController()
      setTimeout(() => controller.abort(new DOMException('late', 'TimeoutError')))
      return controller.signal
    },
  })
}

describe('one tab at a time', () => {
  test('does the work while the others wait, however long, as long as it comes further', async () => {
    const asked = locks()
    fastTimeouts()
    const order: string[] = []
    let place = 0
    let finish!: () => void
    const long = new Promise<void>((resolve) => (finish = resolve))
    const at = async () => {
      // Other looks of the waiting tab find that it has come further.
      if (++place === 5) finish()
      return String(place)
    }
    const one = inTurn(
      'x',
      async () => {
        await long
        order.push('one')
      },
      at,
    )
    const two = inTurn('x', async () => void order.push('two'), at)
    await Promise.all([one, two])
    expect(order).toEqual(['one', 'two'])
    expect(asked).not.toContain('steal')
  })

  test('is overtaken when it is frozen, stops when it wakes, and waits then', async () => {
    const asked = locks()
    fastTimeouts()
    const order: string[] = []
    let wake!: () => void
    const frozen = new Promise<void>((resolve) => (wake = resolve))
    let isDone = false
    const at = async () => (isDone ? undefined : 'here')
    const one = inTurn(
      'x',
      async (isMine) => {
        await frozen
        order.push(`one wakes: ${isMine()}`)
        if (!isMine()) throw new Overtaken()
      },
      at,
    )
    await inTurn(
      'x',
      async () => {
        order.push('two')
        isDone = true
      },
      at,
    )
    wake()
    await one
    expect(order).toEqual(['two', 'one wakes: false'])
    expect(asked.filter((option) => option === 'steal')).toHaveLength(1)
  })

  test('what fails in its turn fails, and is not tried again', async () => {
    locks()
    let runs = 0
    const work = async () => {
      runs++
      throw new DOMException('no more', 'AbortError')
    }
    await expect(inTurn('x', work, async () => 'here')).rejects.toThrow('no more')
    expect(runs).toBe(1)
  })

  test('where locks are missing or forbidden, it works without', async () => {
    vi.stubGlobal('navigator', undefined)
    let runs = 0
    const work = async () => void runs++
    await inTurn('x', work, async () => 'here')
    const request = async () => {
      throw new DOMException('no', 'SecurityError')
    }
    vi.stubGlobal('navigator', { locks: { request } })
    await inTurn('x', work, async () => 'here')
    expect(runs).toBe(2)
  })
})
