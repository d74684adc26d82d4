import { MayflyError } from 'mayfly'
import { element, write } from './dom.js'

const status = element('#status', HTMLElement)
const problem = element('#problem', HTMLElement)

/** Tells what has been done, politely. */
export function say(text: string): void {
  write(status, text)
  write(problem, '')
}

/** Does what a person asked for. What goes wrong is shown; a document that has expired meanwhile is no alarm. */
export function act(work: () => Promise<string | void>): void {
  work().then(
    (text) => text && say(text),
    (error: unknown) => {
      if (error instanceof MayflyError && error.code === 'not-found') say('It has expired meanwhile.')
      else write(problem, error instanceof Error ? error.message : String(error))
    },
  )
}
