import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../../src/cli/run-cli.js'
import { testIo } from '../test-io.js'

const FETCH = `const pets = () => fetch(process.env.PETSTORE_BASE_URL + '/pets', { headers: { authorization: 'Bearer sandbox' } }).then((response) => response.text());`
const inTurn = (count: number) => `(async () => { for (let i = 0; i < ${count}; i++) await pets() })()`

/** Runs a client on a quota of one request. */
async function run(command: readonly string[], io = testIo({ env: { PATH: process.env.PATH } })) {
  const code = await runCli(
    ['exec', '--limits', '1/min', '--fail-on', 'violation', '--report', 'r.json', '--', ...command],
    io,
  )
  const { counts } = JSON.parse(readFileSync(join(io.cwd, 'r.json'), 'utf8'))
  return { code, counts, err: io.stderr.text }
}

describe('in a GitHub Actions job', () => {
  it('prints findings as annotations, and adds the report to the summary of the step', async () => {
    const io = testIo({ env: { PATH: process.env.PATH, GITHUB_ACTIONS: 'true' } })
    const summary = join(io.cwd, 'summary.md')
    writeFileSync(summary, '# Before\n')
    Object.assign(io.env, { GITHUB_STEP_SUMMARY: summary })
    const { code, err } = await run([process.execPath, '-e', `${FETCH} ${inTurn(3)}`], io)
    expect(code).toBe(1)
    expect(err).toMatch(/^::error title=early-retry%2C sandbox::GET \/v1\/pets was retried too early\. /m)
    expect(readFileSync(summary, 'utf8')).toMatch(
      /^# Before\n### Conduct towards petstore-sandbox\n\n````text\n✗ early-retry[\s\S]*\n````\n$/,
    )
  })
})
