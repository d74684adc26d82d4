import { expect, test } from '@playwright/test'
import { serveDemo } from './support/demo.js'

let demo: Awaited<ReturnType<typeof serveDemo>>

test.beforeAll(async () => {
  demo = await serveDemo()
})
test.afterAll(() => demo.stop())

test('a person adds notes, sees one expire by itself and changes the setting', async ({ page }) => {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(demo.url)
  await expect(page).toHaveTitle('mayfly')
  const notes = page.getByRole('list', { name: 'Notes' }).getByRole('listitem')

  await page.getByLabel('Note', { exact: true }).fill('Permanent')
  await page.getByLabel('Lives for').selectOption('ever')
  await page.getByRole('button', { name: 'Add' }).click()
  await expect(notes).toHaveCount(1)
  await page.getByLabel('Note', { exact: true }).fill('Short-lived')
  await page.getByLabel('Lives for').selectOption('5 seconds')
  await page.getByRole('button', { name: 'Add' }).click()
  await expect(notes).toHaveText([/Short-lived\d s/, /Permanentfor ever/])

  await expect(notes).toHaveText([/Permanentfor ever/], { timeout: 10_000 })
  await page.getByLabel('Time to live of the collection').selectOption('Off')
  await page.reload()
  await expect(notes).toHaveText([/Permanentfor ever/])
  await expect(page.getByLabel('Time to live of the collection')).toHaveValue('off')
  expect(problems).toEqual([])
})
