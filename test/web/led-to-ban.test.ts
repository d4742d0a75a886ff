import { describe, expect, it } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { ledToBan } from '../../src/web/dashboard/explain-exchange.js'

/** @param seconds moves of the clock before each request */
async function ledTo(options: SandboxOptions, seconds: readonly number[]) {
  await using sandbox = await createSandbox({ seed: 1, now: '2026-03-01T12:00:00Z', freeze: true, ...options })
  for (const by of seconds) {
    if (by > 0) await sandbox.clock.advance(`${by}s`)
    await sandbox.fetch(`${sandbox.baseUrl}/pets?limit=1`, { headers: { authorization: 'Bearer sandbox' } })
    await sandbox.fetch(`${sandbox.baseUrl}/pets?limit=1`, { headers: { authorization: 'Bearer sandbox-pro' } })
  }
  const exchanges = await sandbox.requests()
  const { banAfter } = await sandbox.settings.show()
  const last = exchanges.findLast(({ key }) => key === 'sandbox')
  if (last === undefined) throw new Error('no exchange')
  return { last, led: ledToBan(exchanges, last, Number(banAfter)) }
}

/** Every second exchange has another key. */
const nth = (...places: readonly number[]) => places.map((place) => 2 * place - 1)

describe('the exchanges that led to a ban', () => {
  it('are the ten early requests, without the refusal that asked to wait', async () => {
    const { last, led } = await ledTo({ limits: '1/min' }, Array(12).fill(0))
    expect(last.reason).toBe('ban')
    expect(led).toEqual(nth(3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
  })

  it('are the same for a later request that the ban refuses', async () => {
    const { led } = await ledTo({ limits: '1/min', banAfter: 3 }, [0, 0, 0, 1, 1, 1, 1])
    expect(led).toEqual(nth(3, 4, 5))
  })

  it('are not requests older than a minute', async () => {
    const { last, led } = await ledTo({ limits: '1000/min,1/day', banAfter: 3 }, [0, 0, 0, 61, 1, 1])
    expect(last.reason).toBe('ban')
    expect(led).toEqual(nth(4, 5, 6))
  })

  it('are empty after keys.ban', async () => {
    const { last, led } = await ledTo({ scenario: { ban: { sandbox: '5m' } } }, [0, 0])
    expect(last.reason).toBe('ban')
    expect(led).toEqual([])
  })
})
