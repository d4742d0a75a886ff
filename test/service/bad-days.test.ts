import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findLatency } from '../../src/domain/settings.js'
import { transports } from '../support/transports.js'

const REX = { name: 'Rex', categoryId: 1, status: 'sold' }
/** The packaged contract with PATCH and DELETE of pets, and with categories in an envelope. */
const GROWN = fileURLToPath(new URL('../contract/specs/grown.yaml', import.meta.url))

describe.each(transports)('a storm, %s', (_name, openSandbox) => {
  it('refuses every request of a key with its Retry-After, and uses no quota', async () => {
    const sandbox = await openSandbox({ storm: '1,retry-after=7s', banAfter: 'never' })
    const refusal = { status: 429, code: 'rate_limit_exceeded', reason: 'storm', retryAfter: '7', remaining: 60 }
    expect(await sandbox.get('/pets')).toMatchObject(refusal)
    expect(await sandbox.get('/pets', null)).toMatchObject({ status: 401 })
  })

  it('refuses the same requests with the same seed and space', async () => {
    const draw = async (seed: number, key: string) => {
      const sandbox = await openSandbox({ storm: '0.5', seed, banAfter: 'never' })
      const seen: number[] = []
      for (let i = 0; i < 40; i++) seen.push((await sandbox.get('/pets?limit=1', key)).status)
      return seen
    }
    const first = await draw(7, 'sandbox-business')
    expect(await draw(7, 'sandbox-business')).toEqual(first)
    expect(await draw(8, 'sandbox-business')).not.toEqual(first)
    expect(await draw(7, 'sandbox-business~a')).not.toEqual(first)
    expect(new Set(first)).toEqual(new Set([200, 429]))
  })
})

describe.each(transports)('a fault, %s', (_name, openSandbox) => {
  it('is a status in the Error shape, of its operation and of valid keys only; a 429 has Retry-After', async () => {
    const sandbox = await openSandbox({ fault: ['listPets:418', 'getPet:503', 'createPet:429'] })
    const fault = { code: 'simulated_fault', reason: 'fault', remaining: 60 }
    expect(await sandbox.get('/pets')).toMatchObject({ status: 418, ...fault })
    expect(await sandbox.get('/pets/1')).toMatchObject({ status: 503, ...fault })
    const limited = await sandbox.post('/pets', { name: 'A', categoryId: 1 })
    expect(limited).toMatchObject({ ...fault, status: 429, code: 'rate_limit_exceeded', retryAfter: '1' })
    expect(await sandbox.get('/pets', null)).toMatchObject({ status: 401 })
    expect(await sandbox.get('/store/orders')).toMatchObject({ status: 200 })
    expect((await sandbox.control('GET', '/resources')).json).toMatchObject([{ name: 'pets', records: 60 }, {}])
  })

  it.each([
    ['connection-reset', /fetch failed/, undefined],
    ['empty-response', /fetch failed/, undefined],
    ['malformed-chunk', /./, 200],
  ])('is a %s: the client sees an error', async (fault, error, status) => {
    const sandbox = await openSandbox({ fault: `*:${fault}*1` })
    await expect(sandbox.get('/pets')).rejects.toThrow(error)
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    expect([...sandbox.core.spaces.default.log][0]).toMatchObject({ status, reason: 'fault' })
  })

  it('hangs until the client leaves', async () => {
    const sandbox = await openSandbox({ fault: '*:hang*1' })
    const leave = new AbortController()
    const hanging = sandbox.call('/v1/pets', { signal: leave.signal })
    // The other of two replicas may be quicker.
    await expect.poll(async () => (await sandbox.control('GET', '/requests')).json).toMatchObject([{ fault: 'hang' }])
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    leave.abort()
    await expect(hanging).rejects.toThrow(/abort/i)
  })
})

describe.each(transports)('spaces, %s', (_name, openSandbox) => {
  it('share nothing: pets, quotas, clocks', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    await sandbox.post('/pets', { name: 'Mine', categoryId: 1 }, 'sandbox~a')
    expect(await sandbox.get('/pets', 'sandbox~a')).toMatchObject({ status: 429 })
    expect(await sandbox.get('/pets/60', 'sandbox-pro~a')).toMatchObject({ status: 200 })
    expect(await sandbox.get('/pets/60', 'sandbox~b')).toMatchObject({ status: 404 })
    await sandbox.advance('1m', 'b')
    expect(await sandbox.get('/pets', 'sandbox~b')).toMatchObject({ status: 200 })
    expect(await sandbox.get('/pets', 'sandbox~a')).toMatchObject({ status: 429 })
  })

  it('are limited in number; beyond that the response is 503 and says how to make room', async () => {
    const sandbox = await openSandbox({ maxSpaces: 1 })
    expect(await sandbox.get('/pets', 'sandbox~a')).toMatchObject({ status: 200 })
    const seen = await sandbox.call('/v1/nowhere', { key: 'sandbox~b' })
    expect(seen).toMatchObject({ status: 503, code: 'too_many_spaces', remaining: 60 })
    expect((seen.json as { message: string }).message).toMatch(/1 are open.*DELETE \/__sandbox\/spaces/)
  })

  it('are not opened by invalid keys', async () => {
    const sandbox = await openSandbox()
    for (const key of ['stranger~a', 'sandbox-revoked~a'])
      expect(await sandbox.get('/pets', key)).toMatchObject({ status: 401 })
    expect(sandbox.core.spaces.names()).toEqual([])
  })
})

