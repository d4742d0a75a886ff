import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../support/browsers.js'

/** Starts a headless Chromium that sends no requests of its own. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    // Browsers of people have it.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** What a page must not do: log an error, or send a request to another host. */
export interface Complaints {
  readonly console: string[]
  readonly foreignRequests: string[]
}

/** Collects the complaints about a page from now on. */
export function listen(page: Page, origin: string): Complaints {
  const complaints: Complaints = { console: [], foreignRequests: [] }
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.console.push(message.text())
  })
  page.on('pageerror', (error) => complaints.console.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:') && !url.startsWith('blob:'))
      complaints.foreignRequests.push(url)
  })
  return complaints
}

/** Rules whose result depends on the colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * Violations found by axe-core. The page's policy blocks scripts, so its context needs `bypassCSP`.
 *
 * @param rules `colours` if the same page, at the same width, was checked in another colour scheme
 */
export async function axeViolations(page: Page, rules: 'all' | 'colours' = 'all'): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source)
  return page.evaluate(
    async (runOnly) => {
      const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
      const { violations } = await axe.run(runOnly === undefined ? {} : { runOnly })
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
    },
    rules === 'all' ? undefined : COLOUR_RULES,
  )
}
