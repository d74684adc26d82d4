import type { Contender } from './contender.js'
import { dexie } from './dexie.js'
import { forage } from './forage.js'
import { keyval } from './keyval.js'
import { mayfly } from './mayfly.js'
import { TASKS } from './tasks.js'
import type { Task } from './tasks.js'

const ROUNDS = 3

export interface Result {
  title: string
  /** Milliseconds by the contender's name, mayfly's first. */
  times: [name: string, ms: number][]
}

const CONTENDERS: Contender[] = [mayfly, dexie, keyval, forage]

/** Every contender does every task, in turn and in an empty database. Yields what is going on, and each result. */
export async function* race(): AsyncGenerator<string | Result, void> {
  try {
    await Promise.all(CONTENDERS.map((contender) => contender.open()))
    for (const task of TASKS) yield* compare(task)
  } finally {
    await Promise.all(CONTENDERS.map((contender) => contender.destroy()))
  }
}

async function* compare(task: Task): AsyncGenerator<string | Result, void> {
  const { title } = task
  const times = new Map<string, number[]>(CONTENDERS.map(({ name }) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    yield `${title}: round ${round + 1} of ${ROUNDS} …`
    // Nobody is always the first.
    for (let n = 0; n < CONTENDERS.length; n++) {
      const contender = CONTENDERS[(n + round) % CONTENDERS.length]!
      await contender.clear()
      times.get(contender.name)!.push(await task.run(contender))
    }
  }
  yield { title, times: [...times].map(([name, all]) => [name, middle(all)]) }
}

function middle(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}
