import { parseArgs } from 'node:util'
import { CONTENDERS, LIMIT } from './contenders.mjs'
import { workloads } from './workloads.mjs'

const NAMES = { contenders: Object.keys(CONTENDERS), workloads: Object.keys(workloads(1)) }

const HELP = `npm run bench -- [options]

  --contenders a,b   who takes part; raw always does
                     ${NAMES.contenders.join(', ')}
  --workloads a,b    what is measured; a group such as get stands for all of get-…
                     ${NAMES.workloads.slice(0, 9).join(', ')},
                     ${NAMES.workloads.slice(9).join(', ')}
  --rounds n         how often, not counting the round for warming up (5)
  --scale n          how many documents, as a share of the usual numbers (1)
  --patience n       what takes longer than so many seconds is left out (60)
  --out folder       where the results go (bench/results; bench/results/partial when anything is chosen)
  --no-warm-up       counts the first round, too
  --no-build         takes dist as it is
  --help
`

const OPTIONS = {
  contenders: { type: 'string' },
  workloads: { type: 'string' },
  rounds: { type: 'string', default: '5' },
  scale: { type: 'string', default: '1' },
  patience: { type: 'string', default: '60' },
  out: { type: 'string' },
  'no-warm-up': { type: 'boolean', default: false },
  'no-build': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
}

/** What was asked for; ends the program with a sentence when that is not possible. */
export function options(args) {
  try {
    return understand(parseArgs({ args, options: OPTIONS }).values)
  } catch (error) {
    console.error(`${error.message}\nnpm run bench -- --help lists what there is.`)
    process.exit(1)
  }
}

function understand(values) {
  if (values.help) {
    console.log(HELP)
    process.exit(0)
  }
  const asked = choose('workloads', values.workloads)
  const needed = asked.map((name) => workloads(1)[name].needs).filter((name) => name && !asked.includes(name))
  const rounds = number('rounds', values.rounds, 1, 1000)
  if (!Number.isInteger(rounds)) throw new Error('--rounds is a whole number.')
  return {
    contenders: [...new Set([LIMIT, ...choose('contenders', values.contenders)])],
    workloads: NAMES.workloads.filter((name) => asked.includes(name) || needed.includes(name)),
    rounds,
    scale: number('scale', values.scale, 0.001, 10),
    patience: number('patience', values.patience, 1, 3600) * 1000,
    out: values.out,
    isWhole: !values.contenders && !values.workloads && values.scale === '1' && !values['no-warm-up'],
    warmUp: !values['no-warm-up'],
    build: !values['no-build'],
  }
}

function choose(option, list) {
  const known = NAMES[option]
  if (list === undefined) return known
  const chosen = list.split(',').map((name) => {
    const found = known.filter((one) => one === name || (option === 'workloads' && one.startsWith(`${name}-`)))
    if (found.length === 0)
      throw new Error(`--${option} has no ${name || 'empty name'}. There are: ${known.join(', ')}.`)
    return found
  })
  return known.filter((name) => chosen.flat().includes(name))
}

function number(option, value, least, most) {
  const found = Number(value)
  if (value.trim() !== '' && found >= least && found <= most) return found
  throw new Error(`--${option} is a number from ${least} to ${most}, not ${value}.`)
}
