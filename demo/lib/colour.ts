const style = getComputedStyle(document.documentElement)

/** A colour of the page, as it is in light or dark. */
export const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim()

const TABS = 6

/** The name of a tab's colour: of `--tab-1` to `--tab-6`. */
export const tabColour = (letter: string): string => `tab-${(Math.max(0, letter.charCodeAt(0) - 65) % TABS) + 1}`

export function watchScheme(listener: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener)
}
