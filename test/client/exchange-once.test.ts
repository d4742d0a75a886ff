import type { Dispatcher } from 'undici'
import { expect, it, vi } from 'vitest'
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

it.each([
  ['its timeout', 1, 'It took too long.'],
  ['its caller has aborted', 60_000, 'The client left.'],
])('a request that waits for a connection is not sent after %s', async (_when, timeout, message) => {
  const dispatcher = waitingDispatcher()
  const leaving = new AbortController()
  const onSent = vi.fn()
  const options = { timeout, maxBody: 1024, signal: leaving.signal, onSent }
  const asked = exchangeOnce(dispatcher as unknown as Dispatcher, POST, options)
  if (timeout > 1) leaving.abort(new Error('The client left.'))
  await expect(asked).rejects.toThrow(message)
  expect(dispatcher.connected()).toBe(false)
  expect(onSent).not.toHaveBeenCalled()
})
