import { expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const [[, openSandbox]] = transports as [(typeof transports)[number]]

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const list = (properties: object) => ({ type: 'array', items: { type: 'object', properties } })
const object = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties })

/** What the sandbox says of a body without `name` and with a wrong `seats`. */
async function errorOf(
  status: number,
  schema: object,
  body: object = { seats: 'x', tags: ['a', 5] },
  room = object({ name: text, seats: { type: 'integer' }, tags: texts }),
) {
  const content = (of: object) => ({ content: { 'application/json': { schema: of } } })
  const post = {
    operationId: 'addRoom',
    requestBody: content({ ...room, required: room.required.slice(0, 1) }),
    responses: { 201: { description: '', ...content(room) }, [status]: { description: '', ...content(schema) } },
  }
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/rooms': { post } } }
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)) })
  const { json, status: sent } = await sandbox.post('/rooms', body)
  const findings = (await sandbox.control('GET', '/conduct')).json
  expect(findings).toMatchObject({ violations: [{ rule: 'invalid-request' }] })
  expect(sent).toBe(status)
  return json
}

const MESSAGES = ['name is required', 'seats must be a whole number', 'tags[1] must be a string']
const said = (at: number) => expect.stringContaining(MESSAGES[at] ?? '')

it.each([
  [
    'FastAPI',
    422,
    object({
      detail: list({
        loc: { type: 'array', items: { anyOf: [text, { type: 'integer' }] } },
        msg: text,
        type: text,
      }),
    }),
    {
      detail: [
        { loc: ['body', 'name'], msg: 'Field required', type: 'missing' },
        {
          loc: ['body', 'seats'],
          msg: 'Input should be a valid integer, unable to parse string as an integer',
          type: 'int_parsing',
        },
        { loc: ['body', 'tags', 1], msg: 'Input should be a valid string', type: 'string_type' },
      ],
    },
  ],
  [
    'NestJS',
    400,
    object({ statusCode: { type: 'integer' }, message: texts, error: text }),
    {
      statusCode: 400,
      message: ['name should not be empty', 'seats must be an integer number', 'tags.1 must be a string'],
      error: 'Bad Request',
    },
  ],
  [
    'Rails and Laravel',
    422,
    object({ message: text, errors: { type: 'object', additionalProperties: texts } }),
    { message: expect.stringContaining('; '), errors: { name: [said(0)], seats: [said(1)], 'tags[1]': [said(2)] } },
  ],
  [
    'JSON:API',
    422,
    object({ errors: list({ status: text, source: object({ pointer: text }), detail: text }) }),
    {
      errors: [
        { status: '422', source: { pointer: '/name' }, detail: said(0) },
        { status: '422', source: { pointer: '/seats' }, detail: said(1) },
        { status: '422', source: { pointer: '/tags/1' }, detail: said(2) },
      ],
    },
  ],
  [
    'express-validator',
    400,
    object({ errors: list({ param: text, msg: text }) }),
    {
      errors: [
        { param: 'name', msg: said(0) },
        { param: 'seats', msg: said(1) },
        { param: 'tags[1]', msg: said(2) },
      ],
    },
  ],
  [
    'problem details',
    400,
    object({ title: text, status: { type: 'integer' }, 'invalid-params': list({ name: text, reason: text }) }),
    { status: 400, 'invalid-params': [{ name: 'name' }, { name: 'seats' }, { name: 'tags[1]' }] },
  ],
])(
  'a list of errors, as %s documents it, has an entry for each problem, and its field',
  async (_name, status, schema, expected) => expect(await errorOf(status, schema)).toMatchObject(expected),
)

const fastApi = object({
  detail: list({ loc: { type: 'array', items: { anyOf: [text, { type: 'integer' }] } }, msg: text, type: text }),
})
const nest = object({ statusCode: { type: 'integer' }, message: texts, error: text })
const of = (type: string, rules: object = {}) => ({ type, ...rules })
const format = (name: string) => of('string', { format: name })

