import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('a fault with retry-after, %s', (_name, openSandbox) => {
  it('names the wait, whatever its status and however the rule is written', async () => {
    const sandbox = await openSandbox({ fault: 'listPets:503*1,retry-after=2s' })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 503, retryAfter: '2', reason: 'fault' })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    const rule = { operation: '*', fault: 'status', status: 429, retryAfter: '1500ms' }
    expect((await sandbox.control('POST', '/faults', rule)).json).toEqual([
      expect.objectContaining({ left: 0 }),
      { ...rule, left: null },
    ])
    expect(await sandbox.get('/pets')).toMatchObject({ status: 429, retryAfter: '2', reason: 'fault' })
  })

  it('takes the form of --retry-after', async () => {
    const sandbox = await openSandbox({ fault: 'listPets:503,retry-after=2s', retryAfter: 'http-date' })
    expect(await sandbox.get('/pets')).toMatchObject({ retryAfter: 'Sun, 01 Mar 2026 12:00:02 GMT' })
    await sandbox.control('PATCH', '/settings', { retryAfter: 'none' })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 503, retryAfter: undefined })
  })

  it('obliges its client to wait, and brings no ban but as a 429', async () => {
    const sandbox = await openSandbox({ fault: 'listPets:503,retry-after=2s', banAfter: 1 })
    await sandbox.get('/pets')
    await sandbox.advance('2s')
    expect(await sandbox.get('/pets')).toMatchObject({ status: 503 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ violations: [] })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 503 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ violations: [{ rule: 'early-retry' }] })
  })
})
