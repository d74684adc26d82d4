import fc from 'fast-check'
import { collection } from 'mayfly'
import type { Former } from 'mayfly'
import { afterEach, expect, inject, test, vi } from 'vitest'
import { newName, open } from './support/stores.js'

interface Note {
  id: string
  text?: string
  runs?: number
}

afterEach(() => vi.restoreAllMocks())

const old = { notes: collection<Note>() }

function young(onCall: (id: string) => void = () => undefined) {
  const migrate = (note: Former): Note => {
    onCall(note.id)
    return { ...(note as Note), runs: ((note as Note).runs ?? 0) + 1 }
  }
  return { notes: collection<Note>({ version: 2, migrate }).index('runs') }
}

/** Makes the commit of every transaction that writes fail, from the one of that number on, as when the power is cut. */
function crashAt(commits: number): () => void {
  let made = 0
  const commit = (transaction: IDBTransaction) => {
    if (transaction.mode !== 'readwrite' || ++made < commits) return
    transaction.abort()
  }
  // Those of a migration are not committed explicitly, so they are seen where their last request is made: the setting's.
  const put = IDBObjectStore.prototype.put
  const spy = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
    this: IDBObjectStore,
    value: unknown,
    key?: IDBValidKey,
  ) {
    const request = put.call(this, value, key)
    if (key === 0) commit(this.transaction)
    return request
  })
  return () => spy.mockRestore()
}

test('each of random documents is migrated exactly once, whatever crashes on the way', async () => {
  const crash = fc.record({
    /** Which call of migrate throws, or which transaction is undone. */
    call: fc.option(fc.integer({ min: 1, max: 700 }), { nil: undefined }),
    transaction: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    /** What an old tab writes before the next attempt. */
    written: fc.array(fc.integer({ min: 0, max: 699 }), { maxLength: 90, size: 'max' }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.stringMatching(/^[a-zA-Zß€0-9]{1,6}$/), { minLength: 1, maxLength: 600, size: 'max' }),
      fc.array(crash, { maxLength: 4 }),
      async (ids, crashes) => {
        const name = newName()
        const elder = open(old, name)
        await elder.notes.upsertMany(ids.map((id) => ({ id, text: id })))
        for (const { call, transaction, written } of crashes) {
          let calls = 0
          const restore = transaction === undefined ? () => undefined : crashAt(transaction)
          const store = open(
            young(() => {
              if (++calls === call) throw new Error('Crashed.')
            }),
            name,
          )
          await store.ready.catch(() => undefined)
          restore()
          await store.close()
          const some = [...new Set(written)].flatMap((at) => ids[at] ?? [])
          await elder.notes.upsertMany(some.map((id) => ({ id, text: id })))
        }
        const calls = new Map<string, number>()
        const store = open(
          young((id) => calls.set(id, (calls.get(id) ?? 0) + 1)),
          name,
        )
        const all = await store.notes.query().get()
        expect(all.map(({ id, text, runs }) => ({ id, text, runs }))).toEqual(
          ids.toSorted((a, b) => (a < b ? -1 : 1)).map((id) => ({ id, text: id, runs: 1 })),
        )
        expect(await store.notes.query({ where: { runs: 1 } }).count()).toBe(ids.length)
        expect([...calls.values()].every((count) => count === 1)).toBe(true)
        await Promise.all([store.close(), elder.close()])
      },
    ),
    { seed: inject('seed'), numRuns: Math.ceil(inject('runs') / 20) },
  )
})

test('a disk that fails in the middle fails the opening, and the next one goes on behind what was written', async () => {
  const name = newName()
  const elder = open(old, name)
  const ids = Array.from({ length: 1000 }, (_, n) => `n${String(n).padStart(5, '0')}`)
  await elder.notes.upsertMany(ids.map((id) => ({ id })))
  const asked: string[] = []
  const restore = crashAt(4)
  const store = open(
    young((id) => asked.push(id)),
    name,
  )
  await expect(store.ready).rejects.toMatchObject({ code: 'failed' })
  restore()
  const before = new Set((await elder.notes.query().get()).filter(({ runs }) => runs === 1).map(({ id }) => id))
  expect(before.size).toBeGreaterThan(0)
  expect(before.size).toBeLessThan(1000)
  asked.length = 0
  expect(await store.notes.query({ where: { runs: 1 } }).count()).toBe(1000)
  expect(asked).toEqual(ids.filter((id) => !before.has(id)))
})
