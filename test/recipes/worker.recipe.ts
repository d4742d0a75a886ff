import { expect, it, onTestFinished } from 'vitest'
import { openBrowser } from '../browser/browser.js'
import { follow } from './project.js'

declare global {
  /** The events on the page, and the expected ones. */
  var conditions: () => Promise<{ readonly seen: object; readonly expected: object }>
}

it('behind MSW’s worker a page of React and Vite runs under all conditions of a sandbox in it', async () => {
  const { scripts, run, shop } = await follow('worker', 'shop')
  const vite = run(`${scripts.join('\n')}; VITE_API_URL=/api/v1 npx vite`)
  await vite.says(new RegExp(`Local: +${shop}/`))

  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${shop}/mocked.html`)
  await page.getByRole('listitem').nth(19).waitFor()
  const { seen, expected } = await page.evaluate(() => conditions())
  expect(seen).toEqual(expected)
  await browser.close()
  await vite.interrupt()
})
