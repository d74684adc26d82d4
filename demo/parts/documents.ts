import { element, make, write } from '../lib/dom.js'
import { act, complain, tellAll } from '../lib/notice.js'
import { atMost } from '../lib/pace.js'
import { measure, sample } from '../lib/samples.js'
import { chosen, defaults, selectedId } from '../lib/state.js'
import { count, explained, plural } from '../lib/words.js'
import { collections } from '../store.js'
import type { Document } from '../store.js'
import { edit } from './editor.js'
import { List } from './list.js'
import { codeOf, LIMIT, watchQuestion } from './question.js'
import type { Asked } from './question.js'
import { nameOf } from './row.js'
import type { Row, Verb } from './row.js'

/** How often the explanation is asked for while results change, in milliseconds. */
const APART = 700

/** The live list of the chosen collection. */
export function showDocuments(): void {
  const list = new List(element('#list', HTMLElement), element('#documents', HTMLElement), perform)
  const [tally, empty] = [element('#tally', HTMLElement), element('#empty', HTMLElement)]
  const [code, answer] = [element('#query', HTMLElement), element('#explained', HTMLElement)]
  let asked: Asked = { orderBy: 'placedAt' }
  let docs: Document[] = []
  let matches: number | undefined
  let stop: (() => void) | undefined

  const draw = () => list.show(docs, defaults.get()[chosen.get()], selectedId.get())
  const total = () => {
    if (docs.length < LIMIT) return docs.length
    return asked.where ? matches : sample.get()?.of[chosen.get()].live
  }
  const showTotal = () => {
    const all = total() ?? 0
    const isPart = all > docs.length
    write(tally, isPart ? `the first ${count(docs.length)} of ${count(all)}` : plural(docs.length, 'document'))
  }
  const describe = async () => {
    const question = asked
    const { where, orderBy } = question
    const documents = collections[chosen.get()]
    const [how, found] = await Promise.all([
      documents.query(question).explain(),
      // Without an order: then counting needs no documents.
      where && docs.length === LIMIT ? documents.query({ where }).count() : undefined,
    ])
    if (question !== asked || documents !== collections[chosen.get()]) return
    write(answer, explained(how, orderBy))
    matches = found
    showTotal()
  }
  // The live query says what is wrong.
  const explain = atMost(APART, () => describe().catch(() => undefined))
  const ask = () => {
    stop?.()
    matches = undefined
    const name = chosen.get()
    write(code, codeOf(name, asked))
    stop = collections[name].query(asked).subscribe((found) => {
      docs = found
      empty.hidden = docs.length > 0
      write(empty, asked.where ? 'No document matches.' : 'Nothing here. Add a document, or generate 10,000.')
      // So that the matrix has something to light up.
      if (selectedId.get() === undefined) selectedId.set(docs[0]?.id)
      draw()
      showTotal()
      explain()
      measure()
    }, complain)
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
  // Those that are not shown come and go too.
  sample.watch((now) => {
    if (!now) return
    if (asked.where && docs.length === LIMIT) explain()
    else showTotal()
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
      if (!isThere) return tellAll(`${nameOf(doc)} has expired meanwhile.`)
      return `${nameOf(doc)} ${verb === 'touch' ? 'starts its countdown again' : 'was deleted'}.`
    })
  }
}

/** The customers that the forms offer. */
export function offer(customers: string[]): void {
  element('#customers', HTMLDataListElement).append(...customers.map((name) => make('option', { value: name })))
}
