import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

interface PetSeen {
  readonly id: number | bigint
  readonly status?: string
}

const STATUSES = ['available', 'pending', 'sold']

describe.each(transports)('listPets, %s', (_name, openSandbox) => {
  it('lists the 20 newest pets, newest first, as many as the limit, or the oldest first', async () => {
    const sandbox = await openSandbox({ generate: ['pets=150'] })
    for (const [query, count] of Object.entries({ '': 20, '?limit=1': 1, '?limit=100': 100 }))
      expect(await sandbox.get(`/pets${query}`)).toMatchObject({ status: 200, json: { length: count } })
    const ids = async (order: 'newest' | 'oldest') =>
      ((await (await openSandbox({ order })).get('/pets?limit=3')).json as PetSeen[]).map(({ id }) => id)
    expect(await ids('newest')).toEqual([59, 58, 9007199254740993n])
    expect(await ids('oldest')).toEqual([1, 2, 3])
  })

  it('filters by status', async () => {
    const sandbox = await openSandbox()
    const all = (await sandbox.get('/pets?limit=100')).json as PetSeen[]
    for (const status of STATUSES) {
      const pets = (await sandbox.get(`/pets?limit=100&status=${status}`)).json as PetSeen[]
      expect(pets.length).toBeGreaterThan(0)
      expect(pets).toEqual(all.filter((pet) => pet.status === status))
    }
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
  it('returns 201 with the pet, without unknown fields; it is then first in the list', async () => {
    const sandbox = await openSandbox()
    const rex = { name: 'Rex', categoryId: 1, status: 'available' }
    const created = await sandbox.post('/pets', { ...rex, id: 5, more: [1] })
    expect([created.status, created.json]).toEqual([201, { id: 60, ...rex }])
    expect((await sandbox.get('/pets?limit=1')).json).toEqual([created.json])
    expect((await sandbox.get('/pets/60')).json).toEqual(created.json)
  })

  it('accepts a pet without a status, which no filter finds, and stores an int64 digit for digit', async () => {
    const sandbox = await openSandbox()
    const { status, text } = await sandbox.post('/pets', '{"name":"","categoryId":-9223372036854775808}')
    expect([status, text]).toEqual([201, '{"id":60,"name":"","categoryId":-9223372036854775808}'])
    expect((await sandbox.get('/pets?limit=1')).text).toBe(`[${text}]`)
    for (const one of STATUSES)
      expect((await sandbox.get(`/pets?limit=100&status=${one}`)).text).not.toContain('"id":60,')
  })

  it('returns 400 with every violation for an invalid body', async () => {
    const seen = await (await openSandbox()).post('/pets', { name: 5, status: 'lost' })
    expect(seen).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(seen.json).toMatchObject({ message: expect.stringMatching(/(?=.*name)(?=.*categoryId)(?=.*status)/) })
  })

  it('returns 415 for a body that is not JSON in UTF-8', async () => {
    const sandbox = await openSandbox()
    const send = (headers: Record<string, string>) =>
      sandbox.call('/v1/pets', { method: 'POST', body: '{"name":"A","categoryId":1}', headers })
    const refusal = { status: 415, code: 'unsupported_media_type', text: expect.stringMatching('application/json') }
    for (const type of ['text/plain', 'application/json-patch+json', 'application/json; charset=latin1'])
      expect(await send({ 'content-type': type })).toMatchObject(refusal)
    expect(await send({ 'content-encoding': 'gzip' })).toMatchObject(refusal)
    for (const type of ['APPLICATION/JSON', 'application/json;charset="UTF-8"'])
      expect((await send({ 'content-type': type })).status).toBe(201)
  })

  it('returns 413 for more than 1 MiB, and accepts 1 MiB', async () => {
    const sandbox = await openSandbox()
    const sized = (bytes: number) => `{"name":"${'a'.repeat(bytes - 26)}","categoryId":1}`
    expect(await sandbox.post('/pets', sized(1_048_576))).toMatchObject({ status: 201 })
    expect(await sandbox.post('/pets', sized(1_048_577))).toMatchObject({ status: 413, code: 'payload_too_large' })
    expect(await sandbox.get('/pets?limit=1')).toMatchObject({ status: 200 })
  })

  it('returns 413 for uploads of more than 10 MiB only', async () => {
    const sandbox = await openSandbox()
    const send = (type: string, bytes: number) =>
      sandbox.call('/v1/pets', { method: 'POST', headers: { 'content-type': type }, body: 'a'.repeat(bytes) })
    for (const type of ['application/octet-stream', 'multipart/form-data; boundary=b', 'image/png'])
      expect((await send(type, 2_000_000)).status).toBe(415)
    expect(await send('image/png', 10_485_761)).toMatchObject({
      status: 413,
      json: { message: 'The body is larger than 10MiB.' },
    })
    expect((await send('application/x-www-form-urlencoded', 2_000_000)).status).toBe(413)
  })
})

describe.each(transports)('getPet, %s', (_name, openSandbox) => {
  it('returns the pet, or 404', async () => {
    const sandbox = await openSandbox()
    for (const id of ['1', '9007199254740993'])
      expect((await sandbox.get(`/pets/${id}`)).text).toMatch(new RegExp(`^\\{"id":${id},`))
    for (const id of ['4711', 'abc', '9223372036854775808', '%zz'])
      expect(await sandbox.get(`/pets/${id}`)).toMatchObject({ status: 404, code: 'not_found' })
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

  it('is removed as the options say', async () => {
    for (const [options, status] of [
      [{ sunset: 'after' }, 404],
      [{ sunset: 'after', sunsetStatus: 410 }, 410],
    ] as const)
      expect(await (await openSandbox(options)).get('/pets/1')).toMatchObject({ status, reason: 'sunset' })
  })
})
