import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'

describe('on the wire', () => {
  const talk = async (port: number, sent: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let got = ''
      socket.on('data', (chunk) => {
        got += chunk
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(got))
      socket.write(sent)
    })

  const start = async () => {
    const sandbox = await startSandbox()
    onTestFinished(() => sandbox.close())
    return { sandbox, port: Number(new URL(sandbox.baseUrl).port) }
  }

  it('an unknown Expect is ignored', async () => {
    const { port } = await start()
    const head = 'Host: a\r\nAuthorization: Bearer sandbox\r\nExpect: wonders\r\nConnection: close\r\n\r\n'
    expect(await talk(port, `GET /v1/pets/1 HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1.1 200 .*X-RateLimit-Limit/s)
  })

  it('a method that Request objects cannot have gets a 405 from the control plane', async () => {
    const { port } = await start()
    const got = await talk(port, 'TRACE /__sandbox/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect(got).toMatch(/^HTTP\/1.1 405 .*"code":"method_not_allowed"/s)
  })

  it('a second token is not logged', async () => {
    const { sandbox, port } = await start()
    const head =
      'Host: a\r\nAuthorization: Bearer sandbox\r\nAuthorization: Bearer REALSECRET\r\nConnection: close\r\n\r\n'
    await talk(port, `GET /v1/pets/1 HTTP/1.1\r\n${head}`)
    expect(JSON.stringify(await sandbox.requests())).not.toContain('REALSECRET')
  })

  it('the control plane accepts a query', async () => {
    const { sandbox } = await start()
    const answer = await fetch(`${sandbox.controlUrl}?x=1`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('Location')]).toEqual([308, '/__sandbox/?x=1'])
    expect(answer.headers.has('x-ratelimit-limit')).toBe(false)
  })
})
