import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

interface PetSeen {
  readonly id: number | bigint
  readonly name: string
  readonly categoryId: number | bigint
  readonly status?: string
}

describe.each(transports)('listPets, %s', (_name, openSandbox) => {
  it('lists the 20 newest pets, newest first', async () => {
    const sandbox = await openSandbox()
    const { json, status } = await sandbox.get('/pets')
    const pets = json as PetSeen[]
    expect(status).toBe(200)
    expect(pets).toHaveLength(20)
    expect(pets.slice(0, 3).map(({ id }) => id)).toEqual([59, 58, 9007199254740993n])
  })

  it('lists the oldest first where asked for', async () => {
    const sandbox = await openSandbox({ order: 'oldest' })
    const { json } = await sandbox.get('/pets?limit=3')
    expect((json as PetSeen[]).map(({ id }) => id)).toEqual([1, 2, 3])
  })

  it.each([1, 100])('takes the limit %d', async (limit) => {
    const sandbox = await openSandbox({ pets: 150 })
    expect((await sandbox.get(`/pets?limit=${limit}`)).json).toHaveLength(limit)
  })

  it.each(['available', 'pending', 'sold'])('filters by the status %s', async (status) => {
    const sandbox = await openSandbox()
    const pets = (await sandbox.get(`/pets?limit=100&status=${status}`)).json as PetSeen[]
    expect(new Set(pets.map((pet) => pet.status))).toEqual(new Set([status]))
    const all = (await sandbox.get('/pets?limit=100')).json as PetSeen[]
    expect(pets).toEqual(all.filter((pet) => pet.status === status))
  })

  it('returns 400 with every violation for an invalid query', async () => {
    const sandbox = await openSandbox()
    const seen = await sandbox.get('/pets?limit=0&status=lost')
    expect(seen).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(seen.json).toMatchObject({ message: expect.stringMatching(/limit.*status/) })
  })

  it('responds to HEAD as to GET, without the body', async () => {
    const sandbox = await openSandbox()
    const get = await sandbox.get('/pets?limit=3')
    const head = await sandbox.call('/v1/pets?limit=3', { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, text: '', remaining: get.remaining - 1 })
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)))
  })
})

