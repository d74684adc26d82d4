import { nextTask } from './task.js'

/** Has the database in memory work on: browsers make timers that follow each other wait for four milliseconds each. */
export function queueTask(work: () => void): void {
  void nextTask().then(work)
}
