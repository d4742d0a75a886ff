import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

describe.each(transports)('a response of your own, %s', (_name, openSandbox) => {
  it('has the status, body and headers of the rule, and the reason fault', async () => {
    const sandbox = await openSandbox({
      fault: [
        'listPets:200*1:[]',
        { operation: 'getPet', status: 410, body: { code: 'gone', a: 1 }, headers: { 'X-A': 'b' } },
      ],
    })
    const list = await sandbox.get('/pets')
    expect(list).toMatchObject({ status: 200, reason: 'fault', remaining: 60, json: [] })
    const gone = await sandbox.get('/pets/1')
    expect(gone).toMatchObject({ status: 410, reason: 'fault', json: { code: 'gone', a: 1 } })
    expect(gone.headers.get('x-a')).toBe('b')
    expect((await sandbox.get('/pets')).json).toHaveLength(20)
    const { active } = (await sandbox.control('GET', '/state')).json as { active: never[] }
    expect(active[0]).toMatchObject({
      what: 'fault',
      name: expect.stringContaining('getPet:410:{"code":"gone","a":1}'),
      hits: 1,
    })
  })

  it('is sent as it is where the contract documents another form of the error', async () => {
    const error = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } }
    const content = { 'application/problem+json': { schema: error } }
    const get = { operationId: 'find', responses: { 200: { description: 'd' }, 404: { description: 'd', content } } }
    const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/things': { get } } }
    const spec = temporaryFile('openapi.json', JSON.stringify(document))
    const sandbox = await openSandbox({ spec, fault: ['find:404*1:{"title":"gone"}', 'find:404'] })
    expect((await sandbox.get('/things')).json).toEqual({ title: 'gone' })
    expect((await sandbox.get('/things')).text).toMatch(/^{"title":"The sandbox injected this failure/)
  })

  it('applies only if the named parameters of the path, and fields of query, header and body are equal', async () => {
    const sandbox = await openSandbox({
      fault: [
        { operation: 'listPets', status: 200, body: [], when: { query: { status: 'sold', limit: 2 } } },
        { operation: 'listPets', status: 503, when: { header: { 'X-Test': 'a' } } },
        { operation: 'getPet', status: 200, body: { id: 7 }, when: { path: { petId: 7 } } },
        {
          operation: 'createPet',
          status: 409,
          body: { code: 'taken' },
          when: { body: { name: 'Rex', categoryId: 1 } },
        },
      ],
    })
    expect((await sandbox.get('/pets?status=sold&limit=2')).reason).toBe('fault')
    expect((await sandbox.get('/pets?status=sold')).reason).toBeUndefined()
    expect((await sandbox.call('/v1/pets', { headers: { 'x-test': 'a' } })).status).toBe(503)
    expect((await sandbox.call('/v1/pets', { headers: { 'x-test': 'b' } })).status).toBe(200)
    expect((await sandbox.get('/pets/7')).json).toEqual({ id: 7 })
    expect((await sandbox.get('/pets/8')).json).toMatchObject({ id: 8, name: expect.any(String) })
    expect((await sandbox.get('/pets/x')).status).toBe(404)
    expect((await sandbox.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(409)
    expect((await sandbox.post('/pets', { name: 'Rex', categoryId: 2 })).status).toBe(201)
  })

  it('compares the fields of a form, and warns about a condition on a body that there cannot be', async () => {
    const schema = { type: 'object', properties: { username: { type: 'string' }, otp: { type: 'integer' } } }
    const content = { 'application/x-www-form-urlencoded': { schema }, 'multipart/form-data': { schema } }
    const responses = { 200: { description: 'd' } }
    const paths = {
      '/login': {
        post: { operationId: 'login', requestBody: { content }, responses },
        get: { operationId: 'form', responses },
      },
    }
    const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths }
    const body = { username: 'ann lee', otp: 7 }
    const sandbox = await openSandbox({
      spec: temporaryFile('openapi.json', JSON.stringify(document)),
      fault: [
        { operation: 'login', status: 401, when: { body } },
        { operation: 'form', status: 401, when: { body } },
      ],
    })
    const send = async (text: string, type = 'application/x-www-form-urlencoded') =>
      (await sandbox.call('/login', { method: 'POST', body: text, headers: { 'content-type': type } })).reason ===
      'fault'
    expect([await send('username=ann+lee&otp=7'), await send('username=bob&otp=7')]).toEqual([true, false])
    const part = (name: string, value: string) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const parts = `${part('username', 'ann lee')}${part('otp', '7')}--x--\r\n`
    expect(await send(parts, 'multipart/form-data; boundary=x')).toBe(true)
    expect(sandbox.warnings).toEqual([
      expect.stringMatching(/^fault ".*" never happens: form has no body that is JSON or a form\.$/),
    ])
  })

  it('replaces the response of an operation that has run, and sends a text as it is', async () => {
    const page = { status: 200, body: '<p>Hello</p>', headers: { 'Content-Type': 'text/html' } }
    const sandbox = await openSandbox({
      fault: [
        { operation: 'createPet', status: 202, body: { queued: true }, phase: 'after' },
        { operation: 'getPet', ...page },
      ],
    })
    expect(await sandbox.post('/pets', { name: 'Rex', categoryId: 1 })).toMatchObject({
      status: 202,
      json: { queued: true },
    })
    expect((await sandbox.control('GET', '/resources')).json).toMatchObject([{ name: 'pets', records: 61 }, {}])
    const response = await sandbox.call('/v1/pets/1')
    expect([response.headers.get('content-type'), response.text]).toEqual(['text/html', '<p>Hello</p>'])
  })

  it('or the operation’s own, with further headers and a latency', async () => {
    const when = { path: { petId: 7 } }
    const sandbox = await openSandbox({
      fault: [
        { operation: 'getPet', headers: { Link: '<https://a.test>; rel="x"', 'X-A': 'b' }, latency: '1ms', when },
        { operation: 'createPet', status: 503, latency: '1ms' },
        { operation: 'listPets', latency: '1ms', times: 1 },
      ],
    })
    const pet = await sandbox.get('/pets/7')
    expect(pet).toMatchObject({ status: 200, reason: 'fault', remaining: 59, json: { id: 7 } })
    expect(pet.headers.get('x-a')).toBe('b')
    expect(pet.headers.get('link')).toContain('<https://a.test>; rel="x"')
    expect(await sandbox.get('/pets/6')).toMatchObject({ status: 200, reason: undefined })
    expect(await sandbox.get('/pets?limit=0')).toMatchObject({ status: 400, reason: undefined })
    expect((await sandbox.get('/pets')).json).toHaveLength(20)
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200, reason: undefined })
    expect(await sandbox.post('/pets', {})).toMatchObject({ status: 503, reason: 'fault' })
    const { json } = await sandbox.control('GET', '/requests')
    const waits = (json as unknown as readonly { readonly timing: { readonly waitingMs: number } }[]).map(
      ({ timing }) => timing.waitingMs > 0,
    )
    expect(waits).toEqual([true, false, false, true, false, true])
  })

  it.each([
    [{ latency: '25h' }, 'latency must be a duration such as 500ms or 2s, at most 24h (it is "25h")'],
    [{ body: [] }, 'the fault must be a status from 200 to 599 or one of'],
    [{ headers: { 'Content-Length': '1' } }, 'the header "Content-Length" cannot be set'],
  ])('is refused, %j', async (rule, message) => {
    const sandbox = await openSandbox()
    const { status, json } = await sandbox.control('POST', '/faults', { operation: 'getPet', ...rule })
    expect([status, json]).toEqual([400, expect.objectContaining({ message: expect.stringContaining(message) })])
  })

  it('is exported in a form that serves the same', async () => {
    const rules = [
      { operation: 'getPet', status: 404, body: { code: 'gone' }, headers: { 'x-a': 'b' }, times: 2 },
      { operation: 'listPets', status: 200, body: [], when: { query: { status: 'sold' } } },
    ]
    const sandbox = await openSandbox({ fault: rules })
    const { json } = await sandbox.control('GET', '/export')
    expect(json).toMatchObject({ content: { fault: rules } })
    const { fault } = (json as { content: { fault: never[] } }).content
    expect((await sandbox.control('PUT', '/faults', fault)).json).toMatchObject(rules)
  })

  it('is refused under strict if its body breaks the contract', async () => {
    const sandbox = await openSandbox({ strict: true })
    const broken = await sandbox.control('POST', '/faults', 'listPets:200:[{"id":1}]')
    expect(broken).toMatchObject({ status: 400, json: { message: expect.stringContaining('breaks the contract') } })
    expect(await sandbox.control('POST', '/faults', 'listPets:200:[]')).toMatchObject({ status: 200 })
    await expect(openSandbox({ strict: true, fault: 'getPet:200:{}' })).rejects.toThrow('breaks the contract')
  })
})
