import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BodyRoom } from '../../src/http/body-room.js'
import { bridge } from '../../src/http/control-bridge.js'
import { connectSandbox, createSandbox, startSandbox } from '../../src/index.js'
import { transports } from '../support/transports.js'

describe('a fixture key', () => {
  it('is the default one when none is named, without and with a socket', async () => {
    await using created = await createSandbox()
    await using started = await startSandbox()
    expect([created.key(), started.key(), started.key('pro')]).toEqual(['sandbox', 'sandbox', 'sandbox-pro'])
  })
})

describe('a request that hangs without a socket', () => {
  it('is cut when the sandbox closes', async () => {
    const sandbox = await createSandbox({ fault: '*:hang' })
    const hanging = sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
    const cut = expect(hanging).rejects.toThrow('fetch failed')
    while ((await sandbox.requests()).length === 0) await new Promise(setImmediate)
    await sandbox.close()
    await cut
  })
})

describe.each(transports)('keys, %s', (_name, openSandbox) => {
  it('that were added while it runs are the same in every space, also after its reset', async () => {
    const sandbox = await openSandbox()
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
    expect(await sandbox.get('/pets', 'mine~a')).toMatchObject({ status: 200, limit: 300 })
    await sandbox.control('POST', '/reset?space=a')
    expect(await sandbox.get('/pets', 'mine~a')).toMatchObject({ status: 200, limit: 300 })
  })

  it('that were given at the start are never stored, whatever is done to them', async () => {
    const sandbox = await openSandbox({ apiKey: 'temp' })
    await sandbox.control('PATCH', '/keys/temp', { plan: 'pro' })
    expect(await sandbox.get('/pets', 'temp')).toMatchObject({ limit: 300 })
    expect(sandbox.assembly.spaces.default.state().keys.map(({ key }) => key)).not.toContain('temp')
  })

  it('that are always out of quota are never banned, not even by hand', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.control('PUT', '/keys/sandbox-limited/ban')).toMatchObject({ status: 409 })
  })

  it('name no space that no address could name', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.get('/pets', 'sandbox~..')).toMatchObject({ status: 401 })
    expect(await sandbox.get('/pets', 'sandbox~...')).toMatchObject({ status: 200 })
  })
})

describe.each(transports)('verbs given at the same time, %s', (_name, openSandbox) => {
  it('are done one after the other, so that none undoes another', async () => {
    const sandbox = await openSandbox()
    await Promise.all([
      sandbox.control('PATCH', '/pets/6', { name: 'A' }),
      sandbox.control('PATCH', '/pets/6', { status: 'sold' }),
    ])
    expect((await sandbox.get('/pets/6')).json).toMatchObject({ name: 'A', status: 'sold' })
    const added = await Promise.all([1, 2].map(() => sandbox.control('POST', '/keys', { key: 'same' })))
    expect(added.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('cannot change what their path says', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.control('PATCH', '/pets/1', { id: 2, name: 'X' })).toMatchObject({ status: 400 })
  })
})

describe('the stream of exchanges', () => {
  it('ends when its space is removed', async () => {
    await using sandbox = await startSandbox()
    await sandbox.space('a').reset()
    const stream = await fetch(`${sandbox.controlUrl}/requests/stream?space=a`)
    await connectSandbox(sandbox.controlUrl).spaces.remove('a')
    expect(await stream.text()).toMatch(/^: connected/)
  })

  it('is given up when its reader goes, so that nobody goes on writing it', async () => {
    let given = () => {}
    const isGivenUp = new Promise<void>((resolve) => {
      given = resolve
    })
    const endless = () =>
      new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(1)), cancel: given }))
    const server = createServer((request, response) => void bridge(endless, request, response, new BodyRoom()))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const leave = new AbortController()
    const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { signal: leave.signal })
    await body?.getReader().read()
    leave.abort()
    await isGivenUp
  })
})

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

  it('an Expect that is not understood is ignored', async () => {
    const { port } = await start()
    const head = 'Host: a\r\nAuthorization: Bearer sandbox\r\nExpect: wonders\r\nConnection: close\r\n\r\n'
    expect(await talk(port, `GET /v1/pets/1 HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1.1 200 .*X-RateLimit-Limit/s)
  })

  it('a method that no Request can have is 405 on the control plane', async () => {
    const { port } = await start()
    const got = await talk(port, 'TRACE /__sandbox/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect(got).toMatch(/^HTTP\/1.1 405 .*"code":"method_not_allowed"/s)
  })

  it('a second token is not in the log', async () => {
    const { sandbox, port } = await start()
    const head =
      'Host: a\r\nAuthorization: Bearer sandbox\r\nAuthorization: Bearer REALSECRET\r\nConnection: close\r\n\r\n'
    await talk(port, `GET /v1/pets/1 HTTP/1.1\r\n${head}`)
    expect(JSON.stringify(await sandbox.requests())).not.toContain('REALSECRET')
  })

  it('the control plane is found with a query, too', async () => {
    const { sandbox } = await start()
    const answer = await fetch(`${sandbox.controlUrl}?x=1`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('Location')]).toEqual([308, '/__sandbox/?x=1'])
    expect(answer.headers.has('x-ratelimit-limit')).toBe(false)
  })
})
