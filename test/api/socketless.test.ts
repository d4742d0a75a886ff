import { expect, it } from 'vitest'
import { createSandbox, startSandbox } from '../../src/index.js'

it('a fixture key is the default one when none is named, without and with a socket', async () => {
  await using created = await createSandbox()
  await using started = await startSandbox()
  expect([created.key(), started.key(), started.key('pro')]).toEqual(['sandbox', 'sandbox', 'sandbox-pro'])
})

it('a request that hangs without a socket is cut when the sandbox closes', async () => {
  const sandbox = await createSandbox({ fault: '*:hang' })
  const hanging = sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
  const cut = expect(hanging).rejects.toThrow('fetch failed')
  while ((await sandbox.requests()).length === 0) await new Promise(setImmediate)
  await sandbox.close()
  await cut
})
