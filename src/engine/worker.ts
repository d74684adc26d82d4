import type { Endpoint } from 'comlink'
import type { Hello } from '../protocol.js'
import { PROTOCOL } from '../protocol-version.js'
import { serve } from './serve.js'

serve(globalThis as unknown as Endpoint)
greet()

/** Says hello, once it holds a lock for life: the page notices a worker's death by its lock, for no event tells. */
function greet(): void {
  const locks = globalThis.navigator?.locks
  if (!locks) return say({ mayfly: 'hello', protocol: PROTOCOL })
  const alive = `mayfly-alive:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  const forLife = new Promise<never>(() => undefined)
  locks
    .request(alive, () => {
      say({ mayfly: 'hello', protocol: PROTOCOL, alive })
      return forLife
    })
    .catch(() => say({ mayfly: 'hello', protocol: PROTOCOL }))
}

function say(hello: Hello): void {
  globalThis.postMessage(hello)
}
