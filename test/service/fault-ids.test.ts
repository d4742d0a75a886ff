import { describe, expect, it } from 'vitest'
import type { ActiveView } from '../../src/control/views.js'
import { type TestSandbox, transports } from '../support/transports.js'

/** Rules whose texts are equal, because only the start of a long body is shown. */
const rule = (code: string, times: number) => ({
  operation: 'listPets',
  status: 429,
  times,
  retryAfter: '60s',
  body: { code: `${'x'.repeat(100)}${code}`, message: 'Wait.', status: 429 },
})

describe.each(transports)('a fault rule, %s', (_name, openSandbox) => {
  const violations = async (sandbox: TestSandbox) => (await sandbox.control('GET', '/conduct')).json.violations
  const active = async (sandbox: TestSandbox) => {
    const views = (await sandbox.control('GET', '/state')).json.active as readonly ActiveView[]
    return views.filter(({ what }) => what === 'fault')
  }
  const open = async (...rules: readonly unknown[]) => {
    const sandbox = await openSandbox({ freeze: true, limits: '100/min' })
    await sandbox.control('PUT', '/faults', rules)
    return sandbox
  }

  it('has an id of its own, and its own hits, beside one with the same text', async () => {
    const sandbox = await open(rule('a', 3), rule('b', 3))
    await sandbox.get('/pets')
    const [one, other] = await active(sandbox)
    expect([one?.text, one?.hits, one?.left, other?.hits, other?.left]).toEqual([other?.text, 1, 2, 0, 3])
    expect(one?.id).not.toBe(other?.id)
    expect((await sandbox.control('GET', '/requests')).json).toMatchObject([{ ruleId: one?.id }])
  })

  it('ends its waits when it is removed, also if one with the same text stays', async () => {
    const sandbox = await open(rule('a', 3), rule('b', 3))
    await sandbox.get('/pets')
    await sandbox.control('PUT', '/faults', [rule('b', 3)])
    await sandbox.get('/pets')
    expect(await violations(sandbox)).toEqual([])
    expect(await active(sandbox)).toMatchObject([{ hits: 1, left: 2 }])
  })

  it('keeps waits, hits and uses when another one is removed', async () => {
    const sandbox = await open('getPet:500', rule('b', 3))
    await sandbox.get('/pets')
    await sandbox.control('PUT', '/faults', [rule('b', 2)])
    expect(await active(sandbox)).toMatchObject([{ hits: 1, left: 2, text: expect.stringContaining('429*3') }])
    await sandbox.get('/pets')
    expect(await violations(sandbox)).toMatchObject([{ rule: 'early-retry' }])
  })

  it('is the same again after a snapshot with it was restored', async () => {
    const sandbox = await open(rule('b', 3))
    await sandbox.control('PUT', '/snapshots/armed')
    await sandbox.get('/pets')
    await sandbox.control('POST', '/snapshots/armed/restore')
    expect(await active(sandbox)).toMatchObject([{ hits: 1, left: 3 }])
  })
})
