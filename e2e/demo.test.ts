import { expect, test } from '@playwright/test'
import type { Page } from '@playwright/test'
import { add, choose, clear, documents, lit, numberIn, own, secondTab, setting, visit } from './support/demo-page.js'
import { serveDemo } from './support/demo.js'
import { withDataForbidden } from './support/forbidden.js'

declare global {
  interface Window {
    /** What the list of documents showed, whenever one came or went. */
    lists: string[]
    /** How far a ring of the list had run down, and what its row said, whenever one moved. */
    rings: { offset: number; text: string }[]
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
  // The browser itself reports every request that the test has cut off.
  expect(problems.filter((text) => !/ERR_(INTERNET_DISCONNECTED|CONNECTION_REFUSED)/.test(text))).toEqual([])
})

/** Keeps what the list shows: on a busy machine, what lasts a second may be over before anybody looks. */
async function keepList(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.lists = []
    window.rings = []
    const list = document.querySelector('#list')!
    new MutationObserver(() => {
      window.lists.push([...list.children].map(({ textContent }) => textContent).join('\n'))
    }).observe(list, { childList: true })
    new MutationObserver((records) => {
      for (const { target } of records) {
        const { style, parentElement } = target as SVGElement
        const text = parentElement!.closest('li')!.textContent
        window.rings.push({ offset: Number.parseFloat(style.strokeDashoffset), text })
      }
    }).observe(list, { subtree: true, attributeFilter: ['style'] })
  })
}

