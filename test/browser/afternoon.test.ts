import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { listen, openBrowser } from './browser.js'

/** The application: it shows the first pets, with a limit from its address. The fixed version waits for Retry-After. */
const appOf = (limit: number, isMended: boolean) => `
const { PETSTORE_BASE_URL: base, PETSTORE_API_KEY: key } = process.env
let backoff = 0.2
for (let attempt = 0; ; attempt++) {
  const answer = await fetch(base + '/pets?limit=${limit}', { headers: { authorization: 'Bearer ' + key } })
  if (answer.ok) { console.log((await answer.json()).length + ' pets'); break }
  if (!${isMended} || attempt === 20 || answer.status === 400) { console.error('broken: ' + answer.status); process.exit(1) }
  const wait = Number(answer.headers.get('retry-after') ?? (backoff *= 2))
  await new Promise((resolve) => setTimeout(resolve, wait * 1000))
}`

const run = async (file: string, env: Record<string, string>, ...before: readonly string[]) => {
  const [command = process.execPath, ...args] = [...before, process.execPath, file]
  try {
    const { stdout } = await promisify(execFile)(command, args, { env: { ...process.env, ...env }, timeout: 90_000 })
    return { code: 0, out: stdout }
  } catch (error) {
    const { code, stderr }: { code?: number; stderr?: string } = Object(error)
    return { code, out: stderr ?? '' }
  }
}

describe.skipIf(!HAS_CHROMIUM)('a front-end developer', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it('finds a bug in the application, provokes another, fixes it, and tests that in CI', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-afternoon-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const app = join(folder, 'app.mjs')
    // With this seed, the storm refuses two requests. Each takes a second.
    const sandbox = await startSandbox({ seed: 4 })
    onTestFinished(() => sandbox.close())
    const env = { PETSTORE_BASE_URL: sandbox.baseUrl, PETSTORE_API_KEY: 'sandbox' }
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    onTestFinished(() => page.close())
    const complaints = listen(page, new URL(sandbox.baseUrl).origin)
    await page.goto(`${sandbox.controlUrl}/`)
    const detail = page.locator('.detail')
    const row = (text: string) => page.locator('.exchange button', { hasText: text }).first()

    // The request fails, and its row shows why.
    writeFileSync(app, appOf(101, false))
    expect(await run(app, env)).toEqual({ code: 1, out: 'broken: 400\n' })
    await page.getByRole('searchbox', { name: 'Filter' }).fill('4xx')
    await row('limit=101').locator('.path').click()
    await row('limit=101').getByText('limit must be a whole number from 1 to 100').waitFor()
    await detail.getByText('Limit must be a whole number from 1 to 100', { exact: false }).first().waitFor()

    // A corrected request works.
    await detail.getByRole('button', { name: 'Edit and replay' }).click()
    const form = page.getByRole('dialog', { name: 'Edit and resend' })
    await form.getByLabel('Path and query').fill('/v1/pets?limit=100')
    await form.getByRole('button', { name: 'Send' }).click()
    await detail.getByRole('heading', { name: '200' }).waitFor()
    await page.getByRole('button', { name: 'Reset space' }).click()
    await page.getByRole('searchbox', { name: 'Filter' }).fill('')

    // The application fails on faults.
    writeFileSync(app, appOf(100, false))
    expect((await run(app, env)).out).toBe('60 pets\n')
    await row('limit=100').locator('.path').click()
    await detail.getByRole('button', { name: 'Make this fail' }).click()
    await page.getByLabel('Times').fill('2')
    await page.getByRole('button', { name: 'Add fault' }).click()
    await page.getByText('listPets:503*2', { exact: true }).waitFor()
    expect(await run(app, env)).toEqual({ code: 1, out: 'broken: 503\n' })
    await page.getByRole('button', { name: 'Reset space' }).click()

    // The fixed version handles them, and follows the rules.
    writeFileSync(app, appOf(100, true))
    await page.getByLabel('Times').fill('2')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('listPets')
    await page.getByRole('button', { name: 'Add fault' }).click()
    await page.getByText('listPets:503*2', { exact: true }).waitFor()
    await page.getByLabel('Refused, %').fill('40')
    await page.getByLabel('For', { exact: true }).fill('5m')
    await page.getByRole('button', { name: 'Start storm' }).click()
    await page
      .getByRole('region', { name: 'In effect' })
      .getByText(/^storm 40 % · /)
      .waitFor()
    // Exports the faults before they are used up.
    await page.getByRole('button', { name: 'Export settings…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Current settings' })
    const scenario = String(await dialog.locator('pre').textContent())
    await dialog.getByRole('button', { name: 'Close' }).click()
    expect((await run(app, env)).out).toBe('60 pets\n')
    await page.getByRole('tab', { name: 'Conduct' }).click()
    await page.getByText(/^All \d+ requests followed the service's rules\.$/).waitFor()

    // In CI, the test passes for the fixed version only.
    writeFileSync(join(folder, 'bad-day.yaml'), scenario)
    const cli = [process.execPath, join(packageDirectory, 'bin/petstore-sandbox.js')]
    const exec = [
      ...cli,
      'exec',
      '--seed',
      '4',
      '--scenario',
      join(folder, 'bad-day.yaml'),
      '--fail-on',
      'violation',
      '--',
    ]
    expect(await run(app, {}, ...exec)).toEqual({ code: 0, out: '60 pets\n' })
    writeFileSync(app, appOf(100, false))
    expect(await run(app, {}, ...exec)).toMatchObject({ code: 1 })
    expect(complaints).toEqual({ console: [], foreignRequests: [] })
  })

  it('keeps the fields of its forms while the sandbox is down, and then shows no outdated error', async () => {
    const sandbox = await startSandbox({ seed: 1 })
    const { port, origin } = new URL(sandbox.baseUrl)
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    onTestFinished(() => page.close())
    await page.goto(`${origin}/__sandbox/`)
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByLabel('Refused, %').fill('25')
    await page.getByLabel('For', { exact: true }).fill('90s')
    await sandbox.close()
    await page.getByText('The sandbox is not responding.').waitFor()
    await page.getByRole('button', { name: 'Start storm' }).click()
    const error = page.locator('#storm').getByRole('alert')
    await error.getByText('The sandbox is not responding.').waitFor()
    const again = await startSandbox({ seed: 1, port: Number(port) })
    onTestFinished(() => again.close())
    await page.getByText('live', { exact: true }).waitFor()
    await error.waitFor({ state: 'detached' })
    expect(await page.getByText('The sandbox is not responding.').count()).toBe(0)
    expect(await page.getByLabel('Refused, %').inputValue()).toBe('25')
    await page.getByRole('button', { name: 'Start storm' }).click()
    await page.getByRole('region', { name: 'In effect' }).getByText('storm 25 %').waitFor()
    expect(await again.storm.show()).toMatchObject({ rate: 0.25, for: '90s' })
  })
})
