import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../../src/cli/run-cli.js'
import { runs } from '../../support/test-seed.js'
import { testIo } from '../test-io.js'

const KEY = 'Authorization: Bearer sandbox'
const CURL = `curl -s -o /dev/null -H '${KEY}' "$PETSTORE_BASE_URL/pets"`
const FETCH = `const pets = () => fetch(process.env.PETSTORE_BASE_URL + '/pets', { headers: { authorization: 'Bearer sandbox' } }).then((response) => response.text());`
const GET = `const { get } = require('node:http');
const pets = () => new Promise((resolve) => get(process.env.PETSTORE_BASE_URL + '/pets', { agent: false, headers: { authorization: 'Bearer sandbox' } }, (response) => response.resume().on('close', resolve)));`
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

const RUNS = runs(12)

describe('a client that retries at once is found in every run', () => {
  it.each([
    ['a process per request', ['sh', '-c', `${CURL}; ${CURL}; ${CURL}`]],
    ['a connection per request', [process.execPath, '-e', `${GET} ${inTurn(3)}`]],
    ['a pool', [process.execPath, '-e', `${FETCH} ${inTurn(3)}`]],
  ])('%s', async (_what, command) => {
    for (let i = 0; i < RUNS; i++)
      expect(await run(command)).toMatchObject({
        code: 1,
        counts: { 'early-retry': 1 },
        err: expect.stringMatching(
          /GET \/v1\/pets was retried too early\. Response 2 \(.*\) was 429 with Retry-After: 60; the next request came [\d.]+ m?s later\. Wait as long as Retry-After says\./,
        ),
      })
  })

  it('and one that sends its requests at once is not blamed', async () => {
    for (let i = 0; i < RUNS; i++)
      expect(
        await run([
          process.execPath,
          '-e',
          `${FETCH} pets().then(() => Promise.all(Array.from({ length: 12 }, pets)))`,
        ]),
      ).toMatchObject({ code: 0, counts: {} })
  })
})

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
