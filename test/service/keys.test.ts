import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('keys, %s', (_name, openSandbox) => {
  const open = async (options = {}) => {
    const sandbox = await openSandbox(options)
    const ask = async (keys: readonly string[]) => {
      const seen = []
      for (const key of keys) seen.push(await sandbox.get('/pets', key))
      return seen
    }
    return {
      sandbox,
      limits: async (...keys: string[]) => (await ask(keys)).map(({ limit }) => limit),
      statuses: async (...keys: string[]) => (await ask(keys)).map(({ status }) => status),
      stored: () => sandbox.core.spaces.default.stored().keys.map(({ key }) => key),
    }
  }

  it('added in any space are valid in all of them, also after a reset, and stored with the default one', async () => {
    const { sandbox, limits, stored } = await open()
    await limits('sandbox~a', 'sandbox~b')
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
    await sandbox.control('POST', '/keys?space=a', { key: 'yours', plan: 'business' })
    await sandbox.control('POST', '/reset?space=a')
    expect(await limits('mine', 'mine~a', 'mine~b')).toEqual([300, 300, 300])
    expect(await limits('yours', 'yours~a', 'yours~b')).toEqual([1000, 1000, 1000])
    expect(stored()).toEqual(expect.arrayContaining(['mine', 'yours']))
    expect(await sandbox.control('POST', '/keys?space=b', { key: 'mine' })).toMatchObject({ status: 409 })
  })

  it('removed in any space are removed in all, and start anew when added again', async () => {
    const { sandbox, limits, statuses } = await open()
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'free' })
    await sandbox.control('PATCH', '/keys/mine?space=b', { plan: 'pro' })
    await sandbox.control('PUT', '/keys/mine/ban')
    await sandbox.control('DELETE', '/keys/mine?space=b')
    expect(await statuses('mine', 'mine~b')).toEqual([401, 401])
    await sandbox.control('POST', '/keys?space=c', { key: 'mine', plan: 'free' })
    expect(await statuses('mine', 'mine~b')).toEqual([200, 200])
    expect(await limits('mine', 'mine~b')).toEqual([60, 60])
  })

  it('have a plan and a ban of their own in each space', async () => {
    const { sandbox, limits, statuses } = await open()
    await limits('sandbox-free~a')
    await sandbox.control('PATCH', '/keys/sandbox-free', { plan: 'business' })
    await sandbox.control('PUT', '/keys/sandbox-pro/ban?space=a')
    expect(await limits('sandbox-free', 'sandbox-free~a', 'sandbox-free~b')).toEqual([1000, 60, 60])
    expect(await statuses('sandbox-pro', 'sandbox-pro~a')).toEqual([200, 429])
  })

  it('may name their space in the path of the control plane, as clients send them', async () => {
    const { sandbox, limits, statuses } = await open()
    await sandbox.control('PATCH', '/keys/sandbox-free~a', { plan: 'business' })
    await sandbox.control('PUT', '/keys/sandbox-pro~a+w3/ban?space=a')
    expect(await limits('sandbox-free', 'sandbox-free~a')).toEqual([60, 1000])
    expect(await statuses('sandbox-pro', 'sandbox-pro~a')).toEqual([200, 429])
    expect(await sandbox.control('PUT', '/keys/sandbox-pro~a/ban?space=b')).toMatchObject({
      status: 400,
      json: { message: 'The key is in the space "a", not in "b".' },
    })
  })

  it.each([
    ['business', 1000],
    [undefined, 60],
  ])('named sandbox and added again have the plan %s', async (plan, limit) => {
    const { sandbox, limits } = await open()
    await limits('sandbox~a')
    await sandbox.control('DELETE', '/keys/sandbox')
    expect(await sandbox.control('POST', '/keys', { key: 'sandbox', plan })).toMatchObject({ status: 200 })
    expect(await limits('sandbox', 'sandbox~a')).toEqual([limit, limit])
  })

  it('return to the start with a reset of the default space only', async () => {
    const { sandbox, limits, statuses } = await open({ apiKey: 'temp' })
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
    await sandbox.control('DELETE', '/keys/temp')
    await sandbox.control('DELETE', '/keys/sandbox-free')
    await sandbox.control('PATCH', '/keys/mine?space=a', { plan: 'business' })
    await sandbox.control('POST', '/reset?space=a')
    expect(await limits('mine~a')).toEqual([300])
    expect(await statuses('mine~a', 'temp~a', 'sandbox-free~a')).toEqual([200, 401, 401])
    await sandbox.control('POST', '/reset')
    for (const space of ['', '~a'])
      expect(await statuses(`mine${space}`, `temp${space}`, `sandbox-free${space}`)).toEqual([401, 200, 200])
  })

  it('given at the start are never stored, and keep their label when removed and added again', async () => {
    const { sandbox, limits, stored } = await open({ apiKey: 'mine=sk_live_secret' })
    await sandbox.control('PATCH', '/keys/mine', { plan: 'pro' })
    expect(await limits('sk_live_secret')).toEqual([300])
    await sandbox.control('DELETE', '/keys/mine')
    const { json } = await sandbox.control('POST', '/keys', { key: 'sk_live_secret', plan: 'pro' })
    expect(json).toMatchObject({ key: 'mine', secret: true })
    for (const key of ['sk_live_secret', 'mine']) expect(stored()).not.toContain(key)
  })

  it('that are always out of quota cannot be banned', async () => {
    const { sandbox } = await open()
    const ban = { 'sandbox-limited': '5m' }
    expect(await sandbox.control('PUT', '/keys/sandbox-limited/ban')).toMatchObject({ status: 409 })
    expect(await sandbox.control('PUT', '/scenario', { ban })).toMatchObject({ status: 409 })
    await expect(openSandbox({ scenario: { ban } })).rejects.toThrow(
      'The scenario bans the key "sandbox-limited", which is never banned.',
    )
  })
})
