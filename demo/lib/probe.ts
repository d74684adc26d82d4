import { tell } from './news.js'

const SWEEP = 'mayfly-sweep:'
const now = () => performance.timeOrigin + performance.now()

type Request = (name: string, options: LockOptions, callback: LockGrantedCallback<unknown>) => Promise<unknown>
type Rest = [LockGrantedCallback<unknown>] | [LockOptions, LockGrantedCallback<unknown>]

/**
 * Of all open tabs one deletes at a time, under a Web Lock that its worker holds for one idle slice. This notes when
 * the worker gets that lock and gives it back, and changes nothing: so the page can show every slice, and whose it was.
 */
export function watchSlices(): void {
  const { locks } = navigator
  if (!locks) return
  const request = locks.request.bind(locks) as Request
  locks.request = ((name: string, ...rest: Rest) => {
    const callback = rest.at(-1) as LockGrantedCallback<unknown>
    const options = rest.length > 1 ? (rest[0] as LockOptions) : {}
    // With a signal it merely waits, to see whether another tab is frozen.
    const isSlice = name.startsWith(SWEEP) && !options.signal
    return request(name, options, isSlice ? watched(callback) : callback)
  }) as LockManager['request']
}

function watched(callback: LockGrantedCallback<unknown>): LockGrantedCallback<unknown> {
  return async (lock) => {
    const from = now()
    try {
      return await callback(lock)
    } finally {
      if (lock) tell({ type: 'slice', tab: self.name.slice(-1), from, to: now() })
    }
  }
}
