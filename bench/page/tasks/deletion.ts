import { Chance } from '../chance.js'
import { checkCount, checkThings } from '../check.js'
import type { Contender } from '../contender.js'
import type { Job, Task } from '../job.js'
import { latencies, median, p99, pause } from '../latency.js'
import { timeAndLongest } from '../smoothness.js'
import { time } from '../stopwatch.js'
import { things } from '../thing.js'

export const deletion = {
  /** Not measured: adds documents that have expired to those that live on. */
  expire: async (load, { database, size, stored }) => {
    const contender = await load()
    await contender.open(database, 'keep')
    await contender.putExpired(things(stored, stored + size))
    await checkCount(contender, stored + size)
    await contender.close()
    return {}
  },
  'delete-alone': async (load, job) => {
    const contender = await openKept(load, job)
    const measured = await timeAndLongest(() => contender.sweep())
    await end(contender, job)
    return measured
  },
  'delete-asked': async (load, job) => {
    const contender = await openKept(load, job)
    const ids = new Chance(job.seed).ids(1000, job.stored)
    const ask = async (n: number) => {
      const id = ids[n % ids.length]!
      checkThings([await contender.get(id)], [id])
    }
    const length = job.quiet ?? 0
    // The first questions of a page are slow.
    await latencies(ask, () => pause(length / 4))
    const quiet = await latencies(ask, () => pause(length))
    let ms = 0
    const busy = await latencies(ask, async () => void (ms = await time(() => contender.sweep())))
    await end(contender, job)
    return { ms, median: median(busy), p99: p99(busy), quietMedian: median(quiet), quietP99: p99(quiet) }
  },
} satisfies Record<string, Task>

async function openKept(load: () => Promise<Contender>, { database, stored, size }: Job): Promise<Contender> {
  const contender = await load()
  await contender.open(database, 'keep')
  await checkCount(contender, stored + size)
  return contender
}

async function end(contender: Contender, { stored }: Job): Promise<void> {
  await checkCount(contender, stored)
  await contender.close()
}
