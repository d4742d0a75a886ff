import { execFile } from 'node:child_process'
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-files.js'

const LEFT_OUT = ['node_modules', 'dist', '.git']

it('the fast lane can be deleted: its folder, its tests, and the line that plugs it in', async () => {
  const folder = temporaryFolder()
  cpSync('.', folder, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  for (const place of ['src', 'test']) rmSync(join(folder, place, 'http/fast-lane'), { recursive: true })
  const listener = join(folder, 'src/http/listener.ts')
  const lines = readFileSync(listener, 'utf8').split('\n')
  const others = lines.filter((line) => !line.includes('fast-lane'))
  expect(others).toHaveLength(lines.length - 1)
  writeFileSync(listener, others.join('\n'))
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join('node_modules', program), ...args], { cwd: folder })
  await run('typescript/bin/tsc', '--noEmit')
  await run('vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', 'unit', 'test/http')
})
