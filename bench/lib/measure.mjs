import { build } from 'vite'
import { CONTENDERS, LIMIT } from './contenders.mjs'
import { Lab } from './lab.mjs'
import { Rounds } from './rounds.mjs'
import { rows } from './rows.mjs'
import { buildSizes, measureSizes } from './sizes.mjs'
import { text, workloads } from './workloads.mjs'

const isTerminal = process.stdout.isTTY === true
/** Begins the line anew. */
const BACK = '\r\u001b[K'

/** Everything that was asked for, as what the report needs. */
export async function measure(asked, bench) {
  const all = workloads(asked.scale)
  const chosen = asked.workloads.map((name) => all[name])
  const hasSizes = asked.workloads.includes('size')
  const configFile = `${bench}vite.config.ts`
  const lab = new Lab()
  try {
    console.log('Building the page of the benchmark …')
    await build({ configFile, logLevel: 'error', build: { outDir: lab.pages } })
    if (hasSizes) await buildSizes(asked.contenders, lab, configFile)
    await lab.open()
    console.log(`Chromium ${lab.version}; ${asked.contenders.map((name) => CONTENDERS[name].title).join(', ')}`)
    const rounds = new Rounds(lab, asked.patience, (news) => say(news, asked.rounds))
    await rounds.run(
      chosen.filter(({ name }) => name !== 'size'),
      asked.contenders,
      asked.rounds,
      asked.warmUp,
    )
    const sizes = hasSizes ? await measureSizes(asked.contenders, lab) : {}
    return {
      date: new Date().toISOString().slice(0, 10),
      browser: `Chromium ${lab.version}`,
      rounds: asked.rounds,
      scale: asked.scale,
      contenders: asked.contenders,
      rows: rows(chosen, rounds.results, sizes),
      omitted: rounds.omitted,
      measurements: rounds.results,
    }
  } finally {
    await lab.close()
  }
}

/** Who is being measured, where a line can be written over; and what came out, when everybody has been. */
function say({ round, workload, stored, contender, measured }, rounds) {
  const place = round === 0 ? 'warming up' : `round ${round} of ${rounds}`
  const name = workload.sizes ? `${workload.name} (${text(stored)})` : workload.name
  const line = `${place.padEnd(12)}  ${name.padEnd(24)} `
  if (measured) console.log(`${isTerminal ? BACK : ''}${line}${comparison(measured)}`)
  else if (isTerminal) process.stdout.write(`${BACK}${line}${contender} …`)
}

function comparison(measured) {
  const limit = measured[LIMIT]?.ms
  return Object.entries(measured)
    .toSorted(([, a], [, b]) => a.ms - b.ms)
    .map(([name, { ms }]) =>
      name === LIMIT || !limit ? `${name} ${ms.toFixed(1)} ms` : `${name} ${(ms / limit).toFixed(2)}`,
    )
    .join(' · ')
}
