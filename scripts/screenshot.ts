import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { type Sandbox, startSandbox } from '../src/index.js'
import { packageDirectory } from '../src/system/package-files.js'

// Photographs the dashboard for the documents, light and dark: three clients, of which two break the rules. Needs the
// build, which has the page.

const FILES = { light: 'docs/dashboard.webp', dark: 'docs/dashboard-dark.webp' } as const
/** Shown in the README. */
const MOST_BYTES = 60_000
const LOOK = { viewport: { width: 1280, height: 720 }, timezoneId: 'UTC', locale: 'en-GB' } as const

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
// The port is visible in the picture, and is the documented one.
const sandbox = await startSandbox({ port: 4010, seed: 1, now: '2026-03-01T11:59:00Z', freeze: true, latency: '1ms' })
try {
  await makeTraffic(sandbox)
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ ...LOOK, colorScheme })
    await page.goto(`${sandbox.controlUrl}/`)
    await page.getByText('live', { exact: true }).waitFor()
    const lane = page.locator('.lane', { hasText: 'inventory-worker' })
    await lane.getByText('Retries too early').waitFor()
    await lane.click()
    await page.locator('.exchange button', { hasText: 'in its wait' }).first().click()
    await page.locator('.chain').waitFor()
    await page.mouse.move(0, 0)
    const picture = await photograph(page)
    const file = join(packageDirectory, FILES[colorScheme])
    if (picture.length > MOST_BYTES) throw new Error(`${file} has ${picture.length} bytes, more than ${MOST_BYTES}.`)
    await writeFile(file, picture)
    process.stdout.write(`${file}: ${picture.length} bytes\n`)
    await page.close()
  }
} finally {
  await browser.close()
  await sandbox.close()
}

/** A minute of three clients, one second of the sandbox's clock at a time. */
async function makeTraffic({ baseUrl, clock, storm, faults }: Sandbox): Promise<void> {
  const ask = async (key: string, agent: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'User-Agent': agent }
    const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    await fetch(baseUrl + path, request)
      .then((response) => response.arrayBuffer())
      .catch(() => undefined)
  }
  await faults.set(['createPet:connection-reset*1,after'])
  for (let second = 0; second < 56; second++) {
    if (second === 44) await storm.start({ rate: 0.5, for: '90s', retryAfter: '4s' })
    if (second > 8 && second < 30)
      for (let n = 0; n < 3; n++) await ask('sandbox~+inventory-worker', 'node', '/pets?limit=5')
    if (second % 3 === 0 && second < 44) await ask('sandbox-pro', 'shop-frontend/2.1', '/pets?status=available')
    if (second === 45 || second === 50) await ask('sandbox-pro', 'shop-frontend/2.1', '/pets?status=available')
    if (second % 11 === 2) await ask('sandbox-business', 'csv-importer/1.0', '/pets?limit=100')
    if (second === 24 || second === 25)
      await ask('sandbox-business', 'csv-importer/1.0', '/pets', { name: 'Rex', categoryId: 1 })
    await clock.advance('1s')
  }
}

/** As WebP, which Playwright itself does not write. */
async function photograph(page: Page): Promise<Buffer> {
  // New rows are drawn with the next frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  const devtools = await page.context().newCDPSession(page)
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 50 })
  return Buffer.from(data, 'base64')
}
