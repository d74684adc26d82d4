/** What a lane does to its own few documents, step by step. A lane is done by one tab, one step after the other. */
export interface Step {
  kind: 'one' | 'many' | 'atomic'
  writes: { verb: 'upsert' | 'patch' | 'delete'; collection: 'items' | 'others'; name: string }[]
}

const write = (verb: 'upsert' | 'patch' | 'delete', collection: 'items' | 'others', name: string) => ({
  verb,
  collection,
  name,
})

/** One round; over and over again. After the first, every document has been there before. */
export const STEPS: Step[] = [
  { kind: 'one', writes: [write('upsert', 'items', 'a')] },
  { kind: 'many', writes: ['b', 'c', 'd'].map((name) => write('upsert', 'items', name)) },
  { kind: 'atomic', writes: [write('upsert', 'items', 'e'), write('upsert', 'others', 'e')] },
  { kind: 'one', writes: [write('patch', 'items', 'a')] },
  {
    kind: 'atomic',
    writes: [write('delete', 'items', 'e'), write('patch', 'items', 'b'), write('patch', 'others', 'e')],
  },
  { kind: 'one', writes: [write('delete', 'others', 'e')] },
  { kind: 'one', writes: [write('delete', 'items', 'c')] },
  { kind: 'atomic', writes: [write('upsert', 'others', 'f'), write('patch', 'items', 'd')] },
]

/** What there is after so many steps: of each document, the step that wrote it and the one that patched it last. */
export function after(steps: number): Map<string, string> {
  const there = new Map<string, [written: number, patched: number]>()
  for (let step = 0; step < steps; step++) {
    for (const { verb, collection, name } of STEPS[step % STEPS.length]!.writes) {
      const key = `${collection}/${name}`
      if (verb === 'delete') there.delete(key)
      else there.set(key, [verb === 'patch' ? there.get(key)![0] : step, step])
    }
  }
  return new Map([...there].map(([key, [written, patched]]) => [key, `${written} ${patched}`]))
}
