import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-files.js'
import { BIN, start, startProgram } from './built.js'
import { get } from './test-io.js'

/** `serve`, once it is ready. */
async function serving(...flags: readonly string[]) {
  const started = start(['serve', '--port', '0', ...flags])
  const [, baseUrl = ''] = await started.stderr.seen(/"baseUrl":"([^"]+)"/)
  return { ...started, baseUrl }
}

describe('the program', () => {
  it('serves until a signal that npm sends twice, and ends with 0', async () => {
    const { child, cwd, ended, baseUrl } = await serving()
    expect((await get({ baseUrl }, '/pets')).status).toBe(200)
    const locator = join(cwd, '.petstore-sandbox/run.json')
    expect(JSON.parse(readFileSync(locator, 'utf8'))).toMatchObject({ pid: child.pid })
    child.kill('SIGINT')
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(existsSync(locator)).toBe(false)
  })

  it('keeps serving after the reader of its log is gone', async () => {
    const { child, ended, baseUrl } = await serving('--in-memory')
    child.stderr.destroy()
    for (let i = 0; i < 5; i++) expect((await get({ baseUrl }, '/pets')).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  it.skipIf(process.platform !== 'linux').each(['completion bash', '--help', '--version'])(
    'fails if its output is lost, but not if nobody reads it: %s',
    async (command) => {
      const run = (to: string) => {
        const line = `"$0" "$1" ${command} ${to}`
        const place = { cwd: temporaryFolder(), env: { PATH: process.env.PATH } }
        return startProgram('bash', ['--norc', '-o', 'pipefail', '-c', line, process.execPath, BIN], place)
      }
      const full = run('> /dev/full')
      expect(await full.ended).toBe(1)
      expect(full.stderr.text).toBe('The output is lost: ENOSPC: no space left on device, write\n')
      expect(await run('| head -c 0').ended).toBe(0)
    },
  )

  it('keeps serving and stops cleanly if its log is not read', async () => {
    const { child, ended, stderr, baseUrl } = await serving('--in-memory', '--no-rate-limit', '--ban-after', 'never')
    child.stderr.unpipe(stderr)
    child.stderr.pause()
    // A pipe holds 64 KiB; each line has the query in it.
    for (let i = 0; i < 300; i++) {
      const response = await get({ baseUrl }, `/pets?x=${'y'.repeat(8000)}`)
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    }
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    child.stderr.destroy()
    await ended
  })
})
