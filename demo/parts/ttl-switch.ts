import { element } from '../lib/dom.js'
import { field } from '../lib/form.js'

/** A form with three radio buttons, of which one goes with a number of seconds. */
export class TtlSwitch {
  readonly form: HTMLFormElement
  readonly #set: HTMLFieldSetElement
  readonly #seconds: HTMLInputElement
  readonly #field: HTMLElement

  constructor(selector: string, change: (mode: string, seconds: number) => void) {
    this.form = element(selector, HTMLFormElement)
    this.#set = element('fieldset', HTMLFieldSetElement, this.form)
    this.#seconds = element('input[type=number]', HTMLInputElement, this.form)
    this.#field = element('.seconds', HTMLElement, this.form)
    this.form.addEventListener('submit', (event) => event.preventDefault())
    this.form.addEventListener('change', () => {
      const mode = field(this.form, 'mode')
      this.#reveal(mode)
      if (mode !== 'seconds' || this.#seconds.reportValidity()) change(mode, this.#seconds.valueAsNumber)
    })
  }

  /** There is nothing to switch; it keeps its place. */
  rest(name: string): void {
    element('[data-name]', HTMLElement, this.form).textContent = name
    for (const radio of this.form.querySelectorAll<HTMLInputElement>('[type=radio]')) radio.checked = false
    this.#set.disabled = true
  }

  show(name: string, mode: string, seconds?: number): void {
    this.#set.disabled = false
    element('[data-name]', HTMLElement, this.form).textContent = name
    element(`[value=${mode}]`, HTMLInputElement, this.form).checked = true
    // Not while somebody types.
    if (seconds !== undefined && document.activeElement !== this.#seconds) this.#seconds.value = String(seconds)
    this.#reveal(mode)
  }

  #reveal(mode: string): void {
    this.#field.toggleAttribute('data-idle', mode !== 'seconds')
    this.#seconds.disabled = mode !== 'seconds'
  }
}
