/** A worker's entry for tests: it installs a clock that the page can move, then loads the real worker. */
let now = Date.now()
Date.now = () => now

addEventListener('message', (event: MessageEvent<{ clock?: number }>) => {
  if (event.data.clock === undefined) return
  now = event.data.clock
  event.stopImmediatePropagation()
})

await import(/* @vite-ignore */ decodeURIComponent(location.hash.slice(1)))

export {}
