import { loadContender } from './contenders.js'
import type { Job, Values } from './job.js'
import { tasks } from './tasks.js'

declare global {
  interface Window {
    bench: (job: Job) => Promise<Values>
    /** Where the browser was started with it. */
    gc?: () => void
  }
}

/** Does one task with one contender; the page is closed afterwards. */
window.bench = async (job) => {
  const task = tasks[job.task]
  if (!task) throw new Error(`There is no task ${job.task}.`)
  window.gc?.()
  return task(() => loadContender(job.contender), job)
}
