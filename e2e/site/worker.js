/** The worker's entry for tests: a clock that can be moved, and counters of what is asked of IndexedDB. */
const counts = {}
const clock = { wall: 0, steady: 0 }
const [wall, steady] = [Date.now.bind(Date), performance.now.bind(performance)]
Date.now = () => wall() + clock.wall
performance.now = () => steady() + clock.steady
let failing = 0
let slowness = 0

for (const [type, methods] of [
  [IDBDatabase, ['transaction']],
  [IDBObjectStore, ['get', 'put', 'delete', 'getAllKeys']],
]) {
  for (const method of methods) {
    const real = type.prototype[method]
    type.prototype[method] = function (...args) {
      counts[method] = (counts[method] ?? 0) + 1
      const end = steady() + slowness
      while (method === 'delete' && steady() < end);
      if (method === 'delete' && failing > 0) {
        failing--
        throw new DOMException('Injected', 'UnknownError')
      }
      return real.apply(this, args)
    }
  }
}

const channel = new BroadcastChannel('lab')
channel.onmessage = ({ data: { id, pass = 0, leap = 0, fail = 0, isEndless, isServerLost } }) => {
  if (isServerLost) loseServer()
  while (isEndless);
  // The answers of other workers come by here too.
  if (id === undefined) return
  // Time that passes moves both clocks; one that is set moves the wall's alone.
  clock.wall += (pass + leap) * 1000
  clock.steady += pass * 1000
  failing += fail
  channel.postMessage({ to: id, answer: { ...counts } })
}

/** What a page asks of its own worker alone: that each deletion takes so many milliseconds. */
addEventListener('message', (event) => {
  if (event.data?.slowness === undefined) return
  slowness = event.data.slowness
  event.stopImmediatePropagation()
})

/** As Safari does when its process for databases has died: nothing works any more in this worker. */
function loseServer() {
  IDBFactory.prototype.open = () => {
    throw new DOMException('Connection to Indexed Database server lost. Refresh the page to try again', 'UnknownError')
  }
  IDBDatabase.prototype.transaction = () => {
    throw new DOMException('The database connection is closing.', 'InvalidStateError')
  }
}

await import('/real/mayfly-worker.js')
