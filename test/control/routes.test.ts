import { describe, expect, inject, it } from 'vitest'
import { isControl } from '../../src/control/path.js'
import { VERBS } from '../../src/control/verbs.js'
import { packagedScenarios } from '../../src/options/scenario.js'
import { transports } from '../support/transports.js'

describe.each(transports)('the control plane, %s', (_name, openSandbox) => {
  it('is healthy', async () => {
    const sandbox = await openSandbox({ fault: '*:500', latency: '10s' })
    expect(await sandbox.control('GET', '/health')).toMatchObject({
      status: 200,
      json: {
        status: 'healthy',
        pid: inject('transport') === 'chromium' ? 0 : process.pid,
        startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    })
  })

  it.each([
    ['PUT', '/clock', { now: '2026-02-28T00:00:00Z' }, /only goes forward/],
    ['PUT', '/clock', { now: 'yesterday' }, /now/],
    ['PUT', '/clock', { nwo: '2027-01-01T00:00:00Z' }, /nwo/],
    ['PUT', '/clock', { frozen: 'yes' }, /frozen/],
    ['POST', '/clock/advance', { by: '5' }, /by.*"5"/],
    ['POST', '/clock/advance', {}, /by/],
    ['POST', '/clock/advance', { by: '999999999h' }, /cannot go past/],
    ['POST', '/clock/advance', [], /./],
  ])('refuses %s %s with %o, and does not change the clock', async (method, path, body, message) => {
    const sandbox = await openSandbox()
    const { status, json } = await sandbox.control(method, path, body)
    expect([status, json.code, json.message]).toEqual([400, 'invalid_request', expect.stringMatching(message)])
    expect((await sandbox.control('GET', '/clock')).json.now).toBe('2026-03-01T12:00:00.000Z')
  })

  it('shows the state of a space', async () => {
    const sandbox = await openSandbox({ plan: 'pro', storm: '0.5,for=30s', fault: 'getPet:500*2', latency: '1ms..2ms' })
    await sandbox.get('/store/orders', 'sandbox-free')
    const { json } = await sandbox.control('GET', '/state')
    expect(json).toMatchObject({
      space: '',
      settings: { plan: 'pro', limits: null, banDuration: '5m', latency: '1ms..2ms', rateLimit: true },
      storm: { rate: 0.5, for: '30s', every: null, startedAt: '2026-03-01T12:00:00.000Z' },
      faults: [{ operation: 'getPet', fault: 'status', status: 500, left: 2 }],
      counts: { records: { pets: 60 }, requests: 1, spaces: 0 },
    })
    expect(json.keys).toContainEqual(expect.objectContaining({ key: 'sandbox', plan: 'pro', ban: null }))
    expect(json.keys).toContainEqual(
      expect.objectContaining({ key: 'sandbox-banned', ban: { until: '2026-03-01T12:05:00.000Z' } }),
    )
  })

  it('opens a space by its first change, and refuses invalid names', async () => {
    const sandbox = await openSandbox({ maxSpaces: 1 })
    expect(await sandbox.control('POST', '/reset?space=a')).toMatchObject({ status: 200, json: { space: 'a' } })
    expect((await sandbox.control('GET', '/state?space=a')).json.space).toBe('a')
    const full = { status: 503, json: { code: 'too_many_spaces' } }
    expect(await sandbox.control('POST', '/reset?space=b')).toMatchObject(full)
    expect(await sandbox.control('GET', '/state?space=a~b')).toMatchObject({ status: 400 })
    expect(await sandbox.control('POST', '/reset?space=a~b')).toMatchObject({ status: 400 })
  })

  it('opens no space by any GET', async () => {
    const sandbox = await openSandbox()
    await sandbox.control('POST', '/reset?space=checkout')
    const verbs = Object.values(VERBS).filter(({ method }) => method === 'GET')
    for (const { path } of [...verbs, { path: '/requests/stream' }]) {
      const { status, json } = await sandbox.control('GET', `${path.replaceAll(/\{\w+\}/g, '1')}?space=chekout`)
      expect([path, status, json.code]).toEqual([path, 404, 'not_found'])
      expect(json.message).toContain('Unknown space "chekout"; did you mean checkout?')
    }
    expect((await sandbox.control('GET', '/spaces')).json).toMatchObject([{ name: 'checkout' }])
  })

  it('opens no space by any DELETE but those of the clock and of a key, which are changes', async () => {
    const sandbox = await openSandbox()
    await sandbox.control('POST', '/reset?space=checkout')
    // A typo in a name must not look like a success.
    const named: Readonly<Record<string, number>> = { '/resources/{resource}/{id}': 404 }
    for (const { method, path } of Object.values(VERBS)) {
      if (method !== 'DELETE' || path === '/clock' || path === '/keys/{key}') continue
      const { status } = await sandbox.control('DELETE', `${path.replaceAll(/\{\w+\}/g, 'sandbox')}?space=chekout`)
      expect([path, status]).toEqual([path, named[path] ?? 200])
    }
    expect((await sandbox.control('GET', '/spaces')).json).toMatchObject([{ name: 'checkout' }])
    // In an open space, a removal of nothing leaves the last change to undo.
    await sandbox.control('DELETE', '/resources/pets/1?space=checkout')
    for (const path of ['/keys/nobody', '/keys/nobody/ban', '/resources/pets/123', '/snapshots/none'])
      expect((await sandbox.control('DELETE', `${path}?space=checkout`)).status, path).toBe(200)
    expect((await sandbox.control('POST', '/undo?space=checkout')).json).toMatchObject({ undone: 'records.remove' })
  })

  it('opens no space by a refused change', async () => {
    const sandbox = await openSandbox()
    for (const [method, path, body] of [
      ['PUT', '/keys/nobody/ban', {}],
      ['PUT', '/scenario', { name: 'nope' }],
      ['POST', '/snapshots/nope/restore', {}],
      ['PUT', '/storm', { rate: 2 }],
    ] as const)
      expect((await sandbox.control(method, `${path}?space=a`, body)).status, path).toBeGreaterThanOrEqual(400)
    expect((await sandbox.control('GET', '/spaces')).json).toEqual([])
  })

  it('lists the packaged scenarios with their descriptions', async () => {
    const sandbox = await openSandbox()
    const listed = packagedScenarios().map((name) => ({ name, description: expect.stringMatching(/./) }))
    expect((await sandbox.control('GET', '/scenarios')).json).toEqual(listed)
  })

  it('limits the list of pets', async () => {
    const sandbox = await openSandbox()
    const listed = async (query: string) =>
      (await sandbox.control('GET', `/resources/pets${query}`)).json as unknown as unknown[]
    const all = await listed('')
    expect(all.length).toBe(60)
    expect(await listed('?limit=3')).toEqual(all.slice(0, 3))
    expect([await listed('?limit=0'), await listed('?limit=1000')]).toEqual([[], all])
    expect((await sandbox.control('GET', '/resources/pets?limit=few')).status).toBe(400)
  })

  it('reports unknown paths and wrong methods', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.control('GET', '/nothing')).toMatchObject({ status: 404, json: { code: 'not_found' } })
    const wrong = { status: 405, json: { code: 'method_not_allowed' } }
    expect(await sandbox.control('DELETE', '/state')).toMatchObject(wrong)
  })
})

it('is found under a target in absolute form, as proxies send it', () => {
  for (const target of ['/__sandbox', '/__sandbox/health', 'http://host/__sandbox/health', 'HTTP://host:1/__sandbox?a'])
    expect(isControl(target)).toBe(true)
  for (const target of ['/v1/__sandbox', '/__sandboxes', 'http://host/v1/__sandbox', 'http://__sandbox/'])
    expect(isControl(target)).toBe(false)
})