describe.each(transports)('createPet, %s', (_name, openSandbox) => {
  it('returns 201 with the pet, which is then first in the list', async () => {
    const sandbox = await openSandbox()
    const created = await sandbox.post('/pets', { name: 'Rex', categoryId: 1, status: 'available' })
    expect(created).toMatchObject({ status: 201, json: { id: 60, name: 'Rex', categoryId: 1, status: 'available' } })
    expect((await sandbox.get('/pets?limit=1')).json).toEqual([created.json])
    expect((await sandbox.get('/pets/60')).json).toEqual(created.json)
  })

  it('accepts a pet without a status, which no filter finds', async () => {
    const sandbox = await openSandbox()
    const { json } = await sandbox.post('/pets', { name: '', categoryId: -1 })
    expect(json).toEqual({ id: 60, name: '', categoryId: -1 })
    for (const status of ['available', 'pending', 'sold']) {
      expect((await sandbox.get(`/pets?limit=100&status=${status}`)).json).not.toContainEqual(json)
    }
  })

  it('stores an int64 digit for digit', async () => {
    const sandbox = await openSandbox()
    const { status, text } = await sandbox.post('/pets', '{"name":"Big","categoryId":-9223372036854775808}')
    expect([status, text]).toEqual([201, '{"id":60,"name":"Big","categoryId":-9223372036854775808}'])
    expect((await sandbox.get('/pets?limit=1')).text).toBe(`[${text}]`)
  })

  it('returns 400 with every violation for an invalid body', async () => {
    const sandbox = await openSandbox()
    const seen = await sandbox.post('/pets', { name: 5, status: 'lost' })
    expect(seen).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(seen.json).toMatchObject({ message: expect.stringMatching(/(?=.*name)(?=.*categoryId)(?=.*status)/) })
  })

  it('ignores unknown fields, including an id', async () => {
    const sandbox = await openSandbox()
    expect((await sandbox.post('/pets', { id: 5, name: 'A', categoryId: 1, more: [1] })).json).toEqual({
      id: 60,
      name: 'A',
      categoryId: 1,
    })
  })

  it.each([
    ['text/plain', {}],
    ['application/xml', {}],
    ['application/json-patch+json', {}],
    ['application/json; charset=latin1', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('returns 415 for a body of %s %o', async (contentType, headers) => {
    const sandbox = await openSandbox()
    const seen = await sandbox.call('/v1/pets', {
      method: 'POST',
      body: '{"name":"A","categoryId":1}',
      headers: { 'content-type': contentType, ...headers },
    })
    expect(seen).toMatchObject({ status: 415, code: 'unsupported_media_type' })
    expect((seen.json as { message: string }).message).toMatch(/application\/json/)
  })

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset="UTF-8"'])(
    'takes a body of %s',
    async (contentType) => {
      const sandbox = await openSandbox()
      const body = '{"name":"A","categoryId":1}'
      const headers = { 'content-type': contentType }
      expect(await sandbox.call('/v1/pets', { method: 'POST', body, headers })).toMatchObject({ status: 201 })
    },
  )

  it('returns 413 for more than 1 MiB, and accepts 1 MiB', async () => {
    const sandbox = await openSandbox()
    const sized = (bytes: number) => {
      const frame = '{"name":"","categoryId":1}'
      return frame.replace('""', `"${'a'.repeat(bytes - frame.length)}"`)
    }
    expect(await sandbox.post('/pets', sized(1_048_576))).toMatchObject({ status: 201 })
    expect(await sandbox.post('/pets', sized(1_048_577))).toMatchObject({ status: 413, code: 'payload_too_large' })
    expect(await sandbox.get('/pets?limit=1')).toMatchObject({ status: 200 })
  })
})

describe.each(transports)('getPet, %s', (_name, openSandbox) => {
  it.each(['1', '9007199254740993'])('returns the pet %s', async (id) => {
    const sandbox = await openSandbox()
    expect((await sandbox.get(`/pets/${id}`)).text).toMatch(new RegExp(`^\\{"id":${id},`))
  })

  it.each(['4711', 'abc', '9223372036854775808', '%zz'])('returns 404 for %j', async (id) => {
    const sandbox = await openSandbox()
    expect(await sandbox.get(`/pets/${encodeURI(id).replaceAll('%25', '%')}`)).toMatchObject({
      status: 404,
      code: 'not_found',
    })
  })

  it('announces in every response that it is deprecated, and what replaces it', async () => {
    const sandbox = await openSandbox({ limits: '4/min' })
    const responses = [
      await sandbox.get('/pets/1'),
      await sandbox.get('/pets/4711'),
      await sandbox.get('/pets/1', null),
      await sandbox.get('/pets/1', 'sandbox-limited'),
      await sandbox.get('/pets/1', 'sandbox-banned'),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 404, 401, 429, 429])
    for (const { headers } of responses) {
      expect(headers.get('deprecation')).toBe('@1764892800')
      expect(headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT')
      expect(headers.get('link')).toBe('</v1/pets?status=available>; rel="successor-version"')
    }
    expect((await sandbox.get('/pets')).headers.has('sunset')).toBe(false)
  })

  it.each([
    [{ sunset: 'after' }, 404, 'sunset'],
    [{ sunset: 'after', sunsetStatus: 410 }, 410, 'sunset'],
    [{ sunset: 'brownout' }, 404, 'brownout'],
    [{ sunset: 'before', now: '2031-01-01T00:00:00Z' }, 200, undefined],
  ] as const)('is played as %o says', async (options, status, reason) => {
    const sandbox = await openSandbox(options)
    expect(await sandbox.get('/pets/1')).toMatchObject({ status, reason })
  })
})

describe.each(transports)('listOrders, %s', (_name, openSandbox) => {
  it('lists objects', async () => {
    const sandbox = await openSandbox()
    const { status, json } = await sandbox.get('/store/orders')
    expect(status).toBe(200)
    expect((json as unknown[]).every((order) => typeof order === 'object' && order !== null)).toBe(true)
  })
})
