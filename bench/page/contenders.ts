import type { Contender } from './contender.js'

const modules = import.meta.glob<{ contender: Contender }>(['./contenders/*.{ts,js}', '!./contenders/*-worker.ts'])

/** Each is loaded by the page that measures it, and by no other. */
export async function loadContender(name: string): Promise<Contender> {
  const load = modules[`./contenders/${name}.ts`] ?? modules[`./contenders/${name}.js`]
  if (!load) throw new Error(`There is no contender ${name}.`)
  return (await load()).contender
}
