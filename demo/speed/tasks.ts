import type { Contender, Thing } from './contender.js'

const MANY = 500
const FEW = 200

export interface Task {
  title: string
  /** Does the work, and gives the milliseconds it took. What was written is checked outside of that time. */
  run(contender: Contender): Promise<number>
}

function things(prefix: string, size: number): Thing[] {
  return Array.from({ length: size }, (_, n) => ({
    id: `${prefix}${String(n).padStart(5, '0')}`,
    customer: `customer ${n % 40}`,
    total: n,
    text: 'Lorem ipsum dolor sit amet, consectetur adipiscing elit. '.repeat(2),
  }))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function check(isRight: boolean, { name }: Contender, what: string): void {
  if (!isRight) throw new Error(`${name} did not ${what}.`)
}

export const TASKS: Task[] = [
  {
    title: `Write ${MANY.toLocaleString('en-GB')} documents in bulk`,
    async run(contender) {
      const all = things('a', MANY)
      const took = await timed(() => contender.putMany(all))
      check((await contender.count()) === MANY, contender, 'keep what was written')
      check((await contender.get(all[7]!.id))?.total === 7, contender, 'give back what was written')
      return took
    },
  },
  {
    title: `${FEW} writes at once, one call each`,
    async run(contender) {
      const all = things('b', FEW)
      const took = await timed(() => Promise.all(all.map((thing) => contender.put(thing))))
      check((await contender.count()) === FEW, contender, 'keep what was written')
      return took
    },
  },
  {
    title: `${FEW} reads at once, one call each`,
    async run(contender) {
      const all = things('c', FEW)
      await contender.putMany(all)
      let found: (Thing | undefined)[] = []
      const took = await timed(async () => {
        found = await Promise.all(all.map(({ id }) => contender.get(id)))
      })
      check(
        found.every((thing, n) => thing?.total === n),
        contender,
        'find everything',
      )
      return took
    },
  },
  {
    title: `Delete ${MANY / 2} expired of ${MANY.toLocaleString('en-GB')}`,
    async run(contender) {
      await contender.prepare(things('d', MANY / 2), things('e', MANY / 2))
      const took = await timed(() => contender.tidy())
      check((await contender.count()) === MANY / 2, contender, 'keep what lives, and that alone')
      return took
    },
  },
]
