import { tabColour } from '../lib/colour.js'
import { element, make, write } from '../lib/dom.js'
import { listen, tell } from '../lib/news.js'
import { atMost } from '../lib/pace.js'
import { sliceCount } from '../lib/slices.js'
import { tab, tabs } from '../lib/tab.js'
import { plural } from '../lib/words.js'

/** A tab is said to be deleting for so many milliseconds after a slice, unless another goes on. */
const LINGER = 900

/** Tabs that went without a word are noticed after so many milliseconds. */
const CHECK = 2000

interface Item {
  element: HTMLLIElement
  state: HTMLElement
  total: HTMLElement
}

/** The open tabs, and which of them is deleting. */
export function showTabs(): void {
  const list = element('#tabs', HTMLElement)
  const items = new Map<string, Item>()
  let last = { letter: '', at: -Infinity }

  const draw = () => {
    for (const [letter, { element: item, state, total }] of items) {
      const isDeleting = letter === last.letter && Date.now() - last.at < LINGER
      item.classList.toggle('deleting', isDeleting)
      write(state, isDeleting ? 'deleting' : 'resting')
      write(total, plural(sliceCount(letter), 'slice'))
    }
  }
  const look = async () => {
    const letters = await tabs()
    for (const [letter, item] of items) {
      if (letters.includes(letter)) continue
      item.element.remove()
      items.delete(letter)
    }
    for (const letter of letters) if (!items.has(letter)) items.set(letter, itemFor(letter))
    list.append(...letters.map((letter) => items.get(letter)!.element))
    draw()
  }
  const rest = atMost(LINGER, draw)
  listen((news) => {
    if (news.type === 'tabs') void look()
    if (news.type !== 'slice') return
    last = { letter: news.tab, at: Date.now() }
    if (!items.has(news.tab)) void look()
    draw()
    setTimeout(rest, LINGER + 20)
  })
  element('#open-tab', HTMLButtonElement).addEventListener('click', () => open(location.href, '_blank', 'noopener'))
  addEventListener('pagehide', () => tell({ type: 'tabs' }))
  setInterval(() => void look(), CHECK)
  tell({ type: 'tabs' })

  const chip = element('#tab-chip', HTMLElement)
  chip.hidden = tab.letter === '?'
  chip.append(badge(tab.letter), `This is tab ${tab.letter}`)
  document.title = `mayfly · tab ${tab.letter}`
}

function itemFor(letter: string): Item {
  const state = make('span', { class: 'state' })
  const total = make('small')
  const name = letter === tab.letter ? `Tab ${letter}, this one` : `Tab ${letter}`
  const item = make('li', {}, badge(letter), make('b', {}, name), state, total)
  item.style.setProperty('--tab', `var(--${tabColour(letter)})`)
  return { element: item, state, total }
}

function badge(letter: string): HTMLElement {
  const made = make('span', { class: 'badge', 'aria-hidden': 'true' }, letter)
  made.style.setProperty('--tab', `var(--${tabColour(letter)})`)
  return made
}
