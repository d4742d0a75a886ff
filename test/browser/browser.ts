import { type Browser, chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../support/browsers.js'

/** Starts a headless Chromium that talks to nobody but the pages' own servers. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
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

/** What a page must never do: say an error, or ask another host. */
export interface Complaints {
  readonly console: string[]
  readonly foreignRequests: string[]
}

/** Writes down whatever goes wrong on a page from now on. */
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
