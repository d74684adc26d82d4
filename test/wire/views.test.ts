import { expect, test, vi } from 'vitest'
import { newSetting } from '../../src/engine/life.js'
import type { DocumentRecord } from '../../src/engine/life.js'
import type { Seen } from '../../src/engine/listen.js'
import { Views } from '../../src/engine/views.js'
import type { Operation, Reply } from '../../src/protocol.js'

const setting = newSetting(-1)

function seen(id: string, expiresAt: number): Seen {
  const record: DocumentRecord = { doc: { id, _ts: 0, _etag: id }, expiresAt }
  const edge = { expiresAt: 0, inheritsFrom: 0 }
  return { entry: 0, setting, edge, entries: [], isGap: false, next: null, rows: [{ id, value: id, record }] }
}

test('T23: what expires while other results are being found is not told later than those', async () => {
  // No timer ever rings: what waits for one to spare the machine is never told.
  const timers = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(0 as never)
  const asked: { operations: Operation[]; answer: (replies: Reply[]) => void }[] = []
  const views = new Views('items', {
    steady: () => 0,
    perform: (operations) => new Promise((answer) => asked.push({ operations, answer })),
    send: () => undefined,
    found: () => true,
    told: () => undefined,
  })
  views.add(1, { limit: 1 }, seen('a', 10))
  views.add(2, { limit: 1 }, seen('b', 20))
  const answer = (at: number, id: string) => asked[at]!.answer([{ ok: true, value: seen(id, 1000) }])
  views.expire({ expiresAt: 10, inheritsFrom: 0 })
  views.expire({ expiresAt: 20, inheritsFrom: 0 })
  answer(0, 'c')
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  timers.mockRestore()
  expect(asked.map(({ operations }) => operations.map((operation) => 'key' in operation && operation.key))).toEqual([
    [1],
    [2],
  ])
})
