import { mkdirSync, writeFileSync } from 'node:fs'
import { chart } from './chart.mjs'
import { table } from './table.mjs'

/** Writes the results in each form, and says them. */
export async function write(results, folder) {
  mkdirSync(folder, { recursive: true })
  const markdown = table(results)
  writeFileSync(`${folder}/results.json`, `${JSON.stringify(results, undefined, 1)}\n`)
  writeFileSync(`${folder}/results.md`, markdown)
  writeFileSync(`${folder}/results.svg`, chart(results))
  console.log(`\n${markdown}\nWritten to ${folder}`)
}
