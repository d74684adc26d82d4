import { fail } from '../errors.js'
import type { Coming, Hello, Notice, StoreShape } from '../protocol.js'
import { PROTOCOL } from '../protocol-version.js'
import { vigil } from './vigil.js'

/** For how many seconds a worker may keep from saying hello. Another script at its address never will. */
const DEADLINE = 10

export interface Started {
  worker: Worker
  hello: Hello
  /** Clears away what it was started with. */
  end?: () => void
}

/** The way that has worked on this page, so that it is tried first the next time. */
let proven: (() => Promise<Worker>) | undefined

/** Starts a worker: the caller's, or the package's own in whichever way works here. */
export async function startWorker(shape: StoreShape, make?: () => Worker): Promise<Started> {
  if (make) return begin(async () => make(), shape).catch((cause: unknown) => refuse([cause]))
  const reasons: unknown[] = []
  for (const way of new Set([proven ?? fromFile, fromFile, fromText])) {
    try {
      const started = await begin(way, shape)
      proven = way
      return started
    } catch (reason) {
      reasons.push(reason)
    }
  }
  return refuse(reasons)
}

/** Bundlers look for this very expression, and bring the file along. */
async function fromFile(): Promise<Worker> {
  return new Worker(new URL('./mayfly-worker.js', import.meta.url), { type: 'module' })
}

/** Where the file did not come along, or lies at another origin. The text is fetched only then. */
export async function fromText(Maker = Worker): Promise<Worker> {
  const { text } = await import('./worker-text.js')
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
  try {
    return new Maker(url)
  } finally {
    URL.revokeObjectURL(url)
  }
}

/** A worker that is told what it will be asked to open need not wait for that while it says hello. */
export async function begin(way: () => Promise<Worker>, shape?: StoreShape): Promise<Started> {
  const worker = await way()
  if (shape) worker.postMessage({ mayfly: 'coming', protocol: PROTOCOL, shape } satisfies Coming)
  try {
    return { worker, hello: await greeting(worker) }
  } catch (error) {
    worker.terminate()
    throw error
  }
}

async function greeting(worker: Worker): Promise<Hello> {
  let end: (() => void) | undefined
  try {
    return await new Promise((resolve, reject) => {
      end = vigil((seconds) => {
        if (seconds >= DEADLINE) reject(new Error('The worker did not say hello.'))
      })
      worker.addEventListener('error', (event) => {
        // Nobody else need hear of it while there are other ways.
        event.preventDefault()
        reject(new Error(event.message || 'The worker’s script could not be loaded.'))
      })
      worker.addEventListener('message', ({ data }: MessageEvent<Notice | undefined>) => {
        if (data?.mayfly !== 'hello') return
        if (data.protocol === PROTOCOL) resolve(data)
        else reject(new Error('The worker is of another version of mayfly.'))
      })
    })
  } finally {
    end?.()
  }
}

function refuse(reasons: unknown[]): never {
  const told = [...new Set(reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason))))].join(
    ' ',
  )
  const remedy =
    'Serve the package’s mayfly-worker.js and pass worker: () => new Worker(…) with its address; allow it in the content security policy (worker-src); or pass worker: false.'
  throw fail('unavailable', {}, `no worker could be started for the store. ${told} ${remedy}`, reasons[0])
}
