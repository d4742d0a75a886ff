import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { type Sandbox, startSandbox } from '../src/index.js'
import { packageDirectory } from '../src/system/package-files.js'

// Photographs the dashboard for the documents: a sandbox with a busy minute behind it. Needs the build, which has the page.

const FILE = join(packageDirectory, 'docs/dashboard.webp')
/** The picture is part of the package. */
const MOST_BYTES = 150_000
const LAST_SECOND = 55
const LOOK = {
  viewport: { width: 1280, height: 800 },
  colorScheme: 'light',
  timezoneId: 'UTC',
  locale: 'en-GB',
} as const

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
// The port is visible in the picture, and is the documented one.
const sandbox = await startSandbox({ port: 4010, seed: 1, now: '2026-03-01T11:59:00Z', freeze: true })
try {
  const page = await browser.newPage(LOOK)
  await page.goto(`${sandbox.controlUrl}/`)
  await page.getByText('live', { exact: true }).waitFor()
  const asked = await makeTraffic(sandbox)
  // The chart and the gauges follow at their own pace.
  await page.locator('#clock').getByText(`11:59:${LAST_SECOND}`).waitFor()
  await page.getByRole('tab', { name: 'Keys' }).click()
  await page.getByText(/^Banned, /).waitFor()
  for (const { key, minute } of await sandbox.keys.list())
    await page.locator(`[role=meter][aria-label="${key}, minute"][aria-valuenow="${minute.remaining}"]`).waitFor()
  await page.waitForFunction((all) => {
    const label = document.querySelector('[role=img][aria-label^=Requests]')?.getAttribute('aria-label') ?? ''
    const counts = label.replace(/^.*?: /, '').matchAll(/(?:^|, )(\d+) /g)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0) === all
  }, asked)
  const picture = await photograph(page)
  if (picture.length > MOST_BYTES) throw new Error(`The picture has ${picture.length} bytes, more than ${MOST_BYTES}.`)
  await writeFile(FILE, picture)
  process.stdout.write(`${FILE}: ${picture.length} bytes\n`)
} finally {
  await browser.close()
  await sandbox.close()
}

/** A minute of various clients, one second of the sandbox's clock at a time. @returns the number of requests */
async function makeTraffic({ baseUrl, clock, storm, faults }: Sandbox): Promise<number> {
  let asked = 0
  const ask = async (key: string, path: string, body?: object) => {
    asked++
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const response = await fetch(
      baseUrl + path,
      body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
    )
    await response.arrayBuffer()
  }
  for (let second = 0; second <= LAST_SECOND; second++) {
    if (second === 14) await storm.start({ rate: 0.6, for: '5s', retryAfter: '1s' })
    if (second === 28) await faults.set(['listPets:503@60%*5'])
    // One client is in a hurry: it spends its minute, and is banned as it does not wait.
    if (second > 44) for (let n = 0; n < 8; n++) await ask('sandbox-free', '/pets')
    for (let n = 0; n < 2 + ((second * 7) % 4); n++) await ask('sandbox-pro', `/pets?limit=${10 + 10 * n}`)
    if (second % 9 === 2) await ask('sandbox-business', '/pets?status=available')
    if (second % 13 === 3) await ask('sandbox-business', '/store/orders')
    if (second % 11 === 0) await ask('sandbox', '/pets/7')
    if (second === 37 || second === 53) await ask('sandbox', '/pets', { name: 'Rex' })
    if (second === 38 || second === 54) await ask('sandbox', '/pets', { name: 'Rex', categoryId: 1 })
    if (second < LAST_SECOND) await clock.advance('1s')
  }
  await ask('sandbox', '/pets/404')
  await ask('sandbox-revoked', '/pets')
  return asked
}

/** As WebP, which Playwright itself does not write. */
async function photograph(page: Page): Promise<Buffer> {
  // New rows are drawn with the next frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  const devtools = await page.context().newCDPSession(page)
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 90 })
  return Buffer.from(data, 'base64')
}
