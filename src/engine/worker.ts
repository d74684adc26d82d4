import type { Endpoint } from 'comlink'
import type { Hello } from '../protocol.js'
import { PROTOCOL } from '../protocol-version.js'
import { serve } from './serve.js'

serve(globalThis as unknown as Endpoint)
greet()

/** Says hello, once it holds a lock for life: the page notices a worker's death by its lock, for no event tells. */
function greet(): void {
  const locks = globalThis.navigator?.locks
  const hello: Hello = { mayfly: 'hello', protocol: PROTOCOL, url: location.href }
  if (!locks) return globalThis.postMessage(hello)
  const alive = `mayfly-alive:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  const forLife = new Promise<never>(() => undefined)
  locks
    .request(alive, () => {
      globalThis.postMessage({ ...hello, alive })
      return forLife
    })
    .catch(() => globalThis.postMessage(hello))
}
