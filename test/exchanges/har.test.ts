import { describe, expect, it } from 'vitest'
import { createSandbox, startSandbox } from '../../src/index.js'

describe('exchanges as an HTTP archive', () => {
  it('have every field that HAR 1.2 requires, and no key', async () => {
    await using sandbox = await startSandbox({ seed: 1, now: '2026-03-01T10:00:00Z', freeze: true })
    const headers = { authorization: 'Bearer sandbox-pro', 'content-type': 'application/json' }
    const body = '{"name":"Zoë","categoryId":1}'
    await (await fetch(`${sandbox.baseUrl}/pets?limit=1&status=sold`, { headers })).text()
    await (await fetch(`${sandbox.baseUrl}/pets`, { method: 'POST', headers, body })).text()
    const { log } = await sandbox.requests.har()
    expect(log).toMatchObject({ version: '1.2', creator: { name: 'petstore-sandbox' } })
    const [list, created] = log.entries
    const queryString = [
      { name: 'limit', value: '1' },
      { name: 'status', value: 'sold' },
    ]
    const url = `${sandbox.baseUrl}/pets?limit=1&status=sold`
    const sizes = { headersSize: -1, cookies: [] }
    const content = { mimeType: 'application/json' }
    expect(list).toMatchObject({
      startedDateTime: '2026-03-01T10:00:00.000Z',
      request: { method: 'GET', url, httpVersion: 'HTTP/1.1', queryString, bodySize: 0, ...sizes },
      response: { status: 200, redirectURL: '', content, ...sizes },
      cache: {},
    })
    expect(created?.request.postData).toEqual({ mimeType: 'application/json', text: body })
    expect(created?.request.bodySize).toBe(Buffer.byteLength(body))
    for (const { time, timings, request, response } of log.entries) {
      expect(timings.send + timings.wait + timings.receive).toBeCloseTo(time, 3)
      expect(request.headers.find(({ name }) => name === 'authorization')?.value).toBe('Bearer ***')
      expect(response.content.size).toBe(Buffer.byteLength(response.content.text))
    }
    expect(JSON.stringify(log)).not.toContain('Bearer sandbox')
  })

  it('say where the log has only the beginning of a body', async () => {
    await using sandbox = await startSandbox({ seed: 1, now: '2026-03-01T10:00:00Z', freeze: true })
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    for (const length of [10, 100_000]) {
      const body = JSON.stringify({ name: 'x'.repeat(length), categoryId: 1 })
      await (await fetch(`${sandbox.baseUrl}/pets`, { method: 'POST', headers, body })).text()
    }
    const comments = (await sandbox.requests.har()).log.entries.map(({ request, response }) => [
      request.postData?.comment,
      response.content.comment,
    ])
    const cut = 'Only the beginning: the log keeps 64KiB of a body.'
    expect(comments).toEqual([
      [undefined, undefined],
      [cut, cut],
    ])
  })

  it('follow a filter, and omit exchanges under way', async () => {
    await using sandbox = await createSandbox({ fault: 'getPet:hang' })
    const leaving = new AbortController()
    const headers = { authorization: 'Bearer sandbox' }
    const ask = (path: string, init: RequestInit = {}) => sandbox.fetch(sandbox.baseUrl + path, { headers, ...init })
    const hanging = ask('/pets/1', { signal: leaving.signal }).catch(() => {})
    await ask('/pets')
    await ask('/nothing')
    expect((await sandbox.requests.har()).log.entries.map(({ _id }) => _id)).toEqual([2, 3])
    expect((await sandbox.requests.har({ status: 404 })).log.entries.map(({ _id }) => _id)).toEqual([3])
    leaving.abort()
    await hanging
    const [hung] = (await sandbox.requests.har({ limit: 3 })).log.entries
    expect(hung).toMatchObject({ _ended: 'left', _fault: 'hang', response: { status: 0, headers: [] } })
  })
})
