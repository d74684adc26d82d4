import { fail } from '../errors.js'
import type { CollectionShape } from '../protocol.js'
import type { Clock } from './clock.js'
import { begin } from './closing.js'
import { bury } from './attendance.js'
import { NEEDS_INDEX } from './layout.js'
import { change } from './life.js'
import { committed, within } from './request.js'
import { Shelf } from './shelf.js'
import { clearStage, isAbandoned } from './staging.js'

/**
 * Applies what the code declares where it differs from what the code declared last time. Otherwise
 * a setting made at run time stays. Gives back the collections that it was applied to.
 */
export async function applyDeclared(
  database: IDBDatabase,
  shapes: CollectionShape[],
  clock: Clock,
  see: (shelf: Shelf) => void,
): Promise<Shelf[]> {
  const differing: CollectionShape[] = []
  await visit(database, shapes, clock, 'readonly', (shelf) => {
    const { setting, shape } = shelf
    see(shelf)
    if (shape.indexing === 'none' && setting.defaultTtl !== null) {
      throw fail('invalid', { collection: shape.name }, NEEDS_INDEX)
    }
    if (setting.declared !== shape.defaultTtl || isAbandoned(shelf)) differing.push(shape)
  })
  return visit(database, differing, clock, 'readwrite', (shelf) => {
    const { defaultTtl } = shelf.shape
    if (isAbandoned(shelf)) clearStage(shelf)
    // Another tab may have been quicker.
    if (shelf.setting.declared === defaultTtl) return
    shelf.alter({ ...change(shelf.setting, defaultTtl, shelf.now), declared: defaultTtl })
    shelf.shake()
    return shelf.isFollowed ? bury(shelf) : undefined
  })
}

/** Stores up to when readers have been told that documents are gone. */
export async function remember(database: IDBDatabase, told: Shelf[], clock: Clock): Promise<void> {
  const marks = new Map(told.map(({ shape, setting }) => [shape.name, setting.mark]))
  const shapes = told.map(({ shape }) => shape)
  await visit(database, shapes, clock, 'readwrite', (shelf) => {
    const mark = marks.get(shelf.shape.name)!
    if (mark > shelf.setting.mark) shelf.alter({ ...shelf.setting, mark })
  })
}

async function visit(
  database: IDBDatabase,
  shapes: CollectionShape[],
  clock: Clock,
  mode: 'readonly' | 'readwrite',
  see: (shelf: Shelf) => Promise<void> | void,
): Promise<Shelf[]> {
  if (shapes.length === 0) return []
  const transaction = begin(
    database,
    shapes.map((shape) => shape.name),
    mode,
  )
  const done = committed(transaction)
  const visits = shapes.map(async (shape) => {
    const shelf = new Shelf(shape, transaction.objectStore(shape.name), clock)
    await shelf.load()
    shelf.tick()
    await see(shelf)
    shelf.settle()
    return shelf
  })
  const shelves = await within(done, Promise.all(visits))
  if (mode === 'readwrite') await done
  return shelves
}
