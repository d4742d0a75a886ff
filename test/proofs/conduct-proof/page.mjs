// A page in Chromium: `node page.mjs <polite|polite-abort|rude|reload>`. React's StrictMode runs an effect twice, in one turn.
import { createServer } from 'node:http'
import { chromium } from 'playwright-core'

const { PETSTORE_BASE_URL: base, PETSTORE_API_KEY: key, CHROMIUM = '/usr/bin/chromium' } = process.env

const inPage = async ({ url, key, policy }) => {
  const pause = (duration) => new Promise((resolve) => setTimeout(resolve, duration))
  const load = async (signal, sender) => {
    for (let attempt = 0; attempt < 4; attempt++) {
      const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, ...sender }, signal }).catch(
        () => undefined,
      )
      await response?.text()
      if (response?.ok || signal.aborted) return
      const told = response?.headers.get('retry-after')
      if (policy !== 'rude') await pause(told ? Number(told) * 1000 : 100 * 2 ** attempt)
    }
  }
  const first = new AbortController()
  // For the judge: the sandbox does not know this header.
  const named = (name) => (policy === 'two-senders' ? { 'x-sender': name } : {})
  const effect = [load(first.signal, named('w1'))]
  if (policy === 'polite-abort') first.abort()
  if (policy !== 'single') effect.push(load(new AbortController().signal, named('w2')))
  await Promise.all(effect)
}

export async function run([policy]) {
  const pages = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><link rel=icon href=data:,><title>Shop</title>')
  })
  await new Promise((resolve) => pages.listen(0, '127.0.0.1', resolve))
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  const page = await browser.newPage()
  for (let count = 0; count < (policy === 'reload' ? 3 : 1); count++) {
    await page.goto(`http://127.0.0.1:${pages.address().port}/`)
    const once =
      policy === 'reload'
        ? ({ url, key }) =>
            fetch(url, { headers: { authorization: `Bearer ${key}` } }).then((response) => response.text())
        : inPage
    await page.evaluate(once, { url: `${base}/pets`, key, policy }).catch(() => {})
  }
  await browser.close()
  pages.close()
}

if (process.argv[1]?.endsWith('page.mjs')) {
  await run(process.argv.slice(2))
  process.exit(0)
}
