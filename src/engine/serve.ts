import { expose } from 'comlink'
import type { Endpoint } from 'comlink'
import type { Notice, Operation, Reply, StoreShape, Wire } from '../protocol.js'
import { tear } from '../receipt.js'
import type { Clocks } from './clock.js'
import { cut, pieces } from './cut.js'
import { Engine } from './engine.js'

const METHODS = ['ping', 'open', 'run', 'tidy', 'sweep', 'answer', 'close', 'destroy'] satisfies (keyof Wire)[]

/** Puts an engine at the end of a wire. */
export function serve(endpoint: Endpoint, clocks?: Clocks): void {
  const post = (notice: Notice) => endpoint.postMessage(notice)
  let engine: Engine
  const wire: Wire = {
    ping: async () => undefined,
    open(shape: StoreShape) {
      engine ??= new Engine(shape, (event) => post({ mayfly: 'event', event }), clocks)
      return engine.open()
    },
    async run(call: number, operations: Operation[]): Promise<Reply[]> {
      const replies = await engine.run(operations, (items) => {
        for (const part of pieces(items)) post({ mayfly: 'piece', call, reply: 0, items: part })
      })
      const { ahead, last } = cut(operations.map((operation, at) => tear(operation, replies[at]!)))
      for (const piece of ahead) post({ mayfly: 'piece', call, ...piece } as Notice)
      return last
    },
    tidy: (budget) => engine.tidy(budget),
    sweep: () => engine.sweep(),
    answer: async (call, answer) => engine.answer(call, answer),
    close: () => engine.close(),
    destroy: () => engine.destroy(),
  }
  expose(Object.freeze(Object.assign(Object.create(null) as object, wire)), only(METHODS, endpoint))
}

/** Comlink follows any path into what it exposes, a constructor's included. Only calls of the methods get through here. */
function only(methods: string[], endpoint: Endpoint): Endpoint {
  const isMeant = (data: { type?: unknown; path?: unknown } | undefined) =>
    data?.type === 'APPLY' && Array.isArray(data.path) && data.path.length === 1 && methods.includes(data.path[0])
  return {
    postMessage: (message, transfer) => endpoint.postMessage(message, transfer!),
    addEventListener: (type, listener) =>
      endpoint.addEventListener(type, (event: Event) => {
        if (isMeant((event as MessageEvent).data)) (listener as EventListener)(event)
      }),
    removeEventListener: () => undefined,
    start: () => endpoint.start?.(),
  }
}
