import type { Listen, Reply, StoreShape } from '../protocol.js'
import { Engine } from './engine.js'

/** The memory is this page's own: what other tabs tell each other of a store of the same name means others. */
const PAGE = crypto.getRandomValues(new Uint32Array(4)).join('-')

/** The engine over a database in memory: the build puts one in the place of the browser's, here and in what this needs. */
export class MemoryEngine extends Engine {
  constructor(shape: StoreShape, listen: Listen) {
    const name = `${shape.name} (in memory, ${PAGE})`
    super({ ...shape, name }, (event) => listen('generation' in event ? { ...event, isInMemory: true } : event))
  }

  override async open(): Promise<Reply> {
    const reply = await super.open()
    return reply.ok ? { ok: true, value: 'memory' } : reply
  }
}
