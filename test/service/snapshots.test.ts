import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('restoring a snapshot, %s', (_name, openSandbox) => {
  it('ends all waits, also later ones if it sets the clock back, so that their clients may retry', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    await sandbox.control('PUT', '/snapshots/start')
    expect([await sandbox.get('/pets'), await sandbox.get('/pets')]).toMatchObject([{ status: 200 }, { status: 429 }])
    await sandbox.control('POST', '/snapshots/start/restore')
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    await sandbox.advance('10m')
    expect([await sandbox.get('/pets'), await sandbox.get('/pets')]).toMatchObject([{ status: 200 }, { status: 429 }])
    await sandbox.control('POST', '/snapshots/start/restore')
    await sandbox.advance('10m')
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ violations: [], warnings: [] })
  })

  it('restores the plan of every key, brings no removed one back, and takes none away that was added since', async () => {
    const sandbox = await openSandbox({ apiKey: ['temp', 'gone'] })
    const plan = (key: string, name: string) => sandbox.control('PATCH', `/keys/${key}`, { plan: name })
    await plan('temp', 'pro')
    await plan('sandbox-free', 'business')
    await sandbox.control('POST', '/keys', { key: 'old', plan: 'pro' })
    await sandbox.control('PUT', '/snapshots/moved')
    for (const key of ['temp', 'sandbox-free', 'sandbox-pro']) await plan(key, 'free')
    for (const key of ['old', 'gone']) await sandbox.control('DELETE', `/keys/${key}`)
    await sandbox.control('POST', '/keys', { key: 'new', plan: 'pro' })
    await sandbox.control('POST', '/snapshots/moved/restore')
    for (const [key, limit] of Object.entries({ temp: 300, 'sandbox-free': 1000, 'sandbox-pro': 300, new: 300 }))
      expect(await sandbox.get('/pets', key)).toMatchObject({ status: 200, limit })
    for (const key of ['old', 'gone']) expect(await sandbox.get('/pets', key)).toMatchObject({ status: 401 })
  })
})

describe.each(transports)('a change newer than the instant that the clock is set back to, %s', (_name, openSandbox) => {
  it('is over, also when the clock comes to that time again', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    await sandbox.control('PUT', '/clock', { now: '2099-01-01T00:00:00Z', frozen: true })
    expect([await sandbox.get('/pets'), await sandbox.get('/pets')]).toMatchObject([{ status: 200 }, { status: 429 }])
    await sandbox.control('PUT', '/keys/sandbox-pro/ban', { for: '1h' })
    await sandbox.control('DELETE', '/clock')
    await sandbox.control('PUT', '/clock', { now: '2099-01-01T00:00:30Z' })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    expect(await sandbox.get('/pets', 'sandbox-pro')).toMatchObject({ status: 200 })
    await sandbox.control('PUT', '/storm', { rate: 1 })
    await sandbox.control('DELETE', '/clock')
    expect((await sandbox.control('GET', '/state')).json).toMatchObject({ storm: null })
    await sandbox.control('PUT', '/clock', { now: '2099-01-01T00:00:40Z' })
    expect(await sandbox.get('/pets', 'sandbox-business')).toMatchObject({ status: 200 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ violations: [] })
  })
})
