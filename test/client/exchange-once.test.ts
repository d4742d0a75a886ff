import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import { exchangeOnce } from '../../src/client/exchange.js'

/** A dispatcher without a connection; a test provides one, and learns whether the request was sent then. */
function waitingDispatcher() {
  let waiting: Dispatcher.DispatchHandler | undefined
  return {
    dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
      waiting = handler
      return true
    },
    connected(): boolean {
      let isSent = true
      const abort = () => {
        isSent = false
      }
      waiting?.onRequestStart?.({ abort, aborted: false, paused: false, reason: null, pause() {}, resume() {} }, {})
      return isSent
    },
  }
}

const POST = { origin: 'https://staging.example', path: '/v1/pets', method: 'POST' } as const

describe('a request that waits for a connection', () => {
  it('is not sent after its timeout', async () => {
    const dispatcher = waitingDispatcher()
    const told: string[] = []
    const asked = exchangeOnce(dispatcher as unknown as Dispatcher, POST, {
      timeout: 1,
      maxBody: 1024,
      signal: undefined,
      onSent: () => told.push('sent'),
    })
    await expect(asked).rejects.toThrow('It took too long.')
    expect(dispatcher.connected()).toBe(false)
    expect(told).toEqual([])
  })

  it('is not sent after its caller has aborted', async () => {
    const dispatcher = waitingDispatcher()
    const leaving = new AbortController()
    const asked = exchangeOnce(dispatcher as unknown as Dispatcher, POST, {
      timeout: 60_000,
      maxBody: 1024,
      signal: leaving.signal,
      onSent: () => {},
    })
    leaving.abort(new Error('The client left.'))
    await expect(asked).rejects.toThrow('The client left.')
    expect(dispatcher.connected()).toBe(false)
  })
})
