import { describe, expect, it } from 'vitest'
import type { ServiceRequest } from '../../src/domain/messages.js'
import { batchText, type Item, itemText, readBatch } from '../../src/replication/batch-text.js'
import fc from '../support/fast-check.js'

function request(more: Partial<ServiceRequest> = {}): ServiceRequest {
  const rawHeaders = more.rawHeaders ?? ['Authorization', 'Bearer sandbox']
  return {
    method: 'GET',
    target: '/v1/pets?limit=1',
    headers: Object.fromEntries(rawHeaders.length === 0 ? [] : [['authorization', 'Bearer sandbox']]),
    body: undefined,
    address: '127.0.0.1',
    connection: 3,
    deliveredUpTo: 2,
    sentUpTo: 2,
    ...more,
    rawHeaders,
  }
}

function again(...items: readonly Item[]): readonly Item[] {
  return readBatch(batchText(items.map(itemText)))
}

describe('an entry of the log', () => {
  it('keeps requests with any body', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.string({ unit: 'binary' }), (bytes, text) => {
        for (const body of [bytes, new TextEncoder().encode(text)]) {
          const [item] = again({ kind: 'request', request: request({ body }) })
          if (item?.kind !== 'request' || !(item.request.body instanceof Uint8Array)) throw new Error('no body')
          expect([...item.request.body]).toEqual([...body])
        }
      }),
    )
  })

  const items: readonly Item[] = [
    { kind: 'request', request: request() },
    { kind: 'request', request: request({ body: 'too-large' }) },
    { kind: 'request', request: request(), refused: 'bad_request' },
    { kind: 'request', request: request(), mock: { status: 200, headers: { a: 'ü' }, body: '{}' } },
    { kind: 'verb', space: 'a', verb: 'keys.add', input: { id: 2n ** 62n, name: '√', status: null } },
    {
      kind: 'ended',
      exchanges: [
        { space: '', id: 1, position: 2, how: 'sent', durationMs: 0.25, waitingMs: 0, bodyMs: 0, connection: 4 },
      ],
      unread: [{ space: 'a', id: 2, position: 3 }],
    },
    { kind: 'heartbeat', heartbeat: { address: 'a:1', applied: 4, position: 2, lagMs: 3 } },
    { kind: 'leave' },
  ]

  it('keeps every kind of item', () => {
    expect(again(...items)).toEqual(items)
  })

  it('contains the text of a body that is not UTF-8, so that keys in it can be hidden', () => {
    const body = Buffer.from('\u00ff Bearer sk_live_secret', 'latin1')
    expect(itemText({ kind: 'request', request: request({ body }) })).toContain('sk_live_secret')
  })
})
