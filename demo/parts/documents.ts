import { element, make, write } from '../lib/dom.js'
import { act, say } from '../lib/notice.js'
import { atMost } from '../lib/pace.js'
import { chosen, defaults, selectedId } from '../lib/state.js'
import { count, explained, plural } from '../lib/words.js'
import { collections } from '../store.js'
import type { Document } from '../store.js'
import { edit } from './editor.js'
import { List } from './list.js'
import { codeOf, watchQuestion } from './question.js'
import type { Asked } from './question.js'
import { nameOf } from './row.js'
import type { Row, Verb } from './row.js'

/** How often the counts and the explanation are asked for while results change, in milliseconds. */
const APART = 700

/** The live list of the chosen collection. */
export function showDocuments(): void {
  const list = new List(element('#list', HTMLElement), element('#documents', HTMLElement), perform)
  const [tally, empty] = [element('#tally', HTMLElement), element('#empty', HTMLElement)]
  const [code, answer] = [element('#query', HTMLElement), element('#explained', HTMLElement)]
  let asked: Asked = { orderBy: 'placedAt' }
  let docs: Document[] = []
  let stop: (() => void) | undefined

  const draw = () => list.show(docs, defaults.get()[chosen.get()], selectedId.get())
  const describe = async () => {
    const question = asked
    const { where, orderBy } = question
    const documents = collections[chosen.get()]
    const [how, matches] = await Promise.all([
      documents.query(question).explain(),
      // Without an order: then counting needs no documents.
      documents.query(where ? { where } : {}).count(),
    ])
    if (question !== asked || documents !== collections[chosen.get()]) return
    write(answer, explained(how, orderBy))
    const isPart = how.returned < matches
    write(tally, isPart ? `the first ${count(how.returned)} of ${count(matches)}` : plural(matches, 'document'))
  }
  // The live query says what is wrong.
  const explain = atMost(APART, () => describe().catch(() => undefined))
  const ask = () => {
    stop?.()
    const name = chosen.get()
    write(code, codeOf(name, asked))
    stop = collections[name].query(asked).subscribe(
      (found) => {
        docs = found
        empty.hidden = docs.length > 0
        // So that the matrix has something to light up.
        if (selectedId.get() === undefined) selectedId.set(docs[0]?.id)
        draw()
        explain()
      },
      (error) => say(error.message),
    )
  }
  watchQuestion((next) => {
    asked = next
    ask()
  })
  let shown = chosen.get()
  chosen.watch((name) => {
    if (name !== shown) ask()
    shown = name
  })
  defaults.watch(draw)
  selectedId.watch((id) => list.mark(id))
}

function perform(verb: Verb, { doc }: Row): void {
  const documents = collections[chosen.get()]
  if (verb === 'select') selectedId.set(doc.id)
  else if (verb === 'edit') edit(doc)
  else {
    act(async () => {
      const isThere = await documents[verb](doc.id)
      const done = verb === 'touch' ? 'starts its countdown again' : 'was deleted'
      return isThere ? `${nameOf(doc)} ${done}.` : `${nameOf(doc)} has expired.`
    })
  }
}

/** The customers that the forms offer. */
export function offer(customers: string[]): void {
  element('#customers', HTMLDataListElement).append(...customers.map((name) => make('option', { value: name })))
}
