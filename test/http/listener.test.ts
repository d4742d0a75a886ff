import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { runSandbox } from '../../src/start/sandbox.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { exchange, KEYED, openSocket, startOnPort } from '../support/raw-http.js'

describe("input that Node's parser refuses", () => {
  it.each([
    ['a bad header', `GET /v1/pets HTTP/1.1\r\n${KEYED}bad header\r\n\r\n`, 400, 'bad_request'],
    ['huge headers', `GET /v1/pets HTTP/1.1\r\n${KEYED}X-Big: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ])('gets the Error shape and rate-limit headers: %s', async (_what, sent, status, code) => {
    const { port } = await startOnPort()
    const got = await exchange(port, sent)
    expect(got).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(got).toMatch(/\r\nX-RateLimit-Remaining: \d+\r\n/)
    expect(JSON.parse(got.slice(got.indexOf('\r\n\r\n')))).toMatchObject({ code, status })
  })
})

describe('a request', () => {
  const CLOSE = 'Connection: close\r\n\r\n'

  it('that is too large gets a 413 while the client is still sending, not a cut connection', async () => {
    const { port } = await startOnPort()
    const head = `POST /v1/pets HTTP/1.1\r\n${KEYED}Content-Type: application/json\r\nContent-Length: 3000000\r\n\r\n`
    const socket = await openSocket(port)
    socket.write(Buffer.from(head + 'a'.repeat(3_000_000)))
    while (!socket.received.includes('payload_too_large')) await new Promise(setImmediate)
    expect(socket.received).toMatch(/^HTTP\/1.1 413 /)
    socket.destroy()
  })

  it('with a method that Request objects cannot have gets a 405 from the control plane', async () => {
    const { port } = await startOnPort()
    const got = await exchange(port, `TRACE /__sandbox/state HTTP/1.1\r\nHost: localhost\r\n${CLOSE}`)
    expect(got).toMatch(/^HTTP\/1.1 405 .*"code":"method_not_allowed"/s)
  })

  it('with a second token does not log it', async () => {
    const { port, controlUrl } = await startOnPort()
    await exchange(port, `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}Authorization: Bearer REALSECRET\r\n${CLOSE}`)
    expect(await (await fetch(`${controlUrl}/requests`)).text()).not.toContain('REALSECRET')
  })

  it('to the control plane may have a query', async () => {
    const { controlUrl } = await startOnPort()
    const response = await fetch(`${controlUrl}?x=1`, { redirect: 'manual' })
    expect([response.status, response.headers.get('Location')]).toEqual([308, '/__sandbox/?x=1'])
    expect(response.headers.has('x-ratelimit-limit')).toBe(false)
  })
})

describe('faults on the wire', () => {
  const fault = async (rule: string) => {
    const { port } = await startOnPort({ fault: rule })
    return new Promise<{ got: string; error: string | undefined }>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      let got = ''
      let error: string | undefined
      socket.on('data', (chunk) => (got += chunk))
      socket.on('error', ({ message }) => (error = message))
      socket.on('close', () => resolve({ got, error }))
      socket.write(`GET /v1/pets HTTP/1.1\r\n${KEYED}\r\n`)
    })
  }

  it('reset the connection, close it without a byte, break the chunks of a 200, or send half of the body', async () => {
    expect(await fault('*:connection-reset')).toEqual({ got: '', error: expect.stringMatching(/ECONNRESET/) })
    expect(await fault('*:empty-response')).toEqual({ got: '', error: undefined })
    expect((await fault('*:malformed-chunk')).got).toMatch(
      /^HTTP\/1.1 200 .*Transfer-Encoding: chunked.*\r\nnot-a-chunk-size\r\n/s,
    )
    const { got, error } = await fault('*:truncated-body,after')
    const [, length = 0, body = ''] = /\r\nContent-Length: (\d+)\r\n.*?\r\n\r\n(.*)$/s.exec(got) ?? []
    expect(error).toBeUndefined()
    expect(Buffer.byteLength(body)).toBe(Math.floor(Number(length) / 2))
  })
})

describe('stopping', () => {
  it('frees the port in spite of idle connections and a hanging request', async () => {
    const sandbox = await startOnPort({ fault: 'listOrders:hang' })
    const silent = await openSocket(sandbox.port)
    const idle = await openSocket(sandbox.port)
    await new Promise((resolve) => {
      idle.once('data', resolve)
      idle.write(`GET /v1/pets/1 HTTP/1.1\r\n${KEYED}\r\n`)
    })
    const hanging = exchange(sandbox.port, `GET /v1/store/orders HTTP/1.1\r\n${KEYED}\r\n`)
    while (sandbox.core.spaces.default.log.total < 2) await new Promise(setImmediate)
    const others = [silent, idle].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    await sandbox.stop()
    await Promise.all([hanging, ...others])
    const again = await startOnPort({ port: sandbox.port })
    expect(again.port).toBe(sandbox.port)
  })

  it('reports a port in use, and what to do', async () => {
    const { port } = await startOnPort()
    await expect(runSandbox(embeddedOptions({ port }))).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringMatching(new RegExp(`Port ${port} of 127.0.0.1 is in use.*--port`)),
    })
  })
})
