import { element } from '../lib/dom.js'
import { field } from '../lib/form.js'

/** A form with three radio buttons, of which one goes with a number of seconds. */
export class TtlSwitch {
  readonly form: HTMLFormElement
  readonly #seconds: HTMLInputElement
  readonly #field: HTMLElement

  constructor(selector: string, change: (mode: string, seconds: number) => void) {
    this.form = element(selector, HTMLFormElement)
    this.#seconds = element('input[type=number]', HTMLInputElement, this.form)
    this.#field = element('.seconds', HTMLElement, this.form)
    this.form.addEventListener('submit', (event) => event.preventDefault())
    this.form.addEventListener('change', () => {
      const mode = field(this.form, 'mode')
      this.#reveal(mode)
      if (mode !== 'seconds' || this.#seconds.reportValidity()) change(mode, this.#seconds.valueAsNumber)
    })
  }

  show(name: string, mode: string, seconds?: number): void {
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
