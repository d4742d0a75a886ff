import { expect, it } from 'vitest'
import { start } from './built.js'
import { run } from './test-io.js'

it('playground prints where its files are served, until it is stopped', async () => {
  const { child, stdout, ended } = start(['playground', '--port', '0'])
  const [, url = ''] = await stdout.seen(/^(http:\/\/127\.0\.0\.1:\d+\/)\n/)
  const page = await fetch(url)
  expect(await page.text()).toContain('<title>Playground · petstore-sandbox</title>')
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect((await fetch(`${url}sw.js`)).headers.get('cache-control')).toBe('no-cache')
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

it('playground refuses an invalid port', async () => {
  const err = expect.stringContaining('must be a whole number from 0 to 65535')
  expect(await run('playground --port 70000')).toEqual({ code: 2, out: '', err })
})
