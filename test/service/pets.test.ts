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

  it.each([
    ['limit=0', /limit/],
    ['limit=101', /limit.*1 to 100.*101/],
    ['limit=-1', /limit/],
    ['limit=1.5', /limit/],
    ['limit=abc', /limit.*"abc"/],
    ['limit=', /limit/],
    ['status=lost', /status.*available, pending, sold.*"lost"/],
    ['status=', /status/],
    ['limit=5&limit=6', /limit/],
    ['limit=0&status=lost', /limit.*status/],
    ['limit=%zz', /limit/],
  ])('refuses ?%s and says why', async (query, message) => {
    const sandbox = await openSandbox()
    const seen = await sandbox.get(`/pets?${query}`)
    expect(seen).toMatchObject({ status: 400, code: 'invalid_request' })
    expect((seen.json as { message: string }).message).toMatch(message)
  })

  it('ignores parameters that it does not know', async () => {
    const sandbox = await openSandbox()
    expect((await sandbox.get('/pets?page=2&limit=1&__proto__=x&constructor=y')).json).toHaveLength(1)
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

  it.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '9007199254740992', '0'])(
    'keeps the categoryId %s digit for digit',
    async (digits) => {
      const sandbox = await openSandbox()
      const { status, text } = await sandbox.post('/pets', `{"name":"Big","categoryId":${digits}}`)
      expect([status, text]).toEqual([201, `{"id":60,"name":"Big","categoryId":${digits}}`])
      expect((await sandbox.get('/pets?limit=1')).text).toBe(`[${text}]`)
    },
  )

  it.each(['1.0', '1e0', '10e-1', '100.00e-2'])('takes %s for 1', async (written) => {
    const sandbox = await openSandbox()
    const { text } = await sandbox.post('/pets', `{"name":"One","categoryId":${written}}`)
    expect(text).toBe('{"id":60,"name":"One","categoryId":1}')
  })

  it.each([
    '9223372036854775808',
    '-9223372036854775809',
    '1.5',
    '"1"',
    'null',
    'true',
    '[]',
    '{}',
    '1e400',
    '1e999999999',
    '9007199254740993.5',
    '1.00000000000000000001',
  ])('refuses the categoryId %s', async (written) => {
    const sandbox = await openSandbox()
    const seen = await sandbox.post('/pets', `{"name":"Odd","categoryId":${written}}`)
    expect(seen).toMatchObject({ status: 400, code: 'invalid_request' })
    expect((seen.json as { message: string }).message).toMatch(/categoryId/)
  })

  it('names every violation at once', async () => {
    const sandbox = await openSandbox()
    const { json } = await sandbox.post('/pets', { name: 5, status: 'lost' })
    expect((json as { message: string }).message).toMatch(/(?=.*name)(?=.*categoryId)(?=.*status)/)
  })

  it('ignores fields that it does not know, an id among them', async () => {
    const sandbox = await openSandbox()
    const { json } = await sandbox.post('/pets', '{"id":5,"name":"A","categoryId":1,"__proto__":{"x":1},"more":[1]}')
    expect(json).toEqual({ id: 60, name: 'A', categoryId: 1 })
  })

  it.each([
    ['nothing', '', 400, 'invalid_request'],
    ['malformed JSON', '{"name":', 400, 'invalid_request'],
    ['an array', '[]', 400, 'invalid_request'],
    ['null', 'null', 400, 'invalid_request'],
    ['a string', '"pet"', 400, 'invalid_request'],
    ['no name', '{"categoryId":1}', 400, 'invalid_request'],
    ['a status that is null', '{"name":"A","categoryId":1,"status":null}', 400, 'invalid_request'],
    ['deep nesting', `{"name":"A","categoryId":1,"x":${'['.repeat(100_000)}`, 400, 'invalid_request'],
  ])('refuses %s', async (_what, body, status, code) => {
    const sandbox = await openSandbox()
    expect(await sandbox.post('/pets', body)).toMatchObject({ status, code })
  })

  it('says where JSON is malformed', async () => {
    const sandbox = await openSandbox()
    const { json } = await sandbox.post('/pets', '{\n  "name": "Rex",\n  categoryId: 1\n}')
    expect((json as { message: string }).message).toMatch(/line 3, column 3/)
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
  it.each(['1', '59', '9007199254740993'])('finds the pet %s', async (id) => {
    const sandbox = await openSandbox()
    expect((await sandbox.get(`/pets/${id}`)).text).toMatch(new RegExp(`^\\{"id":${id},`))
  })

  it.each(['0', '4711', '-1', '01', '+1', '1.0', '1e0', 'abc', '9223372036854775808', '%31x', '%zz', ' ', '1%20'])(
    'returns 404 for %j',
    async (id) => {
      const sandbox = await openSandbox()
      expect(await sandbox.get(`/pets/${encodeURI(id).replaceAll('%25', '%')}`)).toMatchObject({
        status: 404,
        code: 'not_found',
      })
    },
  )

  it('announces in every response that it is deprecated, and what replaces it', async () => {
    const sandbox = await openSandbox({ limits: '4/min' })
    const answers = [
      await sandbox.get('/pets/1'),
      await sandbox.get('/pets/4711'),
      await sandbox.get('/pets/1', null),
      await sandbox.get('/pets/1', 'sandbox-limited'),
      await sandbox.get('/pets/1', 'sandbox-banned'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 401, 429, 429])
    for (const { headers } of answers) {
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
