import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectSandbox, createSandbox, startSandbox } from '../../src/index.js'
import { listenLocally } from '../support/listen-locally.js'
import { type OpenSandbox, transports } from '../support/transports.js'

async function opened(openSandbox: OpenSandbox, options: object = {}) {
  const sandbox = await openSandbox(options)
  await sandbox.control('POST', '/reset?space=checkout')
  const requestsIn = async (space: string) => {
    const { json } = await sandbox.control('GET', `/requests?space=${space}`)
    return (json as unknown as readonly { readonly path: string; readonly status: number }[]).map(
      ({ path, status }) => `${path} ${status}`,
    )
  }
  return { sandbox, requestsIn }
}

// @source docs/behaviour.md, "Spaces"
describe.each(transports)('an address names the space, %s', (_name, openSandbox) => {
  it.each(['/~checkout/v1/pets/1', '/%7Echeckout/v1/pets/1', '/%7echeckout/v1/pets/1'])('%s', async (path) => {
    const { sandbox, requestsIn } = await opened(openSandbox)
    expect(await sandbox.call(path)).toMatchObject({ status: 200, remaining: 59 })
    expect(await sandbox.call(path, { key: 'sandbox~checkout' })).toMatchObject({ status: 200, remaining: 58 })
    expect(await sandbox.call(path, { key: 'sandbox~+w3' })).toMatchObject({ status: 200, remaining: 57 })
    expect(await sandbox.call(path, { key: null })).toMatchObject({ status: 401 })
    expect(await sandbox.call(path, { key: 'wrong' })).toMatchObject({ status: 401 })
    expect(await requestsIn('checkout')).toEqual(['200', '200', '200', '401', '401'].map((end) => `/v1/pets/1 ${end}`))
    expect(await requestsIn('')).toEqual([])
  })

  it('whose addresses have it in their responses', async () => {
    const { sandbox } = await opened(openSandbox)
    const { headers } = await sandbox.call('/~checkout/v1/pets/1')
    expect(headers.get('link')).toBe('</~checkout/v1/pets?status=available>; rel="successor-version"')
    expect((await sandbox.call('/v1/pets/1', { key: 'sandbox~checkout' })).headers.get('link')).toMatch(/^<\/v1\/pets/)
  })

  it('and a valid key opens it', async () => {
    const { sandbox, requestsIn } = await opened(openSandbox)
    expect(await sandbox.call('/~other/v1/pets/1')).toMatchObject({ status: 200 })
    expect(await requestsIn('other')).toEqual(['/v1/pets/1 200'])
  })

  it.each([
    ['/~other/v1/pets', null, 404, 'The space "other" is not open. Open it with POST /__sandbox/reset?space=other.'],
    ['/~other/v1/pets', 'wrong', 404, 'The space "other" is not open. Open it with POST /__sandbox/reset?space=other.'],
    ['/~other/v1/pets', 'sandbox-revoked', 404, 'The space "other" is not open. Open it with POST /__sandbox/reset'],
    ['/~/v1/pets', 'sandbox', 404, 'The address names the space "": must be 1 to 64 of A-Z a-z 0-9 . _ -.'],
    ['/~a%20b/v1/pets', 'sandbox', 404, 'The address names the space "a%20b": must be 1 to 64 of'],
    ['/~checkout/__sandbox/state', 'sandbox', 404, 'The control plane is at /__sandbox. Name the space with ?space='],
    ['/~checkout/v1/pets', 'sandbox~other', 400, 'The address names the space "checkout", the key "other".'],
  ] as const)(
    'or %s with the key %s is a %i of the default space, which is never judged',
    async (path, key, status, message) => {
      const { sandbox, requestsIn } = await opened(openSandbox)
      const response = await sandbox.call(path, { key })
      expect(response).toMatchObject({ status, code: status === 404 ? 'not_found' : 'invalid_request', remaining: 60 })
      expect(response.json).toMatchObject({ message: expect.stringContaining(message) })
      expect(await requestsIn('')).toEqual([`${path.replace(/^\/~[^/]*/, '')} ${status}`])
      expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({
        requests: 0,
        violations: [],
        warnings: [],
      })
      expect(await requestsIn('checkout')).toEqual([])
      const { json } = await sandbox.control('GET', '/spaces')
      expect((json as unknown as readonly { readonly name: string }[]).map(({ name }) => name)).toEqual(['checkout'])
    },
  )

  it('before the baggage', async () => {
    const { sandbox, requestsIn } = await opened(openSandbox, { spaceFrom: 'baggage' })
    await sandbox.control('POST', '/reset?space=other')
    const headers = { baggage: 'sandbox-space=other' }
    expect(await sandbox.call('/~checkout/v1/pets/1', { headers })).toMatchObject({ status: 200 })
    expect(await requestsIn('checkout')).toHaveLength(1)
    expect(await requestsIn('other')).toEqual([])
  })

  it('and a preflight opens nothing', async () => {
    const { sandbox } = await opened(openSandbox)
    const headers = { origin: 'http://shop.test', 'access-control-request-method': 'GET' }
    expect(await sandbox.call('/~other/v1/pets', { method: 'OPTIONS', headers })).toMatchObject({ status: 204 })
    expect((await sandbox.control('GET', '/spaces')).json).toMatchObject([{ name: 'checkout' }])
  })
})

