import { Chance } from '../chance.js'
import { checkRange, checkThings } from '../check.js'
import type { Task } from '../job.js'
import { repeated } from '../stopwatch.js'
import { deletion } from './deletion.js'

/** Every contender is compared to itself in a smaller database: each call is made as an app makes it. */
export const growth = {
  'growth-get': async (load, job) => {
    const { database, seed, size, stored } = job
    const contender = await load()
    await contender.open(database)
    const chance = new Chance(seed)
    const ms = await repeated(
      job.times,
      () => chance.ids(size, stored),
      async (ids) => {
        const found = []
        for (const id of ids) found.push(await contender.get(id))
        return found
      },
      checkThings,
    )
    await contender.close()
    return { ms }
  },
  'growth-query': async (load, job) => {
    const { database, seed, size, stored } = job
    const contender = await load()
    await contender.open(database)
    const chance = new Chance(seed)
    const ms = await repeated(
      job.times,
      () => chance.below(stored - size + 1),
      (from) => contender.range(from, from + size),
      (found, from) => checkRange(found, from, from + size),
    )
    await contender.close()
    return { ms }
  },
  'growth-delete': deletion['delete-alone'],
} satisfies Record<string, Task>
