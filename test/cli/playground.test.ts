import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { testIo } from './test-io.js'

it('playground prints where its files are served, until it is stopped', async () => {
  const child = spawn(
    process.execPath,
    [join(packageDirectory, 'bin/petstore-sandbox.js'), 'playground', '--port', '0'],
    {
      cwd: temporaryFolder(),
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const [url] = await once(createInterface(child.stdout), 'line')
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
  const page = await fetch(url)
  expect(await page.text()).toContain('<title>Playground · petstore-sandbox</title>')
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect((await fetch(`${url}sw.js`)).headers.get('cache-control')).toBe('no-cache')
  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([0, null])
})

it('playground refuses an invalid port', async () => {
  const io = testIo()
  expect(await runCli(['playground', '--port', '70000'], io)).toBe(2)
  expect(io.stderr.text).toContain('must be a whole number from 0 to 65535')
})
