import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { TEST_SEED } from '../support/test-seed.js'
import { digestLine } from './run.js'

const SCRIPT = join(packageDirectory, 'test/machine/digest.ts')

it('gives the same responses and state in processes with other time zones and locales', async () => {
  const environments = [
    { TZ: 'America/Los_Angeles', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
    { TZ: 'Pacific/Chatham', LC_ALL: 'C', LANG: 'C' },
  ]
  const outputs = environments.map((env) =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', SCRIPT, TEST_SEED], {
      cwd: packageDirectory,
      env: { ...process.env, ...env },
    }),
  )
  const line = await digestLine(TEST_SEED)
  for (const output of outputs) expect(await output, `seed ${TEST_SEED}`).toEqual({ stdout: `${line}\n`, stderr: '' })
})
