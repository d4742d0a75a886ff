import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { testIo } from '../cli/test-io.js'
import { ncsaLine } from '../simulate/traffic.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { checkLooks, useBrowser } from './browser.js'

const AT = Date.parse('2026-03-01T10:00:00Z')

/** Runs in the page: shapes that are drawn outside of their plot. */
const SHAPES_OUTSIDE = `[...document.querySelectorAll('svg')].flatMap((svg) => {
  const frame = svg.getBoundingClientRect()
  return [...svg.querySelectorAll('path, text, rect')]
    .filter((shape) => {
      const box = shape.getBoundingClientRect()
      return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
    })
    .map((shape) => shape.outerHTML)
})`

/** A report on an hour of two keys; one was refused. */
async function reportFile(): Promise<string> {
  const io = testIo()
  const lines = Array.from({ length: 3600 }, (_, second) =>
    ncsaLine({ at: AT + second * 1000, key: second % 9 === 0 ? 'quiet & <small>' : 'busy', target: '/v1/pets/1' }),
  )
  writeFileSync(join(io.cwd, 'access.log'), lines.join('\n'))
  expect(await runCli(['simulate', 'access.log', '--scale', '1..10', '-o', 'html'], io)).toBe(0)
  const file = join(io.cwd, 'report.html')
  writeFileSync(file, io.stdout.text)
  return file
}

describe.skipIf(!HAS_CHROMIUM)('the page of a simulation', () => {
  const browser = useBrowser()

  it('opens from the disk, light and dark, loads nothing, and is accessible', async () => {
    const url = pathToFileURL(await reportFile()).href
    const requests: string[] = []
    const page = await (await browser.newContext(url)).newPage()
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(url)
    expect(await page.getByRole('heading').allTextContents()).toEqual([
      'This traffic on each plan',
      'Plans',
      'Keys',
      'If it grew',
      'busy',
      'quiet & <small>',
      'Conduct',
    ])
    // The policy allows the style.
    const background = 'getComputedStyle(document.body).backgroundColor'
    for (const [colorScheme, colour] of Object.entries({ light: 'rgb(244, 246, 246)', dark: 'rgb(16, 21, 23)' })) {
      await page.emulateMedia({ colorScheme: colorScheme as 'light' | 'dark' })
      expect(await page.evaluate(background)).toBe(colour)
    }
    expect(await page.evaluate(SHAPES_OUTSIDE)).toEqual([])
    expect(requests).toEqual([url])
    const unguarded = await (await browser.newContext(url, { bypassCSP: true })).newPage()
    await unguarded.goto(url)
    await checkLooks(unguarded, 'the report')
  })
})
