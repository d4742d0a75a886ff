import { describe, expect, it } from 'vitest'
import { connectSandbox, startSandbox } from '../../src/index.js'

const transports = [
  ['in this process', async (sandbox: Awaited<ReturnType<typeof startSandbox>>) => sandbox],
  ['over the network', async ({ controlUrl }: { readonly controlUrl: string }) => connectSandbox(controlUrl)],
] as const

describe.each(transports)('a replayed request, %s', (_way, reach) => {
  async function start(options: Parameters<typeof startSandbox>[0] = {}) {
    const sandbox = await startSandbox({ seed: 1, now: '2026-03-01T10:00:00Z', freeze: true, ...options })
    const ask = async (path: string, key = 'sandbox', init: RequestInit = {}) => {
      const headers = { ...init.headers, authorization: `Bearer ${key}` }
      await (await fetch(sandbox.baseUrl + path, { ...init, headers }).catch(() => undefined))?.text().catch(() => '')
    }
    return { sandbox, ask, requests: (await reach(sandbox)).requests, [Symbol.asyncDispose]: () => sandbox.close() }
  }

  it('is a new request with the same key in its space, which uses quota and has its own entry', async () => {
    await using at = await start({ limits: '2/min' })
    await at.ask('/pets?limit=1')
    const again = { id: 2, status: 200, ended: 'sent', query: 'limit=1', key: 'sandbox' }
    expect(await at.requests.replay(1)).toMatchObject(again)
    expect(await at.requests.replay(1)).toMatchObject({ id: 3, status: 429, reason: 'quota-minute' })
    expect((await at.requests()).map(({ id }) => id)).toEqual([1, 2, 3])
    await at.ask('/pets', 'sandbox-pro~checkout')
    const space = (await reach(at.sandbox)).space('checkout')
    expect(await space.requests.replay(1)).toMatchObject({ id: 2, space: 'checkout', status: 200 })
  })

  it('may be changed', async () => {
    await using at = await start()
    const headers = { 'content-type': 'application/json', 'x-trace': '1' }
    await at.ask('/pets', 'sandbox', { method: 'POST', body: '{"name":"Rex"}', headers })
    const body = '{"name":"Rex","categoryId":9223372036854775807}'
    const changed = await at.requests.replay(1, { body, key: 'sandbox-pro', headers: { 'x-trace': null } })
    expect(changed).toMatchObject({ id: 2, status: 201, key: 'sandbox-pro', request: { body } })
    expect(changed.response.body).toContain('9223372036854775807')
    expect(changed.request.headers).not.toHaveProperty('x-trace')
    const read = await at.requests.replay(1, { method: 'get', target: '/v1/pets?limit=1' })
    expect(read).toMatchObject({ method: 'GET', query: 'limit=1', status: 200 })
  })

  it('is subject to faults and times out', async () => {
    await using at = await start({ fault: ['getPet:connection-reset', 'listPets:hang'] })
    await at.ask('/pets/1')
    expect(await at.requests.replay(1)).toMatchObject({ id: 2, status: null, ended: 'cut', fault: 'connection-reset' })
    const left = await at.requests.replay(1, { target: '/v1/pets', timeout: '50ms' })
    expect(left).toMatchObject({ id: 3, status: null, ended: 'left', fault: 'hang' })
  })

  it('refuses what it cannot send as it was', async () => {
    await using at = await start()
    const headers = { 'content-type': 'application/json' }
    await at.ask('/pets', 'sandbox', { method: 'POST', body: new Uint8Array([0xff, 0xfe]), headers })
    await expect(at.requests.replay(1)).rejects.toThrow('The body of exchange 1 is not text')
    expect(await at.requests.replay(1, { body: '{"name":"Rex","categoryId":1}' })).toMatchObject({ status: 201 })
    await expect(at.requests.replay(2, { timeout: '2000h' })).rejects.toThrow('must be at most 24h')
  })

  it('is not sent with a key that the log does not have', async () => {
    await using at = await start({ apiKey: 'team=sk-secret-5678' })
    await at.ask('/pets', 'sk-secret-5678')
    await at.ask('/pets', 'some-other-real-key')
    for (const id of [1, 2])
      await expect(at.requests.replay(id)).rejects.toThrow(/^The log does not have the key of exchange \d/)
    expect(await at.requests.replay(2, { key: 'sk-secret-5678' })).toMatchObject({ status: 200, key: 'team' })
    await expect(at.requests.replay(7)).rejects.toThrow('The log of this space has no exchange 7')
  })

  it.each([
    [{ key: 'sk-secret\nx' }, 'The key cannot be sent: it has a character that is not allowed in headers.'],
    [{ headers: { 'x\ny': '1' } }, 'The header "x\\ny" cannot be sent: name or value is not valid in HTTP.'],
    [{ method: 'TRACE' }, 'The request "TRACE /v1/pets" cannot be sent: set another method or target.'],
  ])('is refused if no client could send it, without revealing the key: %j', async (change, message) => {
    await using at = await start()
    await at.ask('/pets')
    await expect(at.requests.replay(1, change)).rejects.toMatchObject({ code: 'invalid_request', message })
  })
})
