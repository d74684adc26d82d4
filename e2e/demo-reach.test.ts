import { expect, test } from '@playwright/test'
import { faintTexts } from './support/contrast.js'
import { add, documents, lit, numberIn, secondTab, setting, visit } from './support/demo-page.js'
import { serveDemo } from './support/demo.js'

declare global {
  interface Window {
    moved: string[]
    shift: number
  }
}

// Generous, because machines are shared: no test waits for this when it passes.
test.describe.configure({ timeout: 120_000 })

let demo: Awaited<ReturnType<typeof serveDemo>>
let problems: string[] = []

test.beforeAll(async () => {
  demo = await serveDemo()
})
test.afterAll(() => demo.stop())
test.beforeEach(({ context }) => {
  problems = []
  context.on('weberror', (error) => problems.push(error.error().message))
  context.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
})
test.afterEach(() => {
  expect(problems).toEqual([])
})

test('it fits a phone, and the keyboard is enough', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await visit(page, demo.url)
  const overflow = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(await overflow()).toBe(0)

  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'To the documents' })).toBeFocused()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  const form = page.getByRole('form', { name: 'Add a document' })
  await expect(form.getByLabel('Customer')).toBeFocused()
  await page.keyboard.type('Keys')
  await page.keyboard.press('Enter')
  await expect(documents(page)).toHaveCount(9)

  const rows = documents(page).locator('.pick')
  await rows.first().focus()
  await page.keyboard.press('ArrowDown')
  await expect(rows.nth(1)).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(rows.nth(1)).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('Delete')
  await expect(documents(page)).toHaveCount(8)
  // The focus goes on from the neighbour of the row that has gone.
  await expect(rows.nth(1)).toBeFocused()
  await page.keyboard.press('Enter')

  await setting(page).getByRole('radio', { name: 'On, n seconds' }).focus()
  await page.keyboard.press('ArrowLeft')
  await expect(setting(page).getByRole('radio', { name: 'On (no default)' })).toBeChecked()
  await expect(lit(page)).toHaveAttribute('data-cell', / none$/)
  await page.getByRole('button', { name: /^Edit/ }).first().press('Enter')
  expect(await overflow()).toBe(0)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()

  // A row that moves takes the focus along.
  await page.getByRole('form', { name: 'Filter and sort' }).getByLabel('Sort by').selectOption('last written')
  const touches = page.getByRole('button', { name: /^Touch/ })
  const name = (await touches.last().getAttribute('aria-label'))!
  await page.getByRole('button', { name }).press('Enter')
  await expect(touches.first()).toHaveAccessibleName(name)
  await expect(touches.first()).toBeFocused()
})

test('the list is one step for the Tab key, and the arrow keys lead through it', async ({ page }) => {
  await visit(page, demo.url)
  await page.getByRole('radio', { name: /^invoices/ }).check({ force: true })
  await page.getByRole('button', { name: 'Generate 10,000' }).click()
  await expect(page.getByText(/^10,000 documents written/)).toBeAttached({ timeout: 30_000 })
  await expect(documents(page)).toHaveCount(100)

  await page.getByLabel('Sort by').focus()
  const within = (n: number) => documents(page).nth(n).getByRole('button')
  for (const n of [0, 1, 2, 3]) {
    await page.keyboard.press('Tab')
    await expect(within(0).nth(n)).toBeFocused()
  }
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Block the main thread for two seconds' })).toBeFocused()

  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('End')
  await expect(within(99).last()).toBeFocused()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowLeft')
  await expect(within(98).nth(2)).toBeFocused()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  await expect(page.getByLabel('Sort by')).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(within(98).first()).toBeFocused()
  await page.keyboard.press('Home')
  await expect(within(0).first()).toBeFocused()
})

test('the name that a screen reader says does not count down', async ({ page }) => {
  await visit(page, demo.url)
  const first = documents(page).first()
  const button = first.getByRole('button').first()
  await expect(button).toHaveAccessibleName(/^Ada no ttl · 12\.00 · .* expires at \d\d:\d\d:\d\d$/)
  const name = (await button.ariaSnapshot()).trim()
  const left = await first.locator('.left').innerText()
  await expect(first.locator('.left')).not.toHaveText(left)
  expect((await button.ariaSnapshot()).trim()).toBe(name)
})