describe.each(transports)('a reset, %s', (_name, openSandbox) => {
  it('brings a space back to its start, and no other one', async () => {
    const sandbox = await openSandbox({ limits: '2/min', storm: '0.5', banAfter: 'never' })
    const story = async (key: string) => {
      const seen = []
      for (let i = 0; i < 6; i++) {
        const { status, remaining, reset } = await sandbox.post('/pets', { name: 'A', categoryId: 1 }, key)
        seen.push([status, remaining, reset])
      }
      return seen
    }
    const first = await story('sandbox')
    const other = await story('sandbox~other')
    await sandbox.advance('1h')
    expect((await sandbox.control('POST', '/reset')).status).toBe(200)
    expect(await story('sandbox')).toEqual(first)
    expect(await story('sandbox~other')).not.toEqual(other)
  })
})

describe.each(transports)('trouble of one operation, %s', (_name, openSandbox) => {
  it('delays that operation by its own latency, and all others by the common one', async () => {
    const sandbox = await openSandbox({ latency: { listPets: '30ms', '*': '1ms' } })
    const space = sandbox.core.spaces.default
    expect(
      ['listPets', 'getPet', undefined].map((operation) => findLatency(space.state.settings, operation)?.min),
    ).toEqual([30, 1, 1])
    expect(await sandbox.control('PATCH', '/settings', { latency: 'getPet=2ms' })).toMatchObject({
      json: { latency: 'getPet=2ms' },
    })
    expect(['listPets', 'getPet'].map((operation) => findLatency(space.state.settings, operation)?.min)).toEqual([0, 2])
    expect(await sandbox.control('PATCH', '/settings', { latency: 'lstPets=1s' })).toMatchObject({ status: 400 })
  })

  it('sends the status of that operation before a malformed chunk', async () => {
    const sandbox = await openSandbox({ fault: '*:malformed-chunk' })
    await sandbox.call('/v1/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' }).catch(() => {})
    expect([...sandbox.core.spaces.default.log].map(({ status }) => status)).toEqual([201])
  })
})

describe.each(transports)('a fault with retry-after, %s', (_name, openSandbox) => {
  it('names the wait, whatever its status and however the rule is written', async () => {
    const sandbox = await openSandbox({ fault: 'listPets:503*1,retry-after=2s' })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 503, retryAfter: '2', reason: 'fault' })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
    const rule = { operation: '*', fault: 'status', status: 429, retryAfter: '1500ms' }
    expect((await sandbox.control('POST', '/faults', rule)).json).toEqual([
      expect.objectContaining({ left: 0 }),
      { id: expect.any(String), ...rule, left: null },
    ])
    expect(await sandbox.get('/pets')).toMatchObject({ status: 429, retryAfter: '2', reason: 'fault' })
  })

  it('obliges its client to wait, and brings no ban but as a 429', async () => {
    const sandbox = await openSandbox({ fault: 'listPets:503,retry-after=2s', banAfter: 1 })
    await sandbox.get('/pets')
    await sandbox.advance('2s')
    expect(await sandbox.get('/pets')).toMatchObject({ status: 503 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ violations: [] })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 503 })
    expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ violations: [{ rule: 'early-retry' }] })
  })
})

describe.each(transports)('a fault of the body, %s', (_name, openSandbox) => {
  it('adds an unknown field to each record, and keeps ids exact', async () => {
    const sandbox = await openSandbox({ fault: '*:unknown-fields', strict: true })
    const { status, text, json, reason } = await sandbox.get('/pets?limit=5')
    expect([status, reason]).toEqual([200, 'fault'])
    expect(json).toHaveLength(5)
    for (const pet of json as object[]) expect(pet).toMatchObject({ unknownField: 'unknown-value' })
    const { text: known } = await (await openSandbox()).get('/pets?limit=5')
    expect(text.replaceAll(',"unknownField":"unknown-value"', '')).toBe(known)
  })

  it('replaces the values of enums, and stores what the client sent', async () => {
    const sandbox = await openSandbox({ fault: 'createPet:enum-growth*1' })
    const { status, json } = await sandbox.post('/pets', REX)
    expect([status, json]).toEqual([201, expect.objectContaining({ name: 'Rex', status: 'unknown-value' })])
    expect((await sandbox.get('/pets?status=sold&limit=1')).json).toMatchObject([REX])
    expect((await sandbox.control('GET', '/requests')).json).toMatchObject([
      { fault: 'enum-growth', reason: 'fault', status: 201, ended: 'sent' },
      { fault: null },
    ])
  })

  it('adds an unknown field to an envelope and to the records of any resource', async () => {
    const sandbox = await openSandbox({ spec: GROWN, fault: 'listCategories:unknown-fields' })
    await sandbox.post('/categories', { name: 'cats' })
    const unknown = { unknownField: 'unknown-value' }
    expect((await sandbox.get('/categories')).json).toMatchObject({ total: 1, items: [unknown], ...unknown })
  })

  it('does not count a response without anything to change as made up', async () => {
    const sandbox = await openSandbox({ fault: '*:enum-growth' })
    for (const sent of [await sandbox.get('/pets/1234'), await sandbox.post('/pets', { name: 'Rex', categoryId: 1 })])
      expect(sent.reason).toBeUndefined()
  })
})
