import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

/** It has the same routes over every transport. */
describe.each(transports.slice(0, 1))('the control plane, %s', (_name, openSandbox) => {
  it('refuses bodies larger than 256 kB', async () => {
    const sandbox = await openSandbox()
    const { status, json } = await sandbox.control('PUT', '/scenario', { description: 'a'.repeat(256_000) })
    expect([status, json.code]).toEqual([413, 'payload_too_large'])
  })

  it.each([
    ['unknown names', Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1]))],
    ['a name of 200 kB', { ['k'.repeat(200_000)]: 1 }],
    ['a deeply nested list', { plan: JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`) }],
    ['a key of 200 kB', { used: { ['k'.repeat(200_000)]: '1/min' } }],
    ['20,000 wrong faults', { fault: Array.from({ length: 20_000 }, () => 'x') }],
  ])('refuses %s with a short message', async (_what, scenario) => {
    const sandbox = await openSandbox()
    const { status, json } = await sandbox.control('PUT', '/scenario', scenario)
    expect(status).toBe(400)
    expect(String(json.message).length).toBeLessThanOrEqual(8001)
  })

  it('counts unlisted problems', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`k${i}`, 1]))
    const { json } = await (await openSandbox()).control('PUT', '/scenario', wrong)
    expect(json.message).toMatch(/scenario: k49: cannot be set by a scenario; and 20 more\.$/)
  })
})
