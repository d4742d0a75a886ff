import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../src/cli/run-cli.js'
import { packageDirectory } from '../src/system/package-files.js'
import { testIo } from './cli/test-io.js'
import { PATIENCE_MS } from './support/patience.js'

/** A suite as a user writes it, with the package as it is built. Its tests pass, though one of its clients does not wait. */
const SUITE = `
import { expect } from 'vitest'
import { test } from 'petstore-sandbox/vitest'

const listPets = async ({ baseUrl }: { baseUrl: string }, key: string) =>
  (await fetch(baseUrl + '/pets', { headers: { Authorization: 'Bearer ' + key } })).text()

test('behaves', async ({ sandbox }) => {
  await listPets(sandbox, sandbox.key('pro'))
  expect((await sandbox.conduct()).violations).toEqual([])
})

test('does not wait', async ({ sandbox }) => {
  await sandbox.storm.start({ rate: 1, for: '30s' })
  for (let request = 0; request < 5; request++) await listPets(sandbox, sandbox.key())
  expect((await sandbox.conduct()).violations).toMatchObject([{ rule: 'early-retry' }])
})
`

const OUTPUT = [`--testTimeout=${PATIENCE_MS}`, '--reporter=json', '--outputFile=run.json']

/** Runs a suite in a project that has the package. */
async function runUnderExec(suite: string, ...flags: readonly string[]) {
  const io = testIo({ env: { PATH: process.env.PATH } })
  mkdirSync(join(io.cwd, 'node_modules'))
  symlinkSync(packageDirectory, join(io.cwd, 'node_modules/petstore-sandbox'))
  symlinkSync(join(packageDirectory, 'node_modules/vitest'), join(io.cwd, 'node_modules/vitest'))
  writeFileSync(join(io.cwd, 'shop.test.ts'), suite)
  const vitest = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', ...OUTPUT]
  const code = await runCli(['exec', ...flags, '--', ...vitest], io)
  return { io, code, run: JSON.parse(readFileSync(join(io.cwd, 'run.json'), 'utf8')) }
}

it('a Vitest suite under exec fails by its conduct alone, in spaces that are gone when it ends', async () => {
  const { io, code, run } = await runUnderExec(SUITE, '--fail-on', 'early-retry', '--report', 'conduct.json')
  expect(run).toMatchObject({ numPassedTests: 2, success: true })
  expect(code).toBe(1)
  const report = JSON.parse(readFileSync(join(io.cwd, 'conduct.json'), 'utf8'))
  expect(report).toMatchObject({ exitCode: 1, requests: 6, spaces: 2, violations: [{ rule: 'early-retry' }] })
  expect(report.violations[0].space).toMatch(/^does-not-wait\.[0-9a-f]{10}$/)
  expect(io.stderr.text).toMatch(
    / failed the run:\n✗ Your client retries too early \(early-retry\).*\n.*sandbox~does-not-wait\./,
  )
})

/** The client under test uses fetch, whose connections wait by the faked timers. The sandbox is reached without them. */
it('the documented test with fake timers passes under exec', async () => {
  const page = readFileSync(join(packageDirectory, 'docs/testing.md'), 'utf8')
  const [, suite = ''] = /```ts vitest\n((?:(?!```).)*useFakeTimers.*?)```/s.exec(page) ?? []
  const { code, run } = await runUnderExec(suite, '--fail-on', 'violation')
  expect(run).toMatchObject({ numPassedTests: 1, success: true })
  expect(code).toBe(0)
})
