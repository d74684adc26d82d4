import { Chance } from '../chance.js'
import { checkCount, checkRange, checkThings, same } from '../check.js'
import type { Contender } from '../contender.js'
import type { Job, Task } from '../job.js'
import { timeAndLongest } from '../smoothness.js'
import { quantile, repeated } from '../stopwatch.js'

/** All is read so often; the first time is not counted. */
const TIMES = 4

export const reading = {
  'get-turn': (load, job) =>
    byId(load, job, async (contender, ids) => {
      if (contender.getsInTurn) return contender.getsInTurn(ids)
      const found = []
      for (const id of ids) found.push(await contender.get(id))
      return found
    }),
  'get-once': (load, job) =>
    byId(load, job, (contender, ids) =>
      contender.getsAtOnce ? contender.getsAtOnce(ids) : Promise.all(ids.map((id) => contender.get(id))),
    ),
  'get-many': (load, job) => byId(load, job, (contender, ids) => contender.getMany(ids)),
  'get-all': async (load, job) => {
    const contender = await openFull(load, job)
    const measured: { ms: number; longest: number }[] = []
    for (let n = 0; n < TIMES; n++) {
      let found: Awaited<ReturnType<Contender['all']>> = []
      measured.push(await timeAndLongest(async () => void (found = await contender.all())))
      checkRange(found, 0, job.stored)
    }
    measured.shift()
    await contender.close()
    return {
      ms: quantile(
        measured.map(({ ms }) => ms),
        0.5,
      ),
      longest: Math.max(...measured.map(({ longest }) => longest)),
    }
  },
  'range-short': range,
  'range-long': range,
  'count-range': (load, job) =>
    inRange(
      load,
      job,
      (contender, from, to) => contender.countRange(from, to),
      (found) => same('the count', found, job.size),
    ),
} satisfies Record<string, Task>

async function byId(
  load: () => Promise<Contender>,
  job: Job,
  work: (contender: Contender, ids: string[]) => ReturnType<Contender['getMany']>,
) {
  const contender = await openFull(load, job)
  const chance = new Chance(job.seed)
  const ms = await repeated(
    job.times,
    () => chance.ids(job.size, job.stored),
    (ids) => work(contender, ids),
    checkThings,
  )
  await contender.close()
  return { ms }
}

async function range(load: () => Promise<Contender>, job: Job) {
  return inRange(load, job, (contender, from, to) => contender.range(from, to), checkRange)
}

async function inRange<R>(
  load: () => Promise<Contender>,
  job: Job,
  work: (contender: Contender, from: number, to: number) => Promise<R>,
  check: (found: R, from: number, to: number) => void,
) {
  const contender = await openFull(load, job)
  const chance = new Chance(job.seed)
  const ms = await repeated(
    job.times,
    () => chance.below(job.stored - job.size + 1),
    (from) => work(contender, from, from + job.size),
    (found, from) => check(found, from, from + job.size),
  )
  await contender.close()
  return { ms }
}

/** A database that is open for certain: some libraries open at the first call. */
async function openFull(load: () => Promise<Contender>, { database, stored }: Job): Promise<Contender> {
  const contender = await load()
  await contender.open(database)
  await checkCount(contender, stored)
  return contender
}
