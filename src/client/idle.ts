/** A page that never rests is not kept from cleaning up for longer than this many milliseconds. */
const AT_MOST = 2000

/** What the browser gives a task that can wait, where it has no idle callbacks. */
const PAUSE = 50

/** Resolves when the page has nothing better to do. */
export function idle(): Promise<void> {
  return isVisible() && typeof requestIdleCallback === 'function' ? untilIdle() : inBackground()
}

/** Nobody looks at a hidden page, and its idle callbacks may not come. */
function isVisible(): boolean {
  return typeof document !== 'undefined' && document.visibilityState === 'visible'
}

function untilIdle(): Promise<void> {
  return new Promise((resolve) => {
    const handle = requestIdleCallback(finish, { timeout: AT_MOST })
    document.addEventListener('visibilitychange', hide)

    function finish() {
      document.removeEventListener('visibilitychange', hide)
      resolve()
    }

    function hide() {
      cancelIdleCallback(handle)
      inBackground().then(finish, finish)
    }
  })
}

async function inBackground(): Promise<void> {
  const { scheduler } = globalThis as {
    scheduler?: { postTask?: (task: () => void, options: object) => Promise<void> }
  }
  if (scheduler?.postTask) await scheduler.postTask(() => undefined, { priority: 'background' })
  else await new Promise((resolve) => setTimeout(resolve, PAUSE))
}
