import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { TEST_SEED } from '../support/test-seed.js'
import { digestLine } from './run.js'

const SCRIPT = join(packageDirectory, 'test/machine/digest.ts')

it.each([
  { TZ: 'America/Los_Angeles', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
  { TZ: 'Pacific/Chatham', LC_ALL: 'C', LANG: 'C' },
])('a process with $TZ and $LC_ALL says the same to 10,000 commands, and is the same in the end', async (env) => {
  const seed = TEST_SEED
  const child = spawnSync(process.execPath, ['--import', 'tsx', SCRIPT, seed], {
    cwd: packageDirectory,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  expect(child.stderr).toBe('')
  expect(child.stdout, `seed ${seed}`).toBe(`${await digestLine(seed)}\n`)
})
