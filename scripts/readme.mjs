import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { root } from './install.mjs'

/**
 * Turns every `ts` example of the README into a test that is compiled and run. In an example,
 * `await something // → value` and `console.assert(…)` say what must come out.
 */
const folder = `${root}test/generated`
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

const readme = readFileSync(`${root}README.md`, 'utf8')
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)]
if (examples.length === 0) throw new Error('The README has no examples.')
for (const example of examples) {
  const line = readme.slice(0, example.index).split('\n').length
  writeFileSync(`${folder}/readme-line-${line}.test.ts`, toTest(example[1], line))
}
console.log(`${examples.length} examples of the README became tests.`)

function toTest(code, line) {
  const lines = code.trimEnd().split('\n')
  const imports = lines.filter((text) => text.startsWith('import '))
  const body = lines
    .filter((text) => !text.startsWith('import '))
    .map((text) => `  ${text}`.replace(/^(\s*)(await .+?)\s+\/\/ → (.+)$/, '$1expect($2).toEqual($3)'))
    .map((text) => text.replace(/console\.assert\((.+)\)(,?)$/, 'expect($1).toBe(true)$2'))
  const tools = body.some((text) => text.includes('expect(')) ? 'expect, test' : 'test'
  return [
    ...imports,
    `import { ${tools} } from 'vitest'`,
    '',
    `test('the example at line ${line} of the README', async () => {`,
    ...body,
    '})',
    '',
  ].join('\n')
}
