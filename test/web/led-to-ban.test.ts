import { expect, it } from 'vitest'
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

const hand = { scenario: { ban: { sandbox: '5m' } } }
it.each<[what: string, SandboxOptions, seconds: readonly number[], places: readonly number[]]>([
  [
    'ten early requests, without the refusal',
    { limits: '1/min' },
    Array(12).fill(0),
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  ],
  ['the same for a later refusal', { limits: '1/min', banAfter: 3 }, [0, 0, 0, 1, 1, 1, 1], [3, 4, 5]],
  ['none older than a minute', { limits: '1000/min,1/day', banAfter: 3 }, [0, 0, 0, 61, 1, 1], [4, 5, 6]],
  ['none after keys.ban', hand, [0, 0], []],
])('the exchanges that led to a ban are %s', async (_what, options, seconds, places) => {
  const { last, led } = await ledTo(options, seconds)
  expect(last.reason).toBe('ban')
  // Every second exchange has another key.
  expect(led).toEqual(places.map((place) => 2 * place - 1))
})
