import { Chance } from '../chance.js'
import { checkThings } from '../check.js'
import type { Contender } from '../contender.js'
import type { Job, Task } from '../job.js'
import { time } from '../stopwatch.js'

/** Only the first time is the first time: the runner asks several pages. */
export const opening = {
  'open-loaded': async (load, job) => {
    const contender = await load()
    return firstRead(async () => contender, job)
  },
  'open-fresh': firstRead,
} satisfies Record<string, Task>

async function firstRead(load: () => Promise<Contender>, { database, seed, stored }: Job) {
  const [id] = new Chance(seed).ids(1, stored) as [string]
  const ms = await time(async () => {
    const contender = await load()
    await contender.open(database)
    checkThings([await contender.get(id)], [id])
  })
  return { ms }
}