test('links within the page lead to what they say, and leave the collection as it is', async ({ page, context }) => {
  await visit(page, demo.url)
  await page.getByRole('radio', { name: /^orders/ }).check({ force: true })
  const links = page.getByRole('navigation', { name: 'What to try' }).getByRole('link')
  await expect(links).toHaveCount(6)
  for (const link of await links.all()) {
    await link.click()
    const at = (await link.getAttribute('href'))!
    await expect(page.locator(at)).toBeInViewport()
    await expect(page).toHaveURL(/#orders$/)
    await expect(page.getByRole('radio', { name: /^orders/ })).toBeChecked()
  }
  const second = await secondTab(context, page)
  await expect(second.getByRole('radio', { name: /^orders/ })).toBeChecked()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every text can be read, ${colorScheme}`, async ({ page }) => {
    // Nothing fades in meanwhile.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await visit(page, demo.url)
    expect(await faintTexts(page)).toEqual([])
    const marks = page.getByRole('list', { name: 'Weather' }).locator('.mark')
    await marks.first().scrollIntoViewIfNeeded()
    await expect(marks.filter({ hasText: 'stale' })).not.toHaveCount(0)
    expect(await faintTexts(page)).toEqual([])
    await page.getByRole('switch', { name: 'Cut the network' }).check({ force: true })
    await expect(marks).toHaveText(Array<string>(6).fill('offline'))
    await page.getByRole('button', { name: 'Run the comparison' }).click()
    await expect(page.locator('#bars figure')).not.toHaveCount(0, { timeout: 50_000 })
    expect(await faintTexts(page)).toEqual([])
    await page.getByRole('button', { name: /^Edit/ }).first().click()
    expect(await faintTexts(page)).toEqual([])
  })
}

test('who wants no motion gets none', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await visit(page, demo.url)
  await page.evaluate(() => {
    window.moved = []
    const { animate } = Element.prototype
    Element.prototype.animate = function (this: Element, frames, options) {
      window.moved.push(`${this.id} ${(options as KeyframeAnimationOptions).easing}`)
      return animate.call(this, frames, options)
    }
  })
  await add(page, 'Brief', 1, 0.5)
  await expect.poll(() => numberIn(page.locator('#slices'))).toBeGreaterThan(0)
  await page.getByRole('list', { name: 'Weather' }).scrollIntoViewIfNeeded()
  await expect.poll(() => page.evaluate(() => window.moved.length)).toBeGreaterThan(5)
  expect(new Set(await page.evaluate(() => window.moved))).toEqual(new Set([' steps(8)']))
})

test('nothing is cut off, however narrow', async ({ page }) => {
  await visit(page, demo.url)
  await add(page, 'Margaret', 199.99, 95)
  await expect(page.getByRole('list', { name: 'Last changes' })).toContainText('Margaret 199.99')
  for (const width of [320, 360, 390, 480, 700, 1024]) {
    await page.setViewportSize({ width, height: 800 })
    const places = `button, .switch span, td, .mark${width < 360 ? '' : ', .pick small, .feed span'}`
    const cut = await page
      .locator(places)
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent))
    expect(cut, `at ${width}`).toEqual([])
  }
})

test('a text that is very long breaks nothing', async ({ page }) => {
  await visit(page, demo.url)
  await add(page, 'Wolfeschlegelsteinhausenbergerdorff'.repeat(6), 1.5e29)
  await expect(documents(page)).toHaveCount(9)
  for (const width of [320, 360, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    const outside = await page
      .locator('main *')
      .evaluateAll((all) =>
        all
          .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)
          .map((one) => one.outerHTML),
      )
    expect(outside, `at ${width}`).toEqual([])
    const over = await page.locator('.collections *').evaluateAll((all) => {
      const { right } = document.querySelector('.collections')!.getBoundingClientRect()
      return all.filter((one) => one.getBoundingClientRect().right > right).length
    })
    expect(over, `at ${width}`).toBe(0)
  }
})

for (const width of [1280, 360]) {
  test(`the page keeps still while it loads, ${width} pixels wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 })
    await page.addInitScript(() => {
      window.shift = 0
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shift += (entry as unknown as { value: number }).value
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await visit(page, demo.url)
    await expect(page.getByText('Works offline')).toBeVisible()
    await expect(page.locator('#explained')).toHaveText(/8 records read/)
    await expect(page.locator('#collections')).toHaveText(/8 documents/)
    // https://web.dev/articles/cls calls 0.1 good.
    expect(await page.evaluate(() => window.shift)).toBeLessThan(0.1)
  })
}

test.describe('with fingers', () => {
  test.use({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true })

  test('everything is large enough to hit, and no field makes the phone zoom in', async ({ page }) => {
    await visit(page, demo.url)
    const small = await page
      .locator('main button, main select, main label:has([type=radio], [type=checkbox]), main input[type=number]')
      .evaluateAll((all) =>
        all.filter((one) => one.getBoundingClientRect().height < 40).map((one) => one.outerHTML.slice(0, 100)),
      )
    expect(small).toEqual([])
    const letters = await page
      .locator('select, input:not([type=radio], [type=checkbox])')
      .evaluateAll((all) => all.map((one) => Number.parseFloat(getComputedStyle(one).fontSize)))
    expect(Math.min(...letters)).toBeGreaterThanOrEqual(16)
  })
})

test('what is chosen can be seen where the browser has taken the colours away', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await visit(page, demo.url)
  const background = (of: string) => page.locator(of).evaluate((one) => getComputedStyle(one).backgroundColor)
  await expect(lit(page)).toHaveCount(1)
  expect(await background('td[aria-current]')).not.toBe(await background('td[data-cell="never off"]'))
  expect(await background('#setting :checked + span')).not.toBe(await background('#setting [value=off] + span'))
  expect(await background('#collections :checked + span')).not.toBe(
    await background('#collections [value=orders] + span'),
  )
})
