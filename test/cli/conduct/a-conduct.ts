import type { Conduct, Finding, PlanOutcome, WhatIf } from '../../../src/conduct/conduct-view.js'

/** A finding, as a test wants it. */
export function aFinding<F extends Partial<Finding>>(finding: F) {
  return {
    key: 'sandbox',
    sender: '',
    operation: 'listPets',
    message: 'GET /v1/pets was sent again 58 s early.',
    request: { method: 'GET', path: '/v1/pets', query: '' },
    disobeyed: null,
    count: 1,
    clients: ['curl'],
    countByClient: { curl: finding.count ?? 1 },
    exchanges: [7],
    firstAt: '2026-03-01T12:00:00.000Z',
    lastAt: '2026-03-01T12:00:00.000Z',
    ...finding,
  }
}

/** Refusals a minute on Free and Pro. */
export function aWhatIf(requests: number, refusedByFree = 0, refusedByPro = 0): WhatIf {
  const plans = [outcome('free', 60, 1000, refusedByFree), outcome('pro', 300, 10_000, refusedByPro)]
  const cheapest = plans.find(({ refusals }) => refusals === 0)?.plan ?? null
  const configured = { refusals: refusedByFree, refused: { minute: refusedByFree, day: 0, ban: 0 } }
  return { requests, peakMinute: requests, peakDay: requests, plans, configured, cheapest }
}

/** Conduct of one space, clean unless said otherwise. */
export function aConduct(conduct: Partial<Conduct> = {}): Conduct {
  const whatIf = aWhatIf(conduct.requests ?? 3)
  return {
    space: '',
    requests: 3,
    reached: conduct.requests ?? 3,
    senders: 1,
    sendersStated: false,
    violations: [],
    warnings: [],
    notes: [],
    whatIf,
    keys: [{ key: 'sandbox', plan: 'free', ...whatIf }],
    ...conduct,
  }
}

function outcome(plan: PlanOutcome['plan'], perMinute: number, perDay: number, minute: number): PlanOutcome {
  return { plan, perMinute, perDay, refusals: minute, refused: { minute, day: 0, ban: 0 } }
}
