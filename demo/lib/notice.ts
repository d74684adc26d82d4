import { MayflyError } from 'mayfly'
import { element, write } from './dom.js'

const status = element('#status', HTMLElement)
const problem = element('#problem', HTMLElement)

/** How long a note stays in sight, in milliseconds. */
const SHOWN = 6000
let fading: ReturnType<typeof setTimeout> | undefined

/** Tells what has been done, which the page shows by itself, to those who do not see it. */
export function say(text: string): void {
  clearTimeout(fading)
  status.classList.add('sr')
  write(status, text)
  write(problem, '')
}

/** Tells, for a while in sight, what the page does not show by itself. */
export function tellAll(text: string): void {
  say(text)
  status.classList.remove('sr')
  fading = setTimeout(() => status.classList.add('sr'), SHOWN)
}

/** Shows what went wrong, until something is done or it is dismissed. */
export function complain(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error)
  write(problem, `${text.charAt(0).toUpperCase()}${text.slice(1)}`)
}

/** Does what a person asked for. What goes wrong is shown; a document that has expired meanwhile is no alarm. */
export function act(work: () => Promise<string | void>): void {
  work().then(
    (text) => text && say(text),
    (error: unknown) => {
      if (error instanceof MayflyError && error.code === 'not-found') tellAll('It has expired meanwhile.')
      else complain(error)
    },
  )
}

element('#dismiss', HTMLButtonElement).addEventListener('click', () => write(problem, ''))
