import { expect } from '@playwright/test'
import type { BrowserContext, Locator, Page } from '@playwright/test'

/** The parts of the demo’s page, and what a person does there. */
export const documents = (page: Page) => page.getByRole('list', { name: 'Documents' }).getByRole('listitem')
export const setting = (page: Page) => page.getByRole('group', { name: /^Time to live of (baskets|orders|invoices)$/ })
export const own = (page: Page) => page.locator('#selected')
export const lit = (page: Page) =>
  page.getByRole('table', { name: 'When a document expires' }).locator('[aria-current=true]')
export const numberIn = async (text: Locator) => Number((await text.innerText()).replaceAll(',', ''))

export async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await expect(documents(page)).toHaveCount(8)
}

export async function choose(group: Locator, name: string): Promise<void> {
  await group.getByRole('radio', { name, exact: true }).check({ force: true })
}

export async function clear(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect(documents(page)).toHaveCount(0)
}

export async function add(page: Page, customer: string, total: number, seconds?: number): Promise<void> {
  const form = page.getByRole('form', { name: 'Add a document' })
  await form.getByLabel('Customer').fill(customer)
  await form.getByLabel('Total').fill(String(total))
  await form.getByLabel('Lives for').selectOption(seconds === undefined ? 'the default' : 't seconds')
  if (seconds !== undefined) await form.getByLabel('t, seconds').fill(String(seconds))
  await form.getByRole('button', { name: 'Add' }).click()
}

/** Opens the second tab with the page's own button. */
export async function secondTab(context: BrowserContext, page: Page): Promise<Page> {
  const [second] = await Promise.all([
    context.waitForEvent('page'),
    page.getByRole('button', { name: 'Open a second tab' }).click(),
  ])
  await expect(second.getByText('This is tab B')).toBeVisible()
  return second
}