describe('the base address of a space', () => {
  it('is that of startSandbox and connectSandbox', async () => {
    const sandbox = await startSandbox()
    onTestFinished(() => sandbox.close())
    const { baseUrl } = sandbox.space('checkout')
    expect(baseUrl).toBe(sandbox.baseUrl.replace('/v1', '/~checkout/v1'))
    expect(await connectSandbox(sandbox.controlUrl).space('checkout').baseUrl()).toBe(baseUrl)
    await sandbox.space('checkout').faults.add('listPets:503')
    const headers = { authorization: 'Bearer sandbox' }
    expect((await fetch(`${baseUrl}/pets`, { headers })).status).toBe(503)
    expect((await fetch(`${sandbox.baseUrl}/pets`, { headers })).status).toBe(200)
  })

  it('is one that fetch of a space without a socket uses, which sends other addresses there too', async () => {
    const sandbox = await createSandbox()
    onTestFinished(() => sandbox.close())
    const space = sandbox.space('checkout')
    const headers = { authorization: 'Bearer sandbox' }
    for (const { baseUrl } of [space, sandbox]) await space.fetch(`${baseUrl}/pets`, { headers })
    await sandbox.fetch(`${space.baseUrl}/pets`, { headers })
    expect(await space.requests()).toHaveLength(3)
    await space.fetch(`${sandbox.space('other').baseUrl}/pets`, { headers })
    expect(await sandbox.space('other').requests()).toHaveLength(1)
    expect(await sandbox.requests()).toEqual([])
  })
})

it('a recorded request is sent again in its space, and has that address in an archive', async () => {
  const sandbox = await startSandbox()
  onTestFinished(() => sandbox.close())
  const space = sandbox.space('checkout')
  await fetch(`${space.baseUrl}/pets/1`, { headers: { authorization: 'Bearer sandbox-pro' } })
  expect((await space.requests.har()).log.entries[0]?.request.url).toBe(`${space.baseUrl}/pets/1`)
  expect(await space.requests.replay(1)).toMatchObject({ space: 'checkout', key: 'sandbox-pro', status: 200 })
  expect(await space.requests.replay(1, { key: 'sandbox' })).toMatchObject({ space: 'checkout', key: 'sandbox' })
  expect(await space.requests.replay(1, { key: 'sandbox~other' })).toMatchObject({ space: 'other' })
})

it('the service behind a sandbox does not see the space, which its Locations get', async () => {
  const targets: unknown[] = []
  const service = createServer((request, response) => {
    targets.push(request.url)
    const { url = '' } = request
    const locations = [`${address}/api/pets/7`, '/api/pets/7', 'https://elsewhere.test/api/pets/7']
    response.writeHead(201, { location: locations[Number(url.at(-1))] ?? '', 'content-type': 'application/json' })
    response.end('{}')
  })
  const address: string = await listenLocally(service)
  const sandbox = await startSandbox({ upstream: `${address}/api`, upstreamWrites: 'forward' })
  onTestFinished(() => sandbox.close())
  const space = sandbox.space('checkout')
  await space.reset()
  const headers = { authorization: 'Bearer of-the-real-service' }
  const seen: unknown[] = []
  for (const n of [0, 1, 2])
    seen.push((await fetch(`${space.baseUrl}/pets?limit=${n + 10}`, { headers })).headers.get('location'))
  expect(targets).toEqual(['/api/pets?limit=10', '/api/pets?limit=11', '/api/pets?limit=12'])
  expect(seen).toEqual(['/~checkout/v1/pets/7', '/~checkout/v1/pets/7', 'https://elsewhere.test/api/pets/7'])
  expect(await space.requests()).toHaveLength(3)
})
