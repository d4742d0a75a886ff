import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { CDPSession, Page } from 'playwright-core'
import { openBrowser } from '../browser/browser.js'
import { launch, type Running } from './contestants.js'
import { busyShare, command, newFolder, say } from './tools.js'

/**
 * `npm run bench:dashboard`: frames a second of the dashboard while requests come in, and what they cost
 * the page's main thread, as a Markdown table. Frames depend on what else the machine does; the processor
 * time of the thread does so hardly.
 *
 *     npm run bench:dashboard -- [--quick]
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const SECONDS = values.quick ? 3 : 15
const REQUESTS_A_SECOND = 200
const PETS = 10_000
const SPACES = 1_000
/** Interval of sending, several requests at once. */
const BEAT_MS = 50

interface Scene {
  readonly what: string
  readonly requestsASecond: number
  open(page: Page): Promise<void>
}

const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click()

const SCENES: readonly Scene[] = [
  { what: 'nothing happens', requestsASecond: 0, open: (page) => tab(page, 'Break it') },
  { what: 'the log', requestsASecond: REQUESTS_A_SECOND, open: (page) => tab(page, 'Break it') },
  {
    what: 'the log, filtered, an exchange open, keys beside it',
    requestsASecond: REQUESTS_A_SECOND,
    async open(page) {
      await tab(page, 'Keys')
      await page.getByRole('searchbox', { name: 'Filter' }).fill('status:200')
      await page.locator('.exchange button').first().click()
    },
  },
  {
    what: `${PETS.toLocaleString('en')} pets and ${SPACES.toLocaleString('en')} spaces beside the log`,
    requestsASecond: REQUESTS_A_SECOND,
    open: (page) => tab(page, 'Data'),
  },
]

const busy = await busyShare()
const sandbox = await launch({
  args: (port) => [
    ...[command, 'serve', '--port', String(port), '--in-memory', '--seed', '1', '--log', 'silent'],
    ...['--pets', String(PETS), '--max-spaces', String(SPACES), '--limits', '100000000/min,100000000/day'],
  ],
  cwd: newFolder(),
  basePath: '/v1',
})
for (let i = 0; i < SPACES; i++) await ask(sandbox, `sandbox~space-${i}`)
const browser = await openBrowser()
const rows: string[] = []
for (const scene of SCENES) {
  say(scene.what)
  rows.push(await measure(scene))
}
say('')
const head = `${SECONDS} s each in Chromium ${browser.version()}, which draws 60 frames a second at most; the machine was busy with other things before: ${Math.round(busy * 100)} %`
const columns = '| view | requests/s | frames/s | longest frame | main thread | of it scripts | layout, style |'
process.stdout.write(`${head}\n\n${columns}\n|---|--:|--:|--:|--:|--:|--:|\n${rows.join('\n')}\n`)
await browser.close()
await sandbox.stop()
process.exit(0)

async function measure({ what, requestsASecond, open }: Scene): Promise<string> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  await page.goto(new URL('/__sandbox/', sandbox.urls.listPets).href)
  await page.getByText('live', { exact: true }).waitFor()
  await open(page)
  const client = await page.context().newCDPSession(page)
  // Processor time of the thread, not how long it took on a machine that has other things to do.
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  const stopping = new AbortController()
  const traffic = requestsASecond === 0 ? undefined : send(requestsASecond, stopping.signal)
  // Skip the first reads of the page.
  await pause(1000)
  const before = await metricsOf(client)
  const { frames, longestMs, tookMs } = await page.evaluate<Frames>(countFrames(SECONDS * 1000))
  const after = await metricsOf(client)
  stopping.abort()
  const rate = await traffic
  await page.close()
  const aSecond = (name: string) => {
    const spent = ((after.get(name) ?? 0) - (before.get(name) ?? 0)) * 1000
    return `${Math.round(spent / (tookMs / 1000))} ms/s`
  }
  const layout = `${aSecond('LayoutDuration')}, ${aSecond('RecalcStyleDuration')}`
  const told = [
    what,
    rate === undefined ? '0' : rate.toFixed(0),
    (frames / (tookMs / 1000)).toFixed(1),
    `${Math.round(longestMs)} ms`,
    aSecond('TaskDuration'),
    aSecond('ScriptDuration'),
    layout,
  ]
  return `| ${told.join(' | ')} |`
}

interface Frames {
  readonly frames: number
  readonly longestMs: number
  readonly tookMs: number
}

/** Run in the page, whose types are not here. */
function countFrames(forMs: number): string {
  return `new Promise((resolve) => {
  const times = []
  requestAnimationFrame(function count(now) {
    times.push(now)
    if (now - times[0] < ${forMs}) return requestAnimationFrame(count)
    const gaps = times.slice(1).map((time, index) => time - times[index])
    resolve({ frames: gaps.length, longestMs: Math.max(...gaps), tookMs: now - times[0] })
  })
})`
}

async function metricsOf(client: CDPSession): Promise<ReadonlyMap<string, number>> {
  const { metrics } = await client.send('Performance.getMetrics')
  return new Map(metrics.map(({ name, value }) => [name, value]))
}

/** Sends until the signal aborts. @returns responses per second */
async function send(aSecond: number, signal: AbortSignal): Promise<number> {
  const began = performance.now()
  let asked = 0
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - began) / 1000) * aSecond)
    await Promise.all(Array.from({ length: due - asked }, () => ask(sandbox, 'sandbox')))
    asked = Math.max(asked, due)
    await pause(BEAT_MS)
  }
  return asked / ((performance.now() - began) / 1000)
}

async function ask({ urls }: Running, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  await (await fetch(`${urls.listPets}?limit=3`, { headers })).arrayBuffer()
}
