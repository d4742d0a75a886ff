import type { Exchange } from '../../src/exchanges/exchange-record.js'

/** An exchange as in the event stream. */
export function anExchange(facts: Partial<Exchange> = {}): Exchange {
  return {
    id: 1,
    at: '2026-03-01T12:00:00.000Z',
    receivedAt: '2026-03-01T12:00:00.000Z',
    space: '',
    key: 'sandbox',
    method: 'GET',
    path: '/v1/pets',
    query: '',
    operation: 'listPets',
    status: 200,
    reason: null,
    fault: null,
    ended: 'sent',
    durationMs: 1,
    timing: { handlingMs: 1, waitingMs: 0, bodyMs: 0 },
    request: { headers: {}, body: '' },
    response: { headers: {}, body: '' },
    ...facts,
  }
}
