import type { Page } from '@playwright/test'

/** The texts of a page that stand out too little from what is behind them: https://www.w3.org/TR/WCAG22/#contrast-minimum */
export function faintTexts(page: Page, least = 4.5): Promise<string[]> {
  return page.evaluate((wanted) => {
    type Colour = [red: number, green: number, blue: number, alpha: number]
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!
    const parse = (css: string): Colour => {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = css
      canvas.fillRect(0, 0, 1, 1)
      const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data
      return [red, green, blue, alpha / 255]
    }
    const over = (front: Colour, back: Colour): Colour => {
      const mix = (at: 0 | 1 | 2) => front[at] * front[3] + back[at] * (1 - front[3])
      return [mix(0), mix(1), mix(2), 1]
    }
    const behind = (element: Element | null): Colour => {
      if (!element) return parse('Canvas')
      const own = parse(getComputedStyle(element).backgroundColor)
      return own[3] === 1 ? own : over(own, behind(element.parentElement))
    }
    const light = (colour: Colour) => {
      const [red, green, blue] = [colour[0], colour[1], colour[2]].map((part) => {
        const share = part / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
    }
    const contrast = (front: Colour, back: Colour) => {
      const [dark, bright] = [light(over(front, back)), light(back)].toSorted((a, b) => a - b)
      return (bright! + 0.05) / (dark! + 0.05)
    }
    const faint: string[] = []
    const look = (element: Element, text: string, pseudo?: string) => {
      const ratio = contrast(parse(getComputedStyle(element, pseudo).color), behind(element))
      if (ratio < wanted) faint.push(`${ratio.toFixed(2)}: ${text.trim()}`)
    }
    for (const element of document.querySelectorAll('body *')) {
      if (!element.checkVisibility({ visibilityProperty: true }) || element.matches(':disabled')) continue
      for (const node of element.childNodes) {
        if (node.nodeType === Node.TEXT_NODE && node.textContent!.trim()) look(element, node.textContent!)
      }
      if (element instanceof HTMLInputElement && element.placeholder)
        look(element, element.placeholder, '::placeholder')
    }
    return faint
  }, least)
}
