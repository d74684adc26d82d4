import { Chance } from '../chance.js'
import { checkCount, checkThings } from '../check.js'
import type { Contender } from '../contender.js'
import type { Job, Task } from '../job.js'
import { timeAndLongest } from '../smoothness.js'
import { repeated } from '../stopwatch.js'
import { things } from '../thing.js'
import type { Thing } from '../thing.js'

/** How many documents of each repetition are read back. */
const SAMPLE = 20

/** How many are written at a time where a database is filled. */
const CHUNK = 10_000

export const writing = {
  'put-turn': (load, job) =>
    many(load, job, async (contender, some) => {
      if (contender.putsInTurn) return contender.putsInTurn(some)
      for (const one of some) await contender.put(one)
    }),
  'put-once': (load, job) =>
    many(load, job, (contender, some) =>
      contender.putsAtOnce ? contender.putsAtOnce(some) : Promise.all(some.map((one) => contender.put(one))),
    ),
  'put-many': async (load, { database, size, seed }) => {
    const contender = await openEmpty(load, database)
    const all = things(0, size)
    const measured = await timeAndLongest(() => contender.putMany(all))
    await checkCount(contender, size)
    await checkSome(contender, new Chance(seed).ids(SAMPLE, size))
    await contender.destroy()
    return measured
  },
  /** Not measured: what others read. */
  fill: async (load, { database, size }) => {
    const contender = await load()
    await contender.open(database)
    for (let at = 0; at < size; at += CHUNK) await contender.putMany(things(at, Math.min(size, at + CHUNK)))
    await checkCount(contender, size)
    await contender.close()
    return {}
  },
} satisfies Record<string, Task>

/** New documents in each repetition. */
async function many(
  load: () => Promise<Contender>,
  job: Job,
  work: (contender: Contender, some: Thing[]) => Promise<unknown>,
) {
  const { database, size, seed } = job
  const contender = await openEmpty(load, database)
  const chance = new Chance(seed)
  let written = 0
  const ms = await repeated(
    job.times,
    (n) => things(n * size, (n + 1) * size),
    (some) => work(contender, some),
    async () => {
      written += size
      await checkCount(contender, written)
      await checkSome(contender, chance.ids(SAMPLE, written))
    },
  )
  await contender.destroy()
  return { ms }
}

/** A database that is open for certain: some libraries open at the first call. */
async function openEmpty(load: () => Promise<Contender>, database: string): Promise<Contender> {
  const contender = await load()
  await contender.open(database)
  await checkCount(contender, 0)
  return contender
}

async function checkSome(contender: Contender, ids: string[]): Promise<void> {
  checkThings(await contender.getMany(ids), ids)
}
