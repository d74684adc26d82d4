import * as mayfly from '/dist/index.js'

/** What tests find on the page: the package, the workers that it made, and what was sent to them. */
const lab = { ...mayfly, workers: [], sent: 0, received: 0, idleCallbacks: 0, backgroundTasks: 0, indexedDBCalls: 0 }
window.lab = lab

const Real = window.Worker
window.Worker = class extends Real {
  constructor(...args) {
    super(...args)
    lab.workers.push(this)
    this.addEventListener('message', () => lab.received++)
  }

  postMessage(...args) {
    lab.sent++
    super.postMessage(...args)
  }
}

const count = (object, method, counter) => {
  const real = object[method]
  object[method] = function (...args) {
    lab[counter]++
    return real.apply(this, args)
  }
}
count(window, 'requestIdleCallback', 'idleCallbacks')
count(Scheduler.prototype, 'postTask', 'backgroundTasks')
for (const method of ['open', 'deleteDatabase']) count(IDBFactory.prototype, method, 'indexedDBCalls')

/** Asks the engines in all workers of all tabs, through the entry for tests; answers come one a worker. */
lab.askWorkers = (question, workers = 1) =>
  new Promise((resolve) => {
    const channel = new BroadcastChannel('lab')
    const answers = []
    const id = Math.random()
    channel.onmessage = ({ data }) => {
      if (data.to !== id) return
      answers.push(data.answer)
      if (answers.length < workers) return
      channel.close()
      resolve(answers)
    }
    channel.postMessage({ id, ...question })
  })
