import type { Endpoint } from 'comlink'
import { serve } from '../../src/engine/serve.js'
import { PROTOCOL } from '../../src/protocol-version.js'

interface Sent {
  path?: string[]
  argumentList?: { value: unknown }[]
}

/** A worker's two ends on one thread, joined by a real channel, so that every message can be seen. */
export class PortWorker extends EventTarget {
  readonly sent: Sent[] = []
  readonly #near: MessagePort
  readonly #far: MessagePort

  constructor({ protocol = PROTOCOL, isSilent = false } = {}) {
    super()
    const { port1, port2 } = new MessageChannel()
    this.#near = port1
    this.#far = port2
    serve(port2 as unknown as Endpoint)
    if (!isSilent) port2.postMessage({ mayfly: 'hello', protocol })
  }

  /** As with a real worker, nothing that was said before somebody listens is lost. */
  override addEventListener(...args: Parameters<EventTarget['addEventListener']>): void {
    super.addEventListener(...args)
    if (args[0] !== 'message') return
    this.#near.onmessage = ({ data }) => this.dispatchEvent(new MessageEvent('message', { data }))
  }

  /** The calls of a method that have crossed. */
  calls(method: string): Sent[] {
    return this.sent.filter(({ path }) => path?.[0] === method)
  }

  postMessage(message: Sent): void {
    this.#near.postMessage(message)
    this.sent.push(message)
  }

  terminate(): void {
    this.#near.close()
    this.#far.close()
  }

  /** Something that no method of the wire is. */
  intrude(message: unknown): void {
    this.#near.postMessage(message)
  }
}
