import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, inject, it, onTestFinished } from 'vitest'
import { openBrowser } from '../browser/browser.js'
import { follow } from './project.js'

declare global {
  /** What Storybook's page has said of its stories. */
  var __STORYBOOK_ADDONS_CHANNEL__: {
    last(event: 'storyFinished' | 'playFunctionThrewException'): readonly object[] | undefined
  }
}

it('a story runs under any conditions, and fails if it breaks a rule of conduct at the end of a storm', async () => {
  const { folder, run, shop } = await follow('storybook', 'storybook')
  for (const file of ['shop.tsx', 'api.ts', 'conditions.ts'])
    cpSync(join(inject('projects'), 'shop/src', file), join(folder, 'src', file))
  const build = run(
    'npx msw init public; VITE_API_URL=https://api.example.com/v1 npx storybook build --quiet; npx vite preview',
  )
  await build.says(new RegExp(`Local: +${shop}/`))

  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  const open = (component: string, story: string) =>
    page.goto(`${shop}/iframe.html?id=${component}--${story}&viewMode=story`)
  await open('shop', 'calm')
  await page.getByRole('listitem').nth(19).waitFor()
  await open('shop', 'storm')
  await page.getByText('429: again in 1 s').waitFor()
  await open('shop', 'after-the-storm')
  await played(page)
  expect(await page.getByRole('listitem').count()).toBe(20)
  await open('conditions', 'every')
  await played(page)
  await browser.close()
  await build.interrupt()
})

/** Waits for the end of a story, which is finished with success also if it has thrown. */
async function played(page: Page): Promise<void> {
  await page.waitForFunction(() => globalThis.__STORYBOOK_ADDONS_CHANNEL__?.last('storyFinished') !== undefined)
  const thrown = await page.evaluate(() => globalThis.__STORYBOOK_ADDONS_CHANNEL__.last('playFunctionThrewException'))
  expect(thrown).toBe(undefined)
}
