import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { start } from './built.js'
import { get } from './test-io.js'

it('a signal that comes while serve starts is a clean stop: the store is there, whole', async () => {
  const probe = await startSandbox()
  await probe.close()
  const { port } = new URL(probe.baseUrl)
  const { child, cwd, ended } = start(['serve', '--port', port, '--generate', 'pets=50000'])
  const isServing = () =>
    get(probe, '/pets').then(
      ({ status }) => status === 200,
      () => false,
    )
  while (!(await isServing()) && child.exitCode === null);
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(JSON.parse(readFileSync(join(cwd, '.petstore-sandbox/store.json'), 'utf8')).pets).toHaveLength(50_000)
})
