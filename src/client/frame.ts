import { begin, fromText } from './start.js'
import type { Started } from './start.js'

/**
 * Starts a worker inside a fresh, empty frame. When Safari has lost the process that keeps its databases, the page and
 * every worker that it starts are cut off until it is reloaded; a new frame, and what is started in it, are not.
 */
export async function startInFrame(url: string | undefined): Promise<Started> {
  const frame = document.createElement('iframe')
  frame.hidden = true
  document.documentElement.append(frame)
  const end = () => frame.remove()
  try {
    const { Worker: Maker } = frame.contentWindow as unknown as typeof globalThis
    // Of a script that was given as text the address leads nowhere any more.
    const isText = url === undefined || url.startsWith('blob:')
    const start = () => begin(async () => (isText ? fromText(Maker) : new Maker(url, { type: 'module' })))
    return { ...(await start()), end }
  } catch (error) {
    end()
    throw error
  }
}
