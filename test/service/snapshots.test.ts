import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('restoring a snapshot, %s', (_name, openSandbox) => {
  it('that sets the clock back ends later waits, so that their clients may retry', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    await sandbox.control('PUT', '/snapshots/start')
    await sandbox.advance('10m')
    expect([await sandbox.get('/pets'), await sandbox.get('/pets')]).toMatchObject([{ status: 200 }, { status: 429 }])
    await sandbox.control('POST', '/snapshots/start/restore')
    await sandbox.advance('10m')
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ violations: [], warnings: [] })
  })

  it('restores the plan of every key, also of one given at the start', async () => {
    const sandbox = await openSandbox({ apiKey: 'temp' })
    await sandbox.control('PATCH', '/keys/temp', { plan: 'pro' })
    await sandbox.control('PATCH', '/keys/sandbox-free', { plan: 'business' })
    await sandbox.control('PUT', '/snapshots/moved')
    await sandbox.control('PATCH', '/keys/temp', { plan: 'free' })
    await sandbox.control('PATCH', '/keys/sandbox-free', { plan: 'free' })
    await sandbox.control('PATCH', '/keys/sandbox-pro', { plan: 'free' })
    await sandbox.control('POST', '/snapshots/moved/restore')
    expect(await sandbox.get('/pets', 'temp')).toMatchObject({ limit: 300 })
    expect(await sandbox.get('/pets', 'sandbox-free')).toMatchObject({ limit: 1000 })
    expect(await sandbox.get('/pets', 'sandbox-pro')).toMatchObject({ limit: 300 })
  })

  it('brings no removed key back, and takes none away that was added since', async () => {
    const sandbox = await openSandbox({ apiKey: 'temp' })
    await sandbox.control('POST', '/keys', { key: 'old', plan: 'pro' })
    await sandbox.control('PUT', '/snapshots/before')
    await sandbox.control('DELETE', '/keys/old')
    await sandbox.control('DELETE', '/keys/temp')
    await sandbox.control('POST', '/keys', { key: 'new', plan: 'pro' })
    await sandbox.control('POST', '/snapshots/before/restore')
    expect(await sandbox.get('/pets', 'old')).toMatchObject({ status: 401 })
    expect(await sandbox.get('/pets', 'temp')).toMatchObject({ status: 401 })
    expect(await sandbox.get('/pets', 'new')).toMatchObject({ status: 200, limit: 300 })
  })
})
