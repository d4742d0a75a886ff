import { createServer, type ServerResponse } from 'node:http'
import { Pool } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import { exchangeOnce, openExchange } from '../../src/client/exchange.js'
import { formatDuration } from '../../src/domain/time.js'
import { listenLocally } from '../support/listen-locally.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'

it.each([
  ['its timeout', 1, 'It took too long.'],
  ['its caller has aborted', STEP_PATIENCE_MS, 'The client left.'],
])('a request that waits for a connection is not sent after %s', async (_when, timeout, message) => {
  const received: string[] = []
  let first: ServerResponse | undefined
  const server = createServer((request, response) => {
    received.push(String(request.url))
    if (request.url === '/first') first = response
    else response.end()
  })
  const pool = new Pool(await listenLocally(server), { connections: 1 })
  onTestFinished(() => pool.destroy())
  const ask = (path: string, limit: number, signal?: AbortSignal) =>
    exchangeOnce(pool, { path, method: 'POST' }, { timeout: limit, maxBody: 1024, signal })
  const busy = ask('/first', STEP_PATIENCE_MS)
  await expect.poll(() => first).toBeDefined()
  const leaving = new AbortController()
  const waiting = ask('/second', timeout, leaving.signal)
  if (timeout > 1) leaving.abort(new Error('The client left.'))
  await expect(waiting).rejects.toThrow(message)
  first?.end()
  await busy
  await ask('/third', STEP_PATIENCE_MS)
  expect(received).toEqual(['/first', '/third'])
})

it('a part of the time limit may have passed before, and the message has the whole limit', async () => {
  const origin = await listenLocally(createServer(() => {}))
  const exchange = await openExchange(origin, {})
  onTestFinished(() => exchange.close())
  const limits = { timeout: STEP_PATIENCE_MS, spent: STEP_PATIENCE_MS - 1, maxBody: 1024 }
  const request = { method: 'GET', url: `${origin}/v1/pets`, headers: [], body: undefined }
  await expect(exchange.send(request, limits)).rejects.toThrow(formatDuration(STEP_PATIENCE_MS))
})
