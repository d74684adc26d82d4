import { takesPart } from './contenders.mjs'

let databases = 0

/** Measures in rounds: in each, every workload, and for each of them every contender, in another order every time. */
export class Rounds {
  #lab
  #patience
  #report
  /** The databases that are there: the site of each, by `contender/size`. */
  #filled = new Map()
  /** What took too long once is not tried again, as `contender/workload`. */
  #given = new Map()
  /** One entry for every measurement that counts. */
  results = []

  constructor(lab, patience, report) {
    this.#lab = lab
    this.#patience = patience
    this.#report = report
  }

  /** What was left out, and why, as `{ contender, workload, reason }`. */
  get omitted() {
    return [...this.#given].map(([key, reason]) => {
      const [contender, workload] = key.split('/')
      return { contender, workload, reason }
    })
  }

  async run(workloads, contenders, rounds, warmUp) {
    for (let round = warmUp ? 0 : 1; round <= rounds; round++) {
      const order = contenders.map((_, at) => contenders[(at + round) % contenders.length])
      // Turned round as well, or everybody would always follow the same one.
      if (round % 2 === 1) order.reverse()
      for (const workload of workloads) {
        // The first round warms up; what is measured cold needs none.
        if (round === 0 && workload.pages) continue
        for (const stored of workload.sizes ?? [workload.stored]) {
          const measured = {}
          for (const contender of order.filter((name) => takesPart(name, workload.name))) {
            this.#report({ round, workload, stored, contender })
            const values = await this.#measure({ ...workload, stored }, contender, round)
            if (!values) continue
            measured[contender] = values
            if (round > 0) this.results.push({ workload: workload.name, contender, round, stored, values })
          }
          this.#report({ round, workload, stored, measured })
        }
      }
    }
  }

  async #measure(workload, contender, round) {
    const key = `${contender}/${workload.name}`
    if (this.#given.has(key)) return undefined
    try {
      const all = []
      for (let page = 0; page < (workload.pages ?? 1); page++)
        all.push(await this.#once(workload, contender, round, page))
      return medians(all)
    } catch (error) {
      if (!(error instanceof TooLong))
        throw new Error(`${contender}, ${workload.name}: ${error.message}`, { cause: error })
      this.#given.set(key, error.message)
      // Nobody knows what is in it now.
      this.#filled.delete(`${contender}/${workload.stored}`)
      return undefined
    }
  }

  async #once({ name, stored, size, prepare, quiet, times = 3 }, contender, round, page) {
    const database = stored ? await this.#full(contender, stored) : fresh(contender, name)
    const job = { contender, stored: stored ?? 0, size, times, quiet, seed: round * 10 + page, database: database.name }
    if (prepare) await this.#task(database.site, { ...job, task: prepare })
    return this.#task(database.site, { ...job, task: name })
  }

  async #full(contender, size) {
    const key = `${contender}/${size}`
    const known = this.#filled.get(key)
    if (known) return known
    const database = { site: `${contender}-${size}-${++databases}`, name: 'things' }
    await this.#task(database.site, { contender, task: 'fill', size, stored: 0, seed: 0, database: database.name })
    this.#filled.set(key, database)
    return database
  }

  async #task(site, job) {
    // What is not measured may take longer.
    const patience = job.task === 'fill' || job.task === 'expire' ? this.#patience * 5 : this.#patience
    const values = await this.#lab.run(site, job, patience)
    if (!values) throw new TooLong(`${job.task} took more than ${patience / 1000} s`)
    return values
  }
}

class TooLong extends Error {}

const fresh = (contender, workload) => ({ site: `${contender}-${workload}`, name: `fresh-${++databases}` })

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function medians(all) {
  return Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((values) => values[key]))]))
}
