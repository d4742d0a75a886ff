import { describe, expect, it } from 'vitest'
import type { JudgedRequest } from '../../src/conduct/judged-request.js'
import { isReasonThere } from '../../src/conduct/reasons.js'
import { armFaults } from '../../src/domain/faults.js'
import type { ApiKey } from '../../src/domain/keys.js'
import type { Reason } from '../../src/domain/problems.js'
import { MINUTE_MS } from '../../src/domain/time.js'
import { NOON, Scene } from './scene.js'

const LIMITS = { perMinute: 1, perDay: 2 }
const [FAULT] = armFaults([{ rule: { operation: 'listPets', fault: 'status', status: 503, times: 1 } }], [], 0)

/** A space with every reason to wait since its second request. */
function arrival({ rateLimit = true, limits = LIMITS, always }: Given = {}): JudgedRequest {
  const judged = new Scene().judged()
  const { caller, space } = judged
  if (caller.kind !== 'key') throw new Error('unexpected caller')
  return {
    ...judged,
    caller: {
      ...caller,
      limits,
      apiKey: { ...caller.apiKey, ...(always && { always }) },
    },
    space: {
      ...space,
      state: {
        settings: { ...space.state.settings, rateLimit },
        storm: { rate: 1, startedAt: NOON, afterRequests: 1 },
        faults: FAULT === undefined ? [] : [{ ...FAULT, left: 0 }],
        accounts: {
          view: () => ({
            usage: { minute: { openedAt: NOON, used: 1 }, day: { openedAt: NOON, used: 2 } },
            bans: { ban: { from: NOON, until: NOON + MINUTE_MS, afterRequests: 1 } },
            early: [],
          }),
        },
      },
    },
  }
}

interface Given {
  readonly rateLimit?: boolean
  readonly limits?: typeof LIMITS
  readonly always?: ApiKey['always']
}

const isThere = (reason: Reason | null, judged: JudgedRequest, request = 2, ruleId = FAULT?.id ?? null) =>
  isReasonThere({ request, reason, ruleId }, judged)

describe('the reason of a refusal', () => {
  it.each(['quota-minute', 'quota-day', 'ban', 'storm', 'fault', 'forced', 'upstream', null] as const)(
    'is there while nothing has changed: %s',
    (reason) => expect(isThere(reason, arrival())).toBe(true),
  )

  it.each([
    ['a window that has room', 'quota-minute', { limits: { perMinute: 2, perDay: 2 } }],
    ['a day that has room', 'quota-day', { limits: { perMinute: 1, perDay: 3 } }],
    ['limits that are off', 'quota-minute', { rateLimit: false }],
  ] as const)('is gone with %s', (_what, reason, given) => expect(isThere(reason, arrival(given))).toBe(false))

  it('is gone with a ban or a storm that started later', () => {
    for (const reason of ['ban', 'storm'] as const) expect(isThere(reason, arrival(), 1)).toBe(false)
  })

  it('is gone with the fault rule', () => {
    expect(isThere('fault', arrival(), 2, 'another')).toBe(false)
  })

  it('never goes for keys that are always limited or banned', () => {
    expect(isThere('quota-minute', arrival({ rateLimit: false, always: 'limited' }))).toBe(true)
    expect(isThere('ban', arrival({ always: 'banned' }), 1)).toBe(true)
  })
})
