import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run, testIo } from '../test-io.js'

const SCRIPT = `const headers = { authorization: 'Bearer sandbox' }
for (let i = 0; i < 3; i++) await (await fetch(process.env.PETSTORE_BASE_URL + '/pets', { headers })).text()`

it('in a GitHub Actions job, exec prints findings as annotations, and adds the report to the summary', async () => {
  const io = testIo({ env: { PATH: process.env.PATH, GITHUB_ACTIONS: 'true' } })
  const summary = join(io.cwd, 'summary.md')
  writeFileSync(summary, '# Before\n')
  Object.assign(io.env, { GITHUB_STEP_SUMMARY: summary })
  const flags = ['--limits', '1/min', '--fail-on', 'violation']
  const { code, err } = await run(['exec', ...flags, '--', process.execPath, '--input-type=module', '-e', SCRIPT], io)
  expect(code).toBe(1)
  expect(err).toMatch(/^::error title=early-retry%2C sandbox::GET \/v1\/pets was retried too early\. /m)
  expect(readFileSync(summary, 'utf8')).toMatch(
    /^# Before\n### Conduct towards petstore-sandbox\n\n````text\n✗ early-retry[\s\S]*\n````\n$/,
  )
})