// @source docs/spec.md, "Errors"
it.each([
  [
    of('string', { minLength: 3 }),
    'ab',
    'string_too_short',
    'String should have at least 3 characters',
    'must be longer than or equal to 3 characters',
  ],
  [
    of('string', { maxLength: 1 }),
    'ab',
    'string_too_long',
    'String should have at most 1 character',
    'must be shorter than or equal to 1 characters',
  ],
  [
    of('string', { pattern: '^a$' }),
    'b',
    'string_pattern_mismatch',
    "String should match pattern '^a$'",
    'must match /^a$/ regular expression',
  ],
  [
    of('string', { enum: ['a', 'b', 'c'] }),
    'd',
    'enum',
    "Input should be 'a', 'b' or 'c'",
    'must be one of the following values: a, b, c',
  ],
  [
    of('string', { enum: [...'abcdefghijklmn'] }),
    'z',
    'enum',
    expect.stringMatching(/^Input should be 'a', .* 'm' or 'n'$/),
    expect.stringContaining('a, b, c'),
  ],
  [{ enum: ['a', null] }, 'b', 'enum', "Input should be 'a' or null", 'must be one of the following values: a, null'],
  [of('integer', { enum: [1, 2] }), 3, 'enum', 'Input should be 1 or 2', 'must be one of the following values: 1, 2'],
  [
    of('integer', { minimum: 1 }),
    0,
    'greater_than_equal',
    'Input should be greater than or equal to 1',
    'must not be less than 1',
  ],
  [
    of('integer', { maximum: 9 }),
    10,
    'less_than_equal',
    'Input should be less than or equal to 9',
    'must not be greater than 9',
  ],
  [
    of('integer', { exclusiveMinimum: 0 }),
    0,
    'greater_than',
    'Input should be greater than 0',
    'must be a whole number of 1 or more',
  ],
  [of('number', { exclusiveMaximum: 1.5 }), 2, 'less_than', 'Input should be less than 1.5', 'must be less than 1.5'],
  [of('number', { multipleOf: 2 }), 3, 'multiple_of', 'Input should be a multiple of 2', 'must be divisible by 2'],
  [
    of('integer'),
    1.5,
    'int_from_float',
    'Input should be a valid integer, got a number with a fractional part',
    'must be an integer number',
  ],
  [of('integer'), [], 'int_type', 'Input should be a valid integer', 'must be an integer number'],
  [
    of('number'),
    'x',
    'float_parsing',
    'Input should be a valid number, unable to parse string as a number',
    'must be a number conforming to the specified constraints',
  ],
  [
    of('boolean'),
    'x',
    'bool_parsing',
    'Input should be a valid boolean, unable to interpret input',
    'must be a boolean value',
  ],
  [of('string'), 5, 'string_type', 'Input should be a valid string', 'must be a string'],
  [texts, 'x', 'list_type', 'Input should be a valid list', 'must be an array'],
  [
    { ...texts, minItems: 2 },
    ['a'],
    'too_short',
    'List should have at least 2 items after validation, not 1',
    'must contain at least 2 elements',
  ],
  [
    object({ a: text }),
    5,
    'model_attributes_type',
    'Input should be a valid dictionary or object to extract fields from',
    'must be an object',
  ],
  [
    format('email'),
    'nope',
    'value_error',
    expect.stringContaining('value is not a valid email address'),
    'must be an email',
  ],
  [format('uuid'), 'x', 'uuid_parsing', 'Input should be a valid UUID', 'must be a UUID'],
  [format('uri'), 'x', 'url_parsing', expect.stringContaining('Input should be a valid URL'), 'must be a URL address'],
  [
    format('date'),
    'x',
    'date_from_datetime_parsing',
    'Input should be a valid date or datetime',
    'must be a valid ISO 8601 date string',
  ],
  [
    format('date-time'),
    'x',
    'datetime_from_date_parsing',
    'Input should be a valid datetime or date',
    'must be a valid ISO 8601 date string',
  ],
  [
    { anyOf: [{ type: 'null' }, format('email')] },
    'x',
    'value_error',
    expect.stringContaining('email'),
    'must be an email',
  ],
  [{ anyOf: [{ type: 'null' }, text] }, 5, 'string_type', 'Input should be a valid string', 'must be a string'],
])(
  'a broken rule has the words of FastAPI, or of NestJS, where the contract documents their errors: %j %j',
  async (schema, value, type, msg, sentence) => {
    const sent = object({ name: schema })
    expect(await errorOf(422, fastApi, { name: value }, sent)).toEqual({
      detail: [{ loc: ['body', 'name'], msg, type }],
    })
    const said = typeof sentence === 'string' ? expect.stringContaining(sentence) : sentence
    expect(await errorOf(400, nest, { name: value }, sent)).toMatchObject({ message: [said] })
  },
)

