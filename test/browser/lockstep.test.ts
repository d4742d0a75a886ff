import { expect, it, onTestFinished } from 'vitest'
import type { SandboxOptions } from '../../src/index.js'
import { FAILED, useBrowser } from './browser.js'

/** `load(url)` waits as Retry-After says, and resolves with the last status. Other libraries: test/api/lockstep.test.ts. */
const CLIENT = `
globalThis.load = async (url) => {
  const response = await fetch(url, { headers: { authorization: 'Bearer sandbox' } })
  if (response.status !== 429) return response.status
  await new Promise((resolve) => setTimeout(resolve, response.headers.get('retry-after') * 1000))
  return load(url)
}`

const browser = useBrowser()

/** A page whose clock stands; otherwise it runs in real time between the steps. */
async function open(sandbox: SandboxOptions) {
  const opened = await browser.open({ sandbox, path: '/health', allowed: FAILED, isOwn: true })
  const { page } = opened
  await page.clock.install({ time: 0 })
  await page.clock.pauseAt(3_600_000)
  await page.reload()
  await page.evaluate(CLIENT)
  onTestFinished(() => page.close())
  return opened
}

it("ends a wait until the next day when Playwright's clock is advanced with the sandbox's, and is never early", async () => {
  const { sandbox, page } = await open({ limits: '1/day' })
  const load = () => page.evaluate<number>(`load('${sandbox.baseUrl}/pets')`)
  expect(await load()).toBe(200)
  const second = load()
  await expect.poll(async () => (await sandbox.requests({ status: 429 })).length).toBe(1)
  await sandbox.clock.advance('24h', { timers: page.clock })
  expect(await second).toBe(200)
  expect((await sandbox.requests({ operation: 'listPets' })).map(({ status }) => status)).toEqual([200, 429, 200])
  expect((await sandbox.conduct()).violations).toEqual([])
})

it('fires each timer of a page when it is due, or a tenth of its wait later', async () => {
  const { sandbox, page } = await open({ limits: '60/min', freeze: true, now: '2030-01-01T00:00:00Z' })
  // By the page's clock: on a busy machine, a request arrives when the clocks have moved on.
  await page.evaluate(`{
    const frame = () => requestAnimationFrame(frame)
    frame()
    const begun = Date.now()
    globalThis.fired = []
    const send = () => { fired.push(Date.now() - begun); load('${sandbox.baseUrl}/pets') }
    setTimeout(() => { send(); setTimeout(send, 1500) }, 500)
  }`)
  await sandbox.clock.advance('1m', { timers: page.clock })
  const [first = 0, second = 0, ...others] = await page.evaluate<number[]>('fired')
  expect(others).toEqual([])
  expect(first).toBeGreaterThanOrEqual(500)
  expect(first).toBeLessThanOrEqual(550)
  expect(second).toBeGreaterThanOrEqual(first + 1500)
  expect(second).toBeLessThanOrEqual(first + 1650)
  await expect.poll(async () => (await sandbox.requests({ operation: 'listPets' })).length).toBe(2)
})
