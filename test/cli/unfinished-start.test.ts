import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'

it('a signal that comes while serve starts is a clean stop: the store is there, whole', async () => {
  const cwd = temporaryFolder()
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [join(packageDirectory, 'bin/petstore-sandbox.js'), 'serve', '--port', String(port), '--pets', '50000'],
    { cwd, stdio: 'ignore' },
  )
  const ended = once(child, 'exit')
  while ((await statusOf(port)) !== 200 && child.exitCode === null);
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(JSON.parse(readFileSync(join(cwd, '.petstore-sandbox/store.json'), 'utf8')).pets).toHaveLength(50_000)
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function statusOf(port: number): Promise<number | undefined> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers: { Authorization: 'Bearer sandbox' } })).status
  } catch {
    return undefined
  }
}
