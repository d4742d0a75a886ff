import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFile } from '../support/temporary-files.js'

const run = promisify(execFile)

it('an operation is removed at the same instant in every time zone', async () => {
  const operation = (sunset: string) =>
    `{get: {deprecated: true, x-deprecated-sunset: '${sunset}', responses: {"200": {description: ok}}}}`
  const spec = temporaryFile(
    'openapi.yaml',
    `openapi: 3.1.0\ninfo: {title: Zones, version: "1"}\npaths:\n  /early: ${operation('2030-12-05T00:30')}\n  /late: ${operation('2030-12-05T23:30')}\n`,
  )
  for (const TZ of ['UTC', 'Pacific/Auckland', 'America/New_York']) {
    const { stdout } = await run(
      process.execPath,
      [join(packageDirectory, 'bin/petstore-sandbox.js'), 'call', '--list', '--output', 'json', '--spec', spec],
      { env: { ...process.env, TZ } },
    )
    expect(JSON.parse(stdout).map(({ sunset }: { sunset: string }) => sunset)).toEqual(['2030-12-05', '2030-12-05'])
  }
})
