import { expect, it, onTestFinished } from 'vitest'
import { openBrowser } from '../browser/browser.js'
import { follow } from './project.js'

it('a React page beside Vite lists pets, has to wait, and lists them again', async () => {
  const { scripts, run, origin, shop } = await follow('vite', 'shop')
  const [start = '', storm = 'npx petstore-sandbox control storm start'] = scripts
  const vite = run(start)
  await vite.says(new RegExp(`Local: +${shop}/`))

  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  const says = (notice: RegExp) => page.getByRole('status').filter({ hasText: notice }).waitFor({ state: 'attached' })
  await page.goto(shop)
  await page.getByRole('listitem').nth(19).waitFor()
  await says(/^$/)

  // In a second terminal. The documents use the default port of `control`.
  const beside = (script: string) => run(`export PETSTORE_SANDBOX_URL=${origin}/__sandbox\n${script}`).code
  expect(await beside(storm)).toBe(0)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await says(/^429: again in 1 s$/)
  expect(await beside('npx petstore-sandbox control storm stop')).toBe(0)
  await says(/^$/)
  expect(await page.getByRole('listitem').count()).toBe(20)
  await browser.close()

  await vite.interrupt()
  expect(vite.said()).toMatch(
    / 429 {2}GET .* storm .*\n {2}→ retry in 1 s, or: npx petstore-sandbox control storm stop/,
  )
  expect(vite.said()).toMatch(/conduct: no violations, no warnings/)
  for (const address of [shop, origin]) await expect(fetch(address)).rejects.toThrow()
})
