import { expose } from 'comlink'
import type { Endpoint } from 'comlink'
import { isDense } from '../dense.js'
import { PROTOCOL } from '../protocol-version.js'
import type { Coming, Document, EngineEvent, Notice, Operation, Reply, StoreShape, Tidied, Wire } from '../protocol.js'
import { tear } from '../receipt.js'
import type { Clocks } from './clock.js'
import { Customs, isShape, strange } from './customs.js'
import { cut, pieces } from './cut.js'
import { Engine } from './engine.js'

const METHODS = ['ping', 'open', 'run', 'tidy', 'sweep', 'answer', 'close', 'destroy'] satisfies (keyof Wire)[]

/** For how many milliseconds at most it deletes when it is asked to. */
const LONGEST = 1000

const NOTHING_TO_DO: Tidied = { deleted: 0, wait: null }

/** Puts an engine at the end of a wire. */
export function serve(endpoint: Endpoint, clocks?: Clocks): void {
  const post = (notice: Notice) => endpoint.postMessage(notice)
  let engine: Engine | undefined
  let customs: Customs | undefined
  let name: string
  /** Before the page has opened the store it does not listen. */
  let untold: EngineEvent[] | undefined = []
  const tell = (event: EngineEvent) => {
    if (untold) untold.push(event)
    else post({ mayfly: 'event', event })
  }
  const open = async (shape: StoreShape) => {
    if (!isShape(shape) || (engine && shape.name !== name)) return strange()
    name = shape.name
    customs ??= new Customs(shape)
    engine ??= new Engine(shape, tell, clocks)
    return engine.open()
  }
  endpoint.addEventListener('message', (event: Event) => {
    const { data } = event as MessageEvent<Partial<Coming> | undefined>
    if (data?.mayfly === 'coming' && data.protocol === PROTOCOL) void open(data.shape!)
  })
  const wire: Wire = {
    ping: async () => undefined,
    open(shape: StoreShape) {
      const events = untold ?? []
      untold = undefined
      for (const event of events) tell(event)
      return open(shape)
    },
    async run(call: number, operations: Operation[]): Promise<Reply[]> {
      const opened = engine
      if (!opened || !customs) return []
      const give = (items: Document[]) => {
        for (const part of pieces(items)) post({ mayfly: 'piece', call, reply: 0, items: part })
      }
      const all = await customs.pass(operations, async (fit) => {
        // Only of one that has come alone it is known that its reply is the first.
        const replies = await opened.run(fit, operations.length === 1 ? give : undefined)
        return fit.map((operation, at) => tear(operation, replies[at]!))
      })
      const { ahead, last } = cut(all)
      for (const piece of ahead) post({ mayfly: 'piece', call, ...piece } as Notice)
      return last
    },
    tidy: async (budget) => (await engine?.tidy(budget > 0 ? Math.min(budget, LONGEST) : 0)) ?? NOTHING_TO_DO,
    sweep: async () => engine?.sweep() ?? strange(),
    answer: async (call, answer) => engine?.answer(call, answer),
    close: async () => engine?.close(),
    destroy: async () => engine?.destroy() ?? strange(),
  }
  expose(Object.freeze(Object.assign(Object.create(null) as object, wire)), only(METHODS, endpoint))
}

/** Comlink follows any path into what it exposes, a constructor's included. Only calls of the methods get through here. */
function only(methods: string[], endpoint: Endpoint): Endpoint {
  const isMeant = (data: { type?: unknown; path?: unknown; argumentList?: unknown } | undefined) =>
    data?.type === 'APPLY' &&
    Array.isArray(data.path) &&
    data.path.length === 1 &&
    methods.includes(data.path[0]) &&
    Array.isArray(data.argumentList) &&
    isDense(data.argumentList) &&
    // The others make something of what they are given.
    data.argumentList.every((argument: { type?: unknown } | null | undefined) => argument?.type === 'RAW')
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
