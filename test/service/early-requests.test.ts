import { describe, expect, it } from 'vitest'
import { NOON, type TestSandbox, transports } from '../support/transports.js'

const LIMITED = { limits: '1/min', banAfter: 2, freeze: true } as const

async function reasons(sandbox: TestSandbox, count: number) {
  const seen: unknown[] = []
  for (let i = 0; i < count; i++) seen.push((await sandbox.get('/pets')).reason ?? 'served')
  return seen
}

describe.each(transports)('an early request, %s', (_name, openSandbox) => {
  it.each([
    ['nothing', []],
    ['a stop of no storm', ['DELETE', '/storm']],
    ['a clear of no faults', ['DELETE', '/faults']],
    ['a storm that refuses nothing', ['PUT', '/storm', { rate: 0 }]],
    ['the lift of no ban', ['DELETE', '/keys/sandbox/ban']],
  ] as const)('counts whatever changes: %s', async (_what, [method, path, body]) => {
    const sandbox = await openSandbox(LIMITED)
    expect(await reasons(sandbox, 3)).toEqual(['served', 'quota-minute', 'quota-minute'])
    if (method !== undefined) await sandbox.control(method, path, body)
    expect(await reasons(sandbox, 1)).toEqual(['ban'])
  })

  it('counts for a minute, also after the reason of its wait is gone', async () => {
    const sandbox = await openSandbox({ storm: '1,retry-after=60s', banAfter: 2, freeze: true })
    expect(await reasons(sandbox, 2)).toEqual(['storm', 'storm'])
    await sandbox.control('DELETE', '/storm')
    await sandbox.control('PUT', '/storm', { rate: 1, retryAfter: '60s' })
    expect(await reasons(sandbox, 2)).toEqual(['storm', 'ban'])
  })

  it('counts for a minute, also after its wait is over', async () => {
    const sandbox = await openSandbox({ storm: '1,retry-after=2s', banAfter: 2, freeze: true })
    expect(await reasons(sandbox, 2)).toEqual(['storm', 'storm'])
    await sandbox.advance('50s')
    expect(await reasons(sandbox, 2)).toEqual(['storm', 'ban'])
  })

  it('counts whatever its response is', async () => {
    const sandbox = await openSandbox({ fault: 'getPet:429', banAfter: 3, freeze: true })
    const reasonOf = async (path: string) => (await sandbox.get(path)).reason
    expect(await reasonOf('/pets/1')).toBe('fault')
    expect([await reasonOf('/pets'), await reasonOf('/pets?limit=0'), await reasonOf('/pets')]).toEqual([
      undefined,
      undefined,
      'ban',
    ])
  })

  it('that is more than a minute old does not count again when the clock goes back', async () => {
    const sandbox = await openSandbox(LIMITED)
    expect(await reasons(sandbox, 3)).toEqual(['served', 'quota-minute', 'quota-minute'])
    await sandbox.advance('2m')
    await sandbox.control('PUT', '/scenario', { now: new Date(NOON).toISOString(), freeze: true })
    expect(await reasons(sandbox, 3)).toEqual(['quota-minute', 'quota-minute', 'ban'])
  })

  it('is part of a snapshot', async () => {
    const sandbox = await openSandbox(LIMITED)
    expect(await reasons(sandbox, 3)).toEqual(['served', 'quota-minute', 'quota-minute'])
    await sandbox.control('PUT', '/snapshots/early')
    expect(await reasons(sandbox, 1)).toEqual(['ban'])
    await sandbox.control('POST', '/snapshots/early/restore')
    expect(await reasons(sandbox, 3)).toEqual(['quota-minute', 'ban', 'ban'])
  })
})
