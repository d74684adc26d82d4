import { element, make, write } from '../lib/dom.js'
import { act } from '../lib/notice.js'
import { columnOf } from '../lib/rules.js'
import { sample } from '../lib/samples.js'
import { chosen, defaults, setDefault } from '../lib/state.js'
import { exactly, plural } from '../lib/words.js'
import { NAMES } from '../store.js'
import type { Name } from '../store.js'
import { TtlSwitch } from './ttl-switch.js'

/** The collections, and the time to live of the one that is chosen. */
export function showCollections(): void {
  const group = element('#collections', HTMLElement)
  const choices = new Map(NAMES.map((name) => [name, choice(name)]))
  group.append(...[...choices.values()].map(({ label }) => label))

  const setting = new TtlSwitch('#setting', (mode, n) => {
    const name = chosen.get()
    const defaultTtl = mode === 'off' ? null : mode === 'none' ? -1 : n
    act(async () => {
      await setDefault(name, defaultTtl)
      return `${name}: time to live is ${wordsFor(defaultTtl)}.`
    })
  })
  const show = () => {
    const name = chosen.get()
    const defaultTtl = defaults.get()[name]
    const column = columnOf(defaultTtl)
    setting.show(name, column, column === 'seconds' ? defaultTtl! : undefined)
    for (const [other, { input }] of choices) input.checked = other === name
    describe()
  }
  // Counts come all the time, also while somebody chooses.
  const describe = () => {
    for (const [other, { note }] of choices) {
      const live = sample.get()?.of[other].live
      write(note, `${wordsFor(defaults.get()[other])}${live === undefined ? '' : ` · ${plural(live, 'document')}`}`)
    }
  }
  chosen.watch(show)
  defaults.watch(show)
  sample.watch(describe)
}

function choice(name: Name) {
  const input = make('input', { type: 'radio', name: 'collection', value: name })
  const note = make('small')
  input.addEventListener('change', () => chosen.set(name))
  return { input, note, label: make('label', {}, input, make('span', {}, make('b', {}, name), note)) }
}

function wordsFor(defaultTtl: number | null): string {
  return defaultTtl === null ? 'off' : defaultTtl === -1 ? 'on, no default' : `on, ${exactly(defaultTtl)}`
}
