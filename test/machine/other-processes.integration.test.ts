import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { TEST_SEED } from '../support/test-seed.js'
import { digestLine } from './run.js'

const SCRIPT = join(packageDirectory, 'test/machine/digest.ts')

it('gives the same responses and state in a process with another time zone and locale', async () => {
  const env = { ...process.env, TZ: 'Pacific/Chatham', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' }
  const command = ['--import', 'tsx', SCRIPT, TEST_SEED]
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: packageDirectory, env })
  expect(stdout, `seed ${TEST_SEED}`).toBe(`${await digestLine(TEST_SEED)}\n`)
})
