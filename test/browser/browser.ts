import axe from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/index.js'
import { CHROMIUM } from '../support/browsers.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'

/** Starts a headless Chromium that sends no requests of its own. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    // Browsers of people have it.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    executablePath: CHROMIUM,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
    ],
  })
}

/** Chromium's own message about an error status, or about no response. */
export const FAILED = /^Failed to load resource: (?:the server responded with a status of [45]\d\d|net::ERR_)/

export interface ContextOptions extends BrowserContextOptions {
  /** Errors in the console that do not fail the test. */
  readonly allowed?: RegExp
  /** A new profile, without service workers, for a test that may change it by `page.clock` or `addInitScript`. */
  readonly isOwn?: boolean
}

interface PageOptions extends ContextOptions {
  readonly sandbox?: SandboxOptions
  /** Below the control plane. Default: the dashboard. */
  readonly path?: string
}

export interface Opened {
  readonly sandbox: Sandbox
  readonly page: Page
  /** Sends a request to the service, as curl would. */
  ask(path: string, key?: string, init?: RequestInit): Promise<Response>
}

/** The browser of this worker, which ends with it, and its profiles by their options. */
let shared: Promise<Browser> | undefined
const contexts = new Map<string, BrowserContext>()

export function useBrowser() {
  let browser: Browser
  beforeAll(async () => {
    shared ??= openBrowser()
    browser = await shared
  })

  /**
   * A browser profile, whose pages are closed after the test. Each sandbox and each site has an origin of its own, so
   * tests share profiles. Fails if a page logs an error, or calls another host than `url`.
   */
  async function newContext(url: string, given: ContextOptions = {}): Promise<BrowserContext> {
    const { allowed = /^$/, isOwn = false, ...options } = given
    const key = JSON.stringify(options)
    let context = isOwn ? undefined : contexts.get(key)
    if (context === undefined) {
      context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
      // Stays open: Chromium halts a profile without pages, and takes a second to start the next page.
      if (!isOwn) {
        await context.newPage()
        contexts.set(key, context)
      }
    }
    const complaints: string[] = []
    context.setDefaultTimeout(STEP_PATIENCE_MS)
    const watch = (page: Page) => listen(page, new URL(url).origin, complaints)
    context.on('page', watch)
    onTestFinished(async () => {
      context.off('page', watch)
      if (isOwn) await context.close()
      else for (const page of context.pages().slice(1)) await page.close()
      expect(complaints.filter((text) => !allowed.test(text))).toEqual([])
    })
    return context
  }

  /** A page of a new sandbox. */
  async function open({ sandbox: given = {}, path = '/', ...options }: PageOptions = {}): Promise<Opened> {
    const sandbox = await startSandbox({ seed: 1, ...given })
    onTestFinished(() => sandbox.close())
    const page = await (await newContext(sandbox.baseUrl, options)).newPage()
    await page.goto(sandbox.controlUrl + path)
    const ask: Opened['ask'] = (to, key = 'sandbox', init = {}) =>
      fetch(sandbox.baseUrl + to, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })
    return { sandbox, page, ask }
  }

  return { newContext, open }
}

/** Collects what a page must not do: log an error, or send a request to another host. */
export function listen(page: Pick<Page, 'on'>, origin: string, complaints: string[]): void {
  page.on('console', (message) => {
    if (/^(?:error|warn|warning)$/.test(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    if (!/^(?:data|blob|file):/.test(request.url()) && !request.url().startsWith(`${origin}/`))
      complaints.push(request.url())
  })
}

export function row(page: Page, text: string) {
  return page.locator('.exchange button', { hasText: text }).first()
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

/**
 * Checks that a page fits and is accessible, wide and narrow, light and dark.
 *
 * @param widths in pixels, of which only the width is checked, because another one has the same style
 */
export async function checkLooks(page: Page, what: string, widths: readonly number[] = []): Promise<void> {
  for (const width of [...widths, 1280, 390]) {
    await page.setViewportSize({ width, height: 900 })
    // The page adapts to a new width in its next frames.
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: what }).toBe(width)
    if (widths.includes(width)) continue
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const rules = colorScheme === 'dark' ? 'colours' : 'all'
      // Scalar renders sections late, so that a region can be there twice for a moment.
      await expect
        .poll(() => axeViolations(page, rules), { message: `${what}, ${colorScheme}, ${width} pixels` })
        .toEqual([])
    }
  }
}
