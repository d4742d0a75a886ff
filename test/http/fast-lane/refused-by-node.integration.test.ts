import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { runSandbox } from '../../../src/start/sandbox.js'
import { embeddedOptions } from '../../support/embedded-options.js'
import { STEP_PATIENCE_MS } from '../../support/patience.js'

/** A parser that accepts less than it says. */
vi.mock('node:http', async (load) => {
  const http = await load<typeof import('node:http')>()
  return { ...http, createServer: (options: object) => http.createServer({ ...options, maxHeaderSize: 200 }) }
})

it('reports a request that was executed before Node refused it', async () => {
  const warnings: string[] = []
  const ends: string[] = []
  const options = embeddedOptions({ now: '2026-03-01T10:00:00Z', freeze: true, latency: '1ms' })
  const sandbox = await runSandbox(options, {
    onWarning: (message) => warnings.push(message),
    onExchange: ({ how, status }) => ends.push(`${status} ${how}`),
  })
  onTestFinished(() => sandbox.stop('now'))
  const socket = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1')
  let got = ''
  socket.on('data', (chunk) => {
    got += chunk
  })
  socket.write(
    `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer sandbox\r\nX-Long: ${'a'.repeat(300)}\r\n\r\n`,
  )
  await once(socket, 'close')
  expect(got).toMatch(/^HTTP\/1\.1 431 /)
  await vi.waitFor(() => expect(ends).toEqual(['431 sent', 'undefined cut']), STEP_PATIENCE_MS)
  expect(warnings.join()).toContain("Node's HTTP parser refused a request after the sandbox had executed it")
})
