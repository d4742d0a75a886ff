import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { NO_CONDUCT } from '../../src/cli/conduct/conduct-report.js'
import { writeReport } from '../../src/cli/exec/report-file.js'
import { writeLocator } from '../../src/cli/locator.js'
import { runCli } from '../../src/cli/run-cli.js'
import { temporaryFolder, testIo } from './test-io.js'

it('all that the commands write is their user’s alone', async () => {
  const umask = process.umask(0o022)
  onTestFinished(() => void process.umask(umask))
  const cwd = temporaryFolder()
  const set = ['target', 'set', 'staging', '--base-url', 'https://staging.example/v1']
  expect(await runCli(['init'], testIo({ cwd }))).toBe(0)
  expect(await runCli(set, testIo({ cwd, env: { XDG_CONFIG_HOME: join(cwd, 'config') } }))).toBe(0)
  writeLocator(cwd, {
    baseUrl: 'http://127.0.0.1:1/v1',
    controlUrl: 'http://127.0.0.1:1/__sandbox',
    pid: 1,
    startedAt: '',
  })
  await writeReport(join(cwd, 'reports', 'deep', 'conduct.json'), NO_CONDUCT, {}, [])
  const written = readdirSync(cwd, { recursive: true, encoding: 'utf8' })
  expect(written).toEqual(
    expect.arrayContaining(['petstore-sandbox.yaml', '.petstore-sandbox/run.json', 'reports/deep/conduct.json']),
  )
  for (const name of written) {
    const stat = statSync(join(cwd, name))
    expect([name, (stat.mode & 0o777).toString(8)]).toEqual([name, stat.isDirectory() ? '700' : '600'])
  }
})