it.each([
  ['email', 'nope', 'an email address such as'],
  ['uuid', 'x', 'a UUID such as'],
  ['uri', 'x', 'a URI such as'],
])('a text that is no %s is called that, also inside, and in a query', async (name, value, words) => {
  for (const [schema, body] of [
    [format(name), value],
    [object({ inner: format(name) }), { inner: value }],
    [list({ inner: format(name) }), [{ inner: value }]],
  ] as const)
    expect(await errorOf(400, object({ detail: text }), { name: body }, object({ name: schema }))).toEqual({
      detail: expect.stringContaining(`must be ${words}`),
    })
})

it.each([
  [{ enum: ['a', 'b', null] }, 'one of a, b, null'],
  [{ const: null }, 'null'],
])('a message names null among the values: %j', async (name, words) => {
  const sent = object({ name })
  expect(await errorOf(400, object({ detail: text }), { name: 'c' }, sent)).toEqual({
    detail: expect.stringContaining(`must be ${words} (it is "c")`),
  })
})

it('FastAPI takes an instant without a time zone, and has it in responses', async () => {
  const content = (schema: object) => ({ content: { 'application/json': { schema } } })
  const event = object({
    id: { type: 'integer', readOnly: true },
    starts_at: { anyOf: [format('date-time'), { type: 'null' }] },
  })
  const post = {
    operationId: 'addEvent',
    requestBody: content(event),
    responses: { 201: { description: '', ...content(event) }, 422: { description: '', ...content(fastApi) } },
  }
  const get = {
    operationId: 'listEvents',
    responses: { 200: { description: '', ...content({ type: 'array', items: event }) } },
  }
  const components = { schemas: { HTTPValidationError: fastApi } }
  const document = {
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    paths: { '/events': { get, post } },
    components,
  }
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)), strict: true })
  for (const starts_at of ['2026-12-01T10:00:00', '2026-12-01T10:00', '2026-12-01 10:00:00.5', '2026-12-01T10:00:00Z'])
    expect(await sandbox.post('/events', { starts_at })).toMatchObject({ status: 201, json: { starts_at } })
  for (const starts_at of ['2026-12-01T25:00', '2026-02-30T10:00', 'soon'])
    expect((await sandbox.post('/events', { starts_at })).json).toMatchObject({
      detail: [{ loc: ['body', 'starts_at'], type: 'datetime_from_date_parsing' }],
    })
})

it('an error without fields is one entry, for the part of the request', async () => {
  const schema = object({ detail: list({ loc: texts, msg: text }) })
  expect(await errorOf(422, schema, [1] as never)).toMatchObject({ detail: [{ loc: ['body'] }] })
})

it.each([
  ['documented', '2026-12-01T10:00:00', 'which has no time zone)'],
  ['with minutes only', '2026-12-01T10:00', 'which has no time zone)'],
  ['another text', 'tomorrow', '"tomorrow")'],
])('an instant without a time zone is refused with this reason: %s', async (_what, starts_at, end) => {
  const date = { type: 'string', format: 'date-time' }
  for (const schema of [date, { anyOf: [date, { type: 'null' }] }]) {
    const body = await errorOf(422, object({ detail: text }), { starts_at }, object({ starts_at: schema }))
    expect(body).toEqual({ detail: expect.stringMatching(/^addRoom: starts_at must .*\.$/) })
    expect(Object(body).detail).toContain(end)
  }
})

const room = object({ id: { type: 'integer' }, name: text })