/** How many points of the chart have a colour of the page. */
function drawn(page: Page, name: string): Promise<number> {
  return page.locator('#chart canvas').evaluate((canvas: HTMLCanvasElement, variable) => {
    const css = getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`)
    const [red, green, blue] = css.match(/[0-9a-f]{2}/gi)!.map((part) => Number.parseInt(part, 16))
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
    let points = 0
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) points++
    }
    return points
  }, name)
}

test('a setting acts at once, and the matrix lights the rule of the selected document', async ({ page }) => {
  await visit(page, demo.url)
  await clear(page)
  await add(page, 'Ada', 7)
  await expect(own(page)).toContainText('Time to live of Ada 7')
  await setting(page).getByLabel('n =').fill('600')
  await own(page).getByRole('radio', { name: 'No ttl' }).focus()

  const seen: string[] = []
  for (const column of ['Off', 'On (no default)', 'On, n seconds']) {
    await choose(setting(page), column)
    for (const row of ['No ttl', '−1, for ever', 't seconds']) {
      await choose(own(page), row)
      const rowName = { 'No ttl': 'absent', '−1, for ever': 'never', 't seconds': 'seconds' }[row]
      const columnName = { Off: 'off', 'On (no default)': 'none', 'On, n seconds': 'seconds' }[column]
      await expect(lit(page)).toHaveAttribute('data-cell', `${rowName} ${columnName}`)
      seen.push(await lit(page).innerText())
    }
  }
  const [never, later] = ['never', '20 s after its last write']
  expect(seen).toEqual([never, never, never, never, never, later, '10 min after its last write', never, later])

  await choose(own(page), 'No ttl')
  await choose(setting(page), 'Off')
  await expect(documents(page)).toContainText(['for ever'])
  await setting(page).getByRole('radio', { name: 'On, n seconds' }).check({ force: true })
  await setting(page).getByLabel('n =').fill('0.5')
  await setting(page).getByLabel('n =').press('Enter')
  await expect(documents(page)).toHaveCount(0)
  await expect(page.getByText('Ada 7 does not exist any more.')).toBeVisible()
  await page.getByRole('radio', { name: /^invoices/ }).check({ force: true })
  await expect(documents(page)).toHaveCount(8)
  await expect(setting(page).getByRole('radio', { name: 'Off' })).toBeChecked()
})

test('a document is added, edited, touched, deleted, and leaves by itself at zero', async ({ page }) => {
  await visit(page, demo.url)
  await clear(page)
  await add(page, 'Long', 2, 1000)
  await expect(documents(page)).toHaveText([/Long.*17 min/])
  await keepList(page)
  await add(page, 'Short', 1, 1)
  const [both, one] = [/^Short.*\n.*Long.*17 min/, /^Long.*17 min/].map((text) => expect.stringMatching(text))
  await expect.poll(() => page.evaluate(() => window.lists)).toEqual([both, one])

  await page.getByRole('button', { name: 'Edit Long 2' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit Long 2' })
  await dialog.getByLabel('Customer').fill('Longer')
  await dialog.getByLabel('t, seconds').fill('100')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const hasRestarted = () =>
    page.evaluate(() => window.rings.some(({ offset, text }) => offset < 2 && /Longerttl 100.*(100|99) s/.test(text)))
  await expect.poll(hasRestarted).toBe(true)

  const ring = documents(page).locator('.arc')
  const offset = () => ring.evaluate((arc) => Number.parseFloat(getComputedStyle(arc).strokeDashoffset))
  await expect(documents(page)).toHaveText([/[1-9]\d s/])
  await expect.poll(offset).toBeGreaterThan(2)
  await page.evaluate(() => (window.rings = []))
  await page.getByRole('button', { name: 'Touch Longer 2' }).click()
  await expect.poll(hasRestarted).toBe(true)
  await page.getByRole('button', { name: 'Delete Longer 2' }).click()
  await expect(page.getByText('Nothing here.')).toBeVisible()

  // One that expires while it is edited, but not before the editor is open.
  await add(page, 'Brief', 3, 3)
  await page.getByRole('button', { name: 'Edit Brief 3' }).click()
  await expect(documents(page)).toHaveCount(0)
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'It has expired meanwhile.' })).not.toHaveClass('sr')
  await expect(page.getByRole('region', { name: 'Documents' })).toBeFocused()
})

test('a number of seconds that is none is refused by the form', async ({ page }) => {
  await visit(page, demo.url)
  const n = setting(page).getByLabel('n =')
  for (const text of ['', '0', '1e12']) {
    await n.fill(text)
    await n.press('Enter')
    expect(await n.evaluate((input: HTMLInputElement) => input.validity.valid)).toBe(false)
  }
  await expect(page.getByRole('alert')).toBeEmpty()
  await expect(page.getByRole('radio', { name: /^baskets/ })).toHaveAccessibleName(/on, 60 s/)

  // Whoever has yet to give the number is not interrupted by what else happens.
  await choose(setting(page), 'Off')
  await expect(page.getByRole('radio', { name: /^baskets/ })).toHaveAccessibleName(/off/)
  await n.evaluate((input: HTMLInputElement) => (input.value = ''))
  await choose(setting(page), 'On, n seconds')
  await add(page, 'Ada', 8)
  await expect(page.getByRole('radio', { name: /^baskets/ })).toHaveAccessibleName(/9 documents/)
  await expect(setting(page).getByRole('radio', { name: 'On, n seconds' })).toBeChecked()
  await n.fill('150')
  await n.press('Enter')
  await expect(page.getByRole('radio', { name: /^baskets/ })).toHaveAccessibleName(/on, 150 s/)
  await expect(lit(page)).toHaveText('150 s after its last write')
})

test('filter and sort go through the query API, which explains itself in words', async ({ page }) => {
  await visit(page, demo.url)
  const filter = page.getByRole('form', { name: 'Filter and sort' })
  const [query, words] = [page.locator('#query'), page.locator('#explained')]
  await filter.getByRole('combobox', { name: 'Customer' }).selectOption('Grace')
  await expect(documents(page)).toHaveText([/Grace/])
  await expect(query).toHaveText(
    "baskets.query({ where: { customer: 'Grace' }, orderBy: 'placedAt', order: 'desc', limit: 100 })",
  )
  await expect(words).toHaveText(
    'Answered by the index customer+placedAt, newest first: 1 record read, 1 returned, nothing sorted in memory.',
  )
  await filter.getByRole('combobox', { name: 'Customer' }).selectOption('anyone')
  await filter.getByLabel('Total from').fill('50')
  await filter.getByLabel('Sort by').selectOption('lowest total')
  await expect(words).toHaveText(
    /^Answered by the index total, lowest first: \d records? read, .*nothing sorted in memory.$/,
  )
  const totals = await documents(page).evaluateAll((items) =>
    items.map((item) => Number(/([\d.]+\.\d\d)/.exec(item.textContent)![1])),
  )
  expect(totals).toEqual(totals.toSorted((a, b) => a - b))
  expect(Math.min(...totals)).toBeGreaterThanOrEqual(50)
  await filter.getByLabel('Sort by').selectOption('last written')
  await expect(words).toHaveText(/sorted in memory\.$/)
  await filter.getByLabel('Total from').fill('100000')
  await expect(page.getByText('No document matches.')).toBeVisible()
})

test('of 10,000 documents the first are shown, the disk is cleaned in idle slices, and requests go first', async ({
  page,
}) => {
  await visit(page, demo.url)
  await page.getByRole('button', { name: 'Generate 10,000' }).click()
  await expect(page.getByText(/^10,000 documents written/)).toBeAttached({ timeout: 30_000 })
  await expect(documents(page)).toHaveCount(100)
  await expect(page.getByText(/^the first 100 of (9|10),/)).toBeVisible()

  // Those that are not shown are counted too, in every place alike.
  const counted = () =>
    page.evaluate(() =>
      ['#tally', '#collections small'].map(
        (place) => / ([\d,]+)( documents)?$/.exec(document.querySelector(place)!.textContent)![1],
      ),
    )
  await expect.poll(async () => Number((await counted())[0]!.replace(',', ''))).toBeLessThan(9900)
  const [listed, live] = await counted()
  expect(listed).toBe(live)
  const filter = page.getByRole('form', { name: 'Filter and sort' })
  await filter.getByRole('combobox', { name: 'Customer' }).selectOption('Grace')
  await expect(page.getByText(/^the first 100 of 1,\d\d\d$/)).toBeVisible()
  await filter.getByRole('combobox', { name: 'Customer' }).selectOption('anyone')

  const figure = (id: string) => page.locator(`#${id}`)
  await expect.poll(() => numberIn(figure('live'))).toBeGreaterThan(5000)
  await expect.poll(() => numberIn(figure('deleted')), { timeout: 20_000 }).toBeGreaterThan(50)
  const slices = await numberIn(figure('slices'))
  await expect.poll(() => numberIn(figure('slices'))).toBeGreaterThan(slices)
  await expect(page.getByRole('img', { name: /live, .* expired and waiting, .* deleted/ })).toBeVisible()
  await expect(page.getByRole('meter', { name: 'Storage used' })).toHaveAttribute(
    'aria-valuetext',
    /MB used of the .*B/,
  )

  // The curve of what lives, and a stroke for each slice, in the colours that the page says.
  for (const name of ['live', 'tab-1']) await expect.poll(() => drawn(page, name)).toBeGreaterThan(20)

  await clear(page)
  await page.getByRole('button', { name: 'Block the main thread for two seconds' }).click()
  await expect(page.locator('#blocked')).toHaveText(
    /^While the thread was blocked, nothing was deleted\. Then 50 requests were answered within \d+ ms; deletion began after \d+ ms and was done after [\d,]+ ms, in \d+ slices?\.$/,
    { timeout: 30_000 },
  )
  const words = await page.locator('#blocked').innerText()
  const [, answered, began] = /within (\d+) ms; deletion began after (\d+) ms/.exec(words)!.map(Number)
  expect(answered, words).toBeLessThanOrEqual(began!)
  for (const kind of ['blocked', 'request', 'slice']) await expect(page.locator(`#lanes .${kind}`)).not.toHaveCount(0)
})

test('two tabs stay in step, and both show which one is deleting', async ({ page, context }) => {
  await visit(page, demo.url)
  const second = await secondTab(context, page)
  const tabs = (of: Page) => of.getByRole('list', { name: 'Open tabs' }).getByRole('listitem')
  for (const one of [page, second]) await expect(tabs(one)).toHaveText([/Tab A/, /Tab B/])

  await clear(second)
  await expect(documents(page)).toHaveCount(0)
  await add(page, 'Both', 3)
  await expect(documents(second)).toHaveText([/Both/])
  await choose(setting(second), 'On (no default)')
  await expect(setting(page).getByRole('radio', { name: 'On (no default)' })).toBeChecked()
  await expect(documents(page)).toHaveText([/Both.*for ever/])

  await add(page, 'Brief', 4, 0.5)
  await expect(documents(second)).toHaveText([/Both/])
  for (const one of [page, second]) await expect(tabs(one).filter({ hasText: /[1-9]\d* slice/ })).not.toHaveCount(0)
  await page.getByRole('button', { name: 'Generate 10,000' }).click()
  for (const one of [page, second]) {
    await expect(tabs(one).filter({ hasText: 'deleting' })).toHaveCount(1, { timeout: 30_000 })
  }
  await second.close()
  await expect(tabs(page)).toHaveText([/Tab A, this one/])
})

test('the API’s list is fresh, then stale, and offline when the network is cut', async ({ page }) => {
  await visit(page, demo.url)
  const list = page.getByRole('list', { name: 'Weather' })
  const marks = list.locator('.mark')
  await list.scrollIntoViewIfNeeded()
  await expect(marks).toHaveText(Array<string>(6).fill('fresh'))
  await expect(list.getByText(/^cache · \d+ ms/).first()).toBeVisible()
  await expect(marks.filter({ hasText: 'stale' }).first()).toBeVisible({ timeout: 10_000 })
  await expect(list.getByText(/^(cache|network) · .* (0|1|2) s old/).first()).toBeVisible()

  await page.getByRole('switch', { name: 'Cut the network' }).check({ force: true })
  await expect(marks).toHaveText(Array<string>(6).fill('offline'), { timeout: 20_000 })
  await expect(list.getByRole('listitem').first()).toContainText(/°C.*cache, no network/)
  await expect(page.locator('#traffic')).toContainText('failed')
  await page.getByRole('switch', { name: 'Cut the network' }).uncheck({ force: true })
  await expect(marks).toHaveText(Array<string>(6).fill('fresh'))

  await page.getByRole('switch', { name: 'Ask every second' }).uncheck({ force: true })
  await expect(list.getByText(/^(not asked for again|kept in case the network fails)$/)).toHaveCount(6)
  const traffic = await page.locator('#traffic').innerText()
  await page.getByRole('button', { name: 'Load the list' }).click()
  await expect(page.locator('#traffic')).not.toHaveText(traffic)
})

test('the comparison runs here, checks what it wrote, and is drawn as bars', async ({ page }) => {
  await visit(page, demo.url)
  await page.getByRole('button', { name: 'Run the comparison' }).click()
  await expect(page.getByText('Done. Everything was read back and was right.')).toBeVisible({ timeout: 50_000 })
  const figures = page.locator('#bars figure')
  await expect(figures).toHaveCount(4)
  for (const figure of await figures.all()) {
    await expect(figure.getByRole('listitem')).toHaveText([
      /^mayfly[\d.]+ ms$/,
      /^Dexie[\d.]+ ms[\d.]+×$/,
      /^idb-keyval[\d.]+ ms[\d.]+×$/,
      /^localForage[\d.]+ ms[\d.]+×$/,
    ])
  }
})

test('it works without a network after the first visit, and can be installed', async ({ page, context }) => {
  await visit(page, demo.url)
  await expect(page.getByText('Works offline')).toBeVisible()
  const manifest = await page.evaluate(async () => {
    const { href } = document.querySelector<HTMLLinkElement>('link[rel=manifest]')!
    const { name, start_url, display, icons } = await (await fetch(href)).json()
    const found = await Promise.all(icons.map(async ({ src }: { src: string }) => (await fetch(new URL(src, href))).ok))
    return { name, start_url, display, found }
  })
  expect(manifest).toEqual({
    name: 'mayfly: documents with a time to live',
    start_url: './',
    display: 'standalone',
    found: [true, true, true, true],
  })
  await add(page, 'Kept', 5, 1000)
  await expect(documents(page)).toHaveText([/Kept/, ...Array<RegExp>(8).fill(/ttl/)])

  const { installabilityErrors } = await (await context.newCDPSession(page)).send('Page.getInstallabilityErrors')
  expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([])

  await context.setOffline(true)
  await page.reload()
  await expect(page.getByText('Offline, and works')).toBeVisible()
  await expect(documents(page).first()).toHaveText(/Kept/)
  await page.getByRole('button', { name: 'Touch Kept 5' }).click()
  await add(page, 'Written offline', 6)
  await expect(documents(page).first()).toHaveText(/Written offline/)
  await page.getByRole('button', { name: 'Run the comparison' }).click()
  await expect(page.locator('#speed-status')).toContainText('round')
  // Another page at this address, an app's own say, is not answered with this one.
  await expect(page.goto(new URL('elsewhere.html', demo.url).href)).rejects.toThrow('ERR_')
})

test('it works when the server is gone for good, in a second tab too', async ({ page, context }) => {
  const server = await serveDemo()
  await visit(page, server.url)
  await expect(page.getByText('Works offline')).toBeVisible()
  const marks = page.getByRole('list', { name: 'Weather' }).locator('.mark')
  await expect(marks).toHaveText(Array<string>(6).fill('fresh'))
  await add(page, 'Kept', 5, 1000)
  await expect(documents(page).first()).toHaveText(/Kept/)
  await page.goto('about:blank')
  await server.stop()

  await page.goto(server.url)
  await expect(page.getByText('Offline, and works')).toBeVisible()
  await expect(documents(page).first()).toHaveText(/Kept/)
  const second = await secondTab(context, page)
  await expect(documents(second).first()).toHaveText(/Kept/)
  await page.bringToFront()
  await marks.first().scrollIntoViewIfNeeded()
  await expect(marks).toHaveText(Array<string>(6).fill('offline'))
})

test('it can be installed, however early the browser says so', async ({ page }) => {
  await page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => {
      const prompt = () => document.body.setAttribute('data-prompted', '')
      dispatchEvent(Object.assign(new Event('beforeinstallprompt', { cancelable: true }), { prompt }))
    })
  })
  await visit(page, demo.url)
  const install = page.getByRole('button', { name: 'Install' })
  await install.click()
  await expect(page.locator('body')).toHaveAttribute('data-prompted')
  await page.evaluate(() => dispatchEvent(new Event('appinstalled')))
  await expect(install).toBeHidden()
})

test('where somebody has forbidden sites to save data, it works in memory and says so', async () => {
  await withDataForbidden(async (context) => {
    context.on('weberror', (error) => problems.push(error.error().message))
    const page = await context.newPage()
    await visit(page, demo.url)
    await expect(page.getByRole('status').filter({ hasText: 'all of this is in memory' })).not.toHaveClass('sr')
    await clear(page)
    await add(page, 'Brief', 4, 0.5)
    await expect(page.getByText('Brief 4 does not exist any more.')).toBeVisible()
  })
})

test('what goes wrong is shown until it is dismissed', async ({ page }) => {
  await page.route('**/assets/engine-*.js', (route) => route.abort())
  await page.goto(demo.url)
  const alert = page.getByRole('alert')
  await expect(alert).not.toBeEmpty()
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await expect(alert).toBeEmpty()
  await expect(page.getByRole('button', { name: 'Dismiss' })).toBeHidden()
  problems = problems.filter((text) => !text.includes('ERR_FAILED'))
})
