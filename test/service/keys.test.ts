import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('keys, %s', (_name, openSandbox) => {
  it('are valid in every space when added, also after its reset', async () => {
    const sandbox = await openSandbox()
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
    expect(await sandbox.get('/pets', 'mine~a')).toMatchObject({ status: 200, limit: 300 })
    await sandbox.control('POST', '/reset?space=a')
    expect(await sandbox.get('/pets', 'mine~a')).toMatchObject({ status: 200, limit: 300 })
  })

  it('added in any space are valid in all of them, and stored with the default one', async () => {
    const sandbox = await openSandbox()
    await sandbox.get('/pets', 'sandbox~a')
    await sandbox.get('/pets', 'sandbox~b')
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
    await sandbox.control('POST', '/keys?space=a', { key: 'yours', plan: 'business' })
    for (const space of ['', '~a', '~b']) {
      expect(await sandbox.get('/pets', `mine${space}`)).toMatchObject({ status: 200, limit: 300 })
      expect(await sandbox.get('/pets', `yours${space}`)).toMatchObject({ status: 200, limit: 1000 })
    }
    expect(sandbox.core.spaces.default.state().keys.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['mine', 'yours']),
    )
    expect(await sandbox.control('POST', '/keys?space=b', { key: 'mine' })).toMatchObject({ status: 409 })
  })

  it('removed in any space are removed in all, and start anew when added again', async () => {
    const sandbox = await openSandbox()
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'free' })
    await sandbox.control('PATCH', '/keys/mine?space=b', { plan: 'pro' })
    await sandbox.control('PUT', '/keys/mine/ban')
    await sandbox.control('DELETE', '/keys/mine?space=b')
    for (const key of ['mine', 'mine~b']) expect(await sandbox.get('/pets', key)).toMatchObject({ status: 401 })
    await sandbox.control('POST', '/keys?space=c', { key: 'mine', plan: 'free' })
    for (const key of ['mine', 'mine~b'])
      expect(await sandbox.get('/pets', key)).toMatchObject({ status: 200, limit: 60 })
  })

  it('have a plan and a ban of their own in each space', async () => {
    const sandbox = await openSandbox()
    await sandbox.get('/pets', 'sandbox-free~a')
    await sandbox.control('PATCH', '/keys/sandbox-free', { plan: 'business' })
    await sandbox.control('PUT', '/keys/sandbox-pro/ban?space=a')
    expect(await sandbox.get('/pets', 'sandbox-free')).toMatchObject({ limit: 1000 })
    for (const space of ['a', 'b'])
      expect(await sandbox.get('/pets', `sandbox-free~${space}`)).toMatchObject({ limit: 60 })
    expect(await sandbox.get('/pets', 'sandbox-pro')).toMatchObject({ status: 200 })
    expect(await sandbox.get('/pets', 'sandbox-pro~a')).toMatchObject({ status: 429, reason: 'ban' })
  })

  it('return to the start with a reset of the default space only', async () => {
    const sandbox = await openSandbox({ apiKey: 'temp' })
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
    await sandbox.control('DELETE', '/keys/temp')
    await sandbox.control('DELETE', '/keys/sandbox-free')
    await sandbox.control('PATCH', '/keys/mine?space=a', { plan: 'business' })
    await sandbox.control('POST', '/reset?space=a')
    expect(await sandbox.get('/pets', 'mine~a')).toMatchObject({ status: 200, limit: 300 })
    for (const key of ['temp~a', 'sandbox-free~a'])
      expect(await sandbox.get('/pets', key)).toMatchObject({ status: 401 })
    await sandbox.control('POST', '/reset')
    for (const space of ['', '~a']) {
      expect(await sandbox.get('/pets', `mine${space}`)).toMatchObject({ status: 401 })
      for (const key of ['temp', 'sandbox-free'])
        expect(await sandbox.get('/pets', key + space)).toMatchObject({ status: 200 })
    }
  })

  it('given at the start keep their label when removed and added again', async () => {
    const sandbox = await openSandbox({ apiKey: 'mine=sk_live_secret' })
    await sandbox.control('DELETE', '/keys/mine')
    expect((await sandbox.control('POST', '/keys', { key: 'sk_live_secret', plan: 'pro' })).json).toMatchObject({
      key: 'mine',
      secret: true,
    })
    expect(sandbox.core.spaces.default.state().keys.map(({ key }) => key)).not.toContain('sk_live_secret')
  })

  it('given at the start are never stored', async () => {
    const sandbox = await openSandbox({ apiKey: 'temp' })
    await sandbox.control('PATCH', '/keys/temp', { plan: 'pro' })
    expect(await sandbox.get('/pets', 'temp')).toMatchObject({ limit: 300 })
    expect(sandbox.core.spaces.default.state().keys.map(({ key }) => key)).not.toContain('temp')
  })

  it('that are always out of quota cannot be banned', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.control('PUT', '/keys/sandbox-limited/ban')).toMatchObject({ status: 409 })
    expect(await sandbox.control('PUT', '/scenario', { ban: { 'sandbox-limited': '5m' } })).toMatchObject({
      status: 409,
    })
    const limited = await sandbox.get('/pets', 'sandbox-limited')
    expect(limited).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    await expect(openSandbox({ scenario: { ban: { 'sandbox-limited': '5m' } } })).rejects.toThrow(
      'The scenario bans the key "sandbox-limited", which is never banned.',
    )
  })
})
