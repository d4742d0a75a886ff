import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageDirectory, packageVersion } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'

const BIN = join(packageDirectory, 'bin/petstore-sandbox.js')

/** The built program in a process of its own, in a folder of its own. */
function run(argv: readonly string[], cwd = temporaryFolder()) {
  const child = spawn(process.execPath, [BIN, ...argv], { cwd, env: { PATH: process.env.PATH } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  return { child, cwd, ended }
}

/** What a stream has said by the time this matches. */
async function seen(stream: ChildProcessWithoutNullStreams['stderr'], pattern: RegExp): Promise<RegExpExecArray> {
  let text = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    const match = pattern.exec(text)
    if (match !== null) return match
  }
  throw new Error(`it ended with: ${text}`)
}

const READY = /"baseUrl":"([^"]+)"/

describe('the program', () => {
  it('prints its version and ends', async () => {
    const { child, ended } = run(['--version'])
    expect((await seen(child.stdout, /.*\n/))[0]).toBe(`${packageVersion}\n`)
    expect(await ended).toEqual([0, null])
  })

  it('ends with 2 on a bad flag', async () => expect(await run(['serve', '--plan', 'gold']).ended).toEqual([2, null]))

  it.each(['SIGINT', 'SIGTERM'] as const)('serves until %s, and ends with 0', async (signal) => {
    const { child, cwd, ended } = run(['serve', '--port', '0'])
    const [, baseUrl] = await seen(child.stderr, READY)
    const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: 'Bearer sandbox' } })
    expect(response.status).toBe(200)
    expect(JSON.parse(readFileSync(join(cwd, '.petstore-sandbox/run.json'), 'utf8'))).toMatchObject({ pid: child.pid })
    child.kill(signal)
    child.kill(signal)
    expect(await ended).toEqual([0, null])
    expect(existsSync(join(cwd, '.petstore-sandbox/run.json'))).toBe(false)
  })

  it('keeps serving after the reader of its log is gone', async () => {
    const { child, ended } = run(['serve', '--port', '0', '--in-memory'])
    const [, baseUrl] = await seen(child.stderr, READY)
    child.stderr.destroy()
    for (let i = 0; i < 5; i++) {
      const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: 'Bearer sandbox' } })
      expect(response.status).toBe(200)
    }
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('keeps serving and stops cleanly if its log is not read', async () => {
    const { child, ended } = run(['serve', '--port', '0', '--in-memory', '--no-rate-limit', '--ban-after', 'never'])
    const [, baseUrl] = await seen(child.stderr, READY)
    child.stderr.pause()
    // A pipe holds 64 KiB; each line has the query in it.
    const query = `x=${'y'.repeat(8000)}`
    for (let i = 0; i < 300; i++) {
      const response = await fetch(`${baseUrl}/pets?${query}`, { headers: { Authorization: 'Bearer sandbox' } })
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
