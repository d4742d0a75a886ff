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

it('a request that waits for its latency is cut when the sandbox closes', async () => {
  const sandbox = await createSandbox({ latency: '1h' })
  const waiting = sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
  const cut = expect(waiting).rejects.toThrow('fetch failed')
  while ((await sandbox.requests()).length === 0) await new Promise(setImmediate)
  await sandbox.close()
  await cut
})

it('a body that is slow is cut when the sandbox closes', async () => {
  const sandbox = await createSandbox({ fault: '*:slow-body' })
  const response = await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
  const cut = expect(response.text()).rejects.toThrow('fetch failed')
  await sandbox.close()
  await cut
})

it('a closed sandbox refuses requests, so that a test that leaks one notices', async () => {
  const sandbox = await createSandbox()
  await sandbox.close()
  const request = () => sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { Authorization: 'Bearer sandbox' } })
  await expect(request()).rejects.toMatchObject({
    message: 'fetch failed',
    cause: { message: 'The sandbox is closed.' },
  })
})

it('the response to a HEAD has no body that could break off', async () => {
  await using sandbox = await createSandbox({ fault: ['listPets:truncated-body'] })
  const headers = { Authorization: 'Bearer sandbox' }
  const response = await sandbox.fetch(`${sandbox.baseUrl}/pets`, { method: 'HEAD', headers })
  expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text: '' })
})

it('a key of an unknown kind is refused, with the kinds', async () => {
  await using sandbox = await createSandbox()
  expect(() => sandbox.key('gold' as 'pro')).toThrow('The key "gold": must be default, free')
  expect(() => sandbox.space('a b').key()).toThrow('The space "a b": must be 1 to 64 of A-Z a-z 0-9 . _ -.')
})
