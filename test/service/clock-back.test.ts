import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

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