it.each([400, 422])('an invalid path is a documented %i, with its place, and else a 404', async (status) => {
  const parameters = [{ name: 'booking_id', in: 'path', required: true, schema: { type: 'integer' } }]
  const content = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })
  const errors = object({ detail: list({ loc: texts, msg: text, type: text }) })
  const responses = { 200: content(room), [status]: content(errors) }
  const paths = {
    '/bookings/{booking_id}': { parameters, get: { operationId: 'getBooking', responses } },
    '/rooms/{booking_id}': { parameters, get: { operationId: 'getRoom', responses: { 200: content(room) } } },
  }
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths }
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)) })
  const seen = await sandbox.get('/bookings/x')
  expect([seen.status, seen.json]).toEqual([
    status,
    {
      detail: [
        {
          loc: ['path', 'booking_id'],
          msg: 'Input should be a valid integer, unable to parse string as an integer',
          type: 'int_parsing',
        },
      ],
    },
  ])
  expect((await sandbox.get('/rooms/x')).status).toBe(404)
  expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({
    violations: [{ rule: 'invalid-request' }, { rule: 'invalid-request' }],
  })
})

const problem = object({ detail: text, title: text, status: { type: 'integer' } })
const detail = object({ detail: list({ loc: texts, msg: text }) })

/** The bodies of a path that does not exist, a wrong method, a wrong media type, and a quota that is used up. */
async function undocumentedErrors(responses: object, schemas: object = {}) {
  const body = { required: true, content: { 'application/json': { schema: object({ name: text }) } } }
  const post = { operationId: 'addRoom', requestBody: body, responses }
  const info = { title: 'T', version: '1' }
  const document = { openapi: '3.1.0', info, paths: { '/rooms': { post } }, components: { schemas } }
  const spec = temporaryFile('spec.json', JSON.stringify(document))
  const sandbox = await openSandbox({ spec, limits: '3/min' })
  const seen = [
    await sandbox.get('/room'),
    await sandbox.call('/rooms', { method: 'DELETE' }),
    await sandbox.call('/rooms', { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }),
    await sandbox.post('/rooms', {}),
  ]
  return seen.map(({ status, headers, text }) => [status, headers.get('content-type'), JSON.parse(text)] as const)
}

it('an error that is not documented has the form of those that are', async () => {
  const content = { 'application/problem+json': { schema: problem } }
  const created = { description: '', content: { 'application/json': { schema: object({ id: text, name: text }) } } }
  const seen = await undocumentedErrors({ 201: created, 409: { description: '', content } })
  const said = ['could not be found', 'This path supports POST', 'Send the body as Content-Type', 'is used up']
  expect(seen).toEqual(
    [404, 405, 415, 429].map((status, index) => {
      const sentence = expect.stringContaining(said[index] ?? '')
      return [status, 'application/problem+json', { detail: sentence, title: sentence, status }]
    }),
  )
})

it('an error that FastAPI does not document has a sentence in place of the list', async () => {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } }
  const responses = { 201: { description: '' }, 422: { description: '', content } }
  const seen = await undocumentedErrors(responses, { HTTPValidationError: detail })
  const said = ['could not be found', 'This path supports POST', 'Send the body as Content-Type', 'is used up']
  expect(seen).toEqual(
    [404, 405, 415, 429].map((status, index) => {
      return [status, 'application/json', { detail: expect.stringContaining(said[index] ?? '') }]
    }),
  )
})

it.each([
  [
    'lists what is wrong with a request',
    object({ errors: { type: 'array', items: object({ field: text, message: text }) } }),
  ],
  ["is the service's own", object({ code: text, message: text, status: { type: 'integer' } })],
])('an error that is not documented has the form of the service, where a documented one %s', async (_what, schema) => {
  const content = { 'application/json': { schema } }
  const seen = await undocumentedErrors({ 201: { description: '' }, 422: { description: '', content } })
  expect(seen.map(([status, type, body]) => [status, type, Object.keys(body)])).toEqual(
    [404, 405, 415, 429].map((status) => [status, 'application/json', ['code', 'message', 'status']]),
  )
})
