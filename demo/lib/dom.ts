type Attributes = Record<string, string | number | boolean | undefined>

/** An element of the page that must be there, and of that kind. */
export function element<T extends Element>(selector: string, type: new () => T, within: ParentNode = document): T {
  const found = within.querySelector(selector)
  if (found instanceof type) return found
  throw new TypeError(`The page has no ${type.name} at ${selector}.`)
}

/** Makes an element. `true` is an attribute without a value; `false` and undefined leave it out. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...children)
  return made
}

/** Writes only what differs: a screen reader hears every change of a live region. */
export function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text
}

/** A drawing from the page's own sheet of icons. */
export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('class', 'icon')
  svg.setAttribute('aria-hidden', 'true')
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use')
  use.setAttribute('href', `#icon-${name}`)
  svg.append(use)
  return svg
}
