import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('keys, %s', (_name, openSandbox) => {
  it('that were added while it runs are the same in every space, also after its reset', async () => {
    const sandbox = await openSandbox()
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
    expect(await sandbox.get('/pets', 'mine~a')).toMatchObject({ status: 200, limit: 300 })
    await sandbox.control('POST', '/reset?space=a')
    expect(await sandbox.get('/pets', 'mine~a')).toMatchObject({ status: 200, limit: 300 })
  })

  it('that were given at the start are never stored, whatever is done to them', async () => {
    const sandbox = await openSandbox({ apiKey: 'temp' })
    await sandbox.control('PATCH', '/keys/temp', { plan: 'pro' })
    expect(await sandbox.get('/pets', 'temp')).toMatchObject({ limit: 300 })
    expect(sandbox.core.spaces.default.state().keys.map(({ key }) => key)).not.toContain('temp')
  })

  it('that are always out of quota are never banned, not even by hand', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.control('PUT', '/keys/sandbox-limited/ban')).toMatchObject({ status: 409 })
  })

  it('name no space that no address could name', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.get('/pets', 'sandbox~..')).toMatchObject({ status: 401 })
    expect(await sandbox.get('/pets', 'sandbox~...')).toMatchObject({ status: 200 })
  })
})

describe.each(transports)('an unknown token, %s', (_name, openSandbox) => {
  it('is in no log, also where every key is taken', async () => {
    const sandbox = await openSandbox({ anyKey: true })
    expect(await sandbox.get('/pets', 'sk_live_secret')).toMatchObject({ status: 200 })
    const { json } = await sandbox.control('GET', '/requests')
    expect(json).toMatchObject([{ key: 'unknown', request: { headers: { authorization: 'Bearer unknown' } } }])
    expect(JSON.stringify(json)).not.toContain('sk_live_secret')
  })
})
