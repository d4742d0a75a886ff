import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const [[, openSandbox]] = transports as [(typeof transports)[number]]

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const choice = (...choices: readonly string[]) => ({ type: 'string', enum: choices })
const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required })
const list = (properties: object) => ({ type: 'array', items: object(properties) })
const json = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }

/** The errors of a body without `title` and with a wrong `kind`, of a missing record, a missing key and a missing path. */
async function errorsIn(schema: object, others: object = {}, missing = json(schema) as object) {
  const room = object({ title: text, kind: choice('a', 'b') }, ['title'])
  const error = json(schema)
  const one = object({ id: { type: 'integer', readOnly: true }, ...room.properties }, ['id'])
  const paths = {
    '/rooms': { post: { requestBody: json(room), responses: { 201: json(one), 400: error, 401: error } } },
    '/rooms/{id}': { get: { parameters: [ID], responses: { 200: json(one), 404: missing } } },
    ...others,
  }
  const detailed = {
    code: text,
    message: text,
    target: text,
    details: { type: 'array', items: { $ref: '#/components/schemas/Problem' } },
  }
  const schemas = { Problem: object(detailed, ['code', 'message']) }
  const components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } }, schemas }
  const info = { title: 'T', version: '1' }
  const document = { openapi: '3.1.0', info, security: [{ key: [] }], components, paths }
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)), strict: true })
  const seen = [
    await sandbox.post('/rooms', { kind: 'z' }),
    await sandbox.get('/rooms/77'),
    await sandbox.post('/rooms', {}, null),
    await sandbox.get('/nowhere'),
  ]
  expect(seen.map(({ status }) => status)).toEqual([400, 404, 401, 404])
  return seen.map(({ json: body }) => body)
}

const TITLE = 'title is required'
const KIND = expect.stringContaining('kind must be one of a, b')
const BOTH = expect.stringContaining(TITLE)
const MISSING = expect.stringContaining('could not be found')

// @source docs/spec.md, "Errors"
describe('an error', () => {
  it('has the code of the sandbox if the contract has no example', async () => {
    const schema = object({ error: object({ code: { ...text, minLength: 1 }, message: text }, ['code', 'message']) }, [
      'error',
    ])
    expect(await errorsIn(schema)).toMatchObject(
      ['invalid_request', 'not_found', 'missing_api_key', 'not_found'].map((code) => ({ error: { code } })),
    )
  })

  it.each([
    [
      ['BAD_REQUEST', 'NOT_FOUND', 'UNAUTHORIZED'],
      ['BAD_REQUEST', 'NOT_FOUND', 'UNAUTHORIZED'],
    ],
    [
      ['FORBIDDEN', 'invalidRequest', 'resourceNotFound', 'Unauthenticated'],
      ['invalidRequest', 'resourceNotFound', 'Unauthenticated'],
    ],
    [
      ['CONFLICT', 'E_VALIDATION', 'E_NOT_FOUND', 'E_UNAUTHORIZED'],
      ['E_VALIDATION', 'E_NOT_FOUND', 'E_UNAUTHORIZED'],
    ],
    [
      ['api_error', 'card_error', 'invalid_request_error'],
      ['invalid_request_error', 'invalid_request_error', 'invalid_request_error'],
    ],
  ])('has the documented code of %j with the words of the problem', async (choices, [invalid, missing, keyless]) => {
    for (const name of ['code', 'type', 'status']) {
      const schema = object({ [name]: choice(...choices), message: text }, [name])
      const codes = [invalid, missing, keyless, missing]
      expect(await errorsIn(schema)).toMatchObject(codes.map((code) => ({ [name]: code })))
    }
  })

  it('has not the form of an OAuth error elsewhere', async () => {
    const oauth = object({ error: choice('invalid_grant', 'invalid_request'), error_description: text }, ['error'])
    const token = json(object({ access_token: text }))
    const responses = { 200: token, 400: json(oauth), 401: json(oauth), 403: json(oauth), 429: json(oauth) }
    const paths = { '/oauth/token': { post: { security: [], responses } } }
    const schema = object({ reason: text }, ['reason'])
    const [, , , missing] = await errorsIn(schema, paths)
    expect(missing).toEqual({ reason: MISSING })
  })

  it('that is undocumented, or without content, has the form that its status has elsewhere', async () => {
    const [common, lost, keyless] = ['reason', 'lost', 'who'].map((name) => json(object({ [name]: text }, [name])))
    const ofOne = (responses: object) => ({ get: { parameters: [ID], responses: { 200: json(texts), ...responses } } })
    const security = [{ key: [] }]
    const document = {
      ...{ openapi: '3.1.0', info: { title: 'T', version: '1' }, security },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      paths: {
        '/rooms/{id}': ofOne({ 400: common, 403: common, 500: common }),
        '/halls/{id}': ofOne({ 404: lost, 401: keyless }),
        '/fairs/{id}': ofOne({ 400: { description: '' }, 401: { description: '' } }),
      },
    }
    const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)), strict: true })
    const seen = [
      await sandbox.get('/rooms/1', null),
      await sandbox.get('/fairs/1', null),
      await sandbox.get('/nowhere'),
      await sandbox.get('/fairs/a'),
    ]
    expect(seen.map(({ json: body }) => Object.keys(Object(body)))).toEqual([['who'], ['who'], ['lost'], ['reason']])
  })

  it('without content has the form of the others', async () => {
    const [, missing] = await errorsIn(object({ reason: text }, ['reason']), {}, { description: 'Not found' })
    expect(missing).toEqual({ reason: MISSING })
  })
})

// @source docs/spec.md, "Errors"
describe('a list of problems, or an object of problems by field', () => {
  it.each([
    [
      'Rails',
      object({ errors: object({ title: texts, kind: texts }) }),
      { errors: { title: [TITLE], kind: [KIND] } },
      { errors: { base: [MISSING] } },
    ],
    [
      'DRF',
      object({ title: texts, kind: texts, non_field_errors: texts }),
      { title: [TITLE], kind: [KIND] },
      { non_field_errors: [MISSING] },
    ],
    [
      'DRF, any field',
      { type: 'object', additionalProperties: texts },
      { title: [TITLE], kind: [KIND] },
      { non_field_errors: [MISSING] },
    ],
    [
      'fieldErrors',
      object({ message: text, fieldErrors: object({ title: text, kind: text }) }),
      { message: BOTH, fieldErrors: { title: TITLE, kind: KIND } },
      { message: MISSING },
    ],
    [
      'ASP.NET',
      object({ title: text, errors: { type: 'object', additionalProperties: texts } }),
      { title: BOTH, errors: { title: [TITLE], kind: [KIND] } },
      { title: MISSING },
    ],
    [
      'Zod',
      object({
        success: { const: false },
        error: object({
          issues: list({
            code: text,
            path: { type: 'array', items: { anyOf: [text, { type: 'number' }] } },
            message: text,
          }),
          name: text,
        }),
      }),
      {
        success: false,
        error: {
          issues: [
            { code: 'required', path: ['title'], message: TITLE },
            { code: 'enum', path: ['kind'], message: KIND },
          ],
        },
      },
      { success: false, error: { issues: [{ code: 'not_found', message: MISSING }] } },
    ],
    [
      'PayPal',
      object({ message: text, details: list({ field: text, issue: text }), links: list({ href: text }) }),
      {
        message: BOTH,
        details: [
          { field: 'title', issue: TITLE },
          { field: 'kind', issue: KIND },
        ],
      },
      { message: MISSING },
    ],
    [
      'Spring',
      object({
        status: { type: 'integer' },
        message: text,
        errors: list({ field: text, defaultMessage: text, code: text }),
      }),
      {
        status: 400,
        message: BOTH,
        errors: [
          { field: 'title', defaultMessage: TITLE, code: 'required' },
          { field: 'kind', defaultMessage: KIND, code: 'enum' },
        ],
      },
      { status: 404, message: MISSING },
    ],
    [
      'Symfony',
      object({ title: text, violations: list({ propertyPath: text, message: text }) }),
      {
        title: BOTH,
        violations: [
          { propertyPath: 'title', message: TITLE },
          { propertyPath: 'kind', message: KIND },
        ],
      },
      { title: MISSING },
    ],
    [
      'RFC 7807',
      object({ title: text, 'invalid-params': list({ name: text, reason: text }) }),
      {
        title: BOTH,
        'invalid-params': [
          { name: 'title', reason: TITLE },
          { name: 'kind', reason: KIND },
        ],
      },
      { title: MISSING },
    ],
    [
      'Google',
      object({
        error: object({ message: text, details: list({ fieldViolations: list({ field: text, description: text }) }) }),
      }),
      {
        error: {
          message: BOTH,
          details: [
            {
              fieldViolations: [
                { field: 'title', description: TITLE },
                { field: 'kind', description: KIND },
              ],
            },
          ],
        },
      },
      { error: { message: MISSING } },
    ],
    [
      'JSON:API',
      object({ errors: list({ detail: text, source: object({ pointer: text }) }) }),
      {
        errors: [
          { detail: TITLE, source: { pointer: '/title' } },
          { detail: KIND, source: { pointer: '/kind' } },
        ],
      },
      { errors: [{ detail: MISSING }] },
    ],
    [
      'Azure',
      {
        ...object({ error: { $ref: '#/components/schemas/Problem' } }, ['error']),
      },
      {
        error: {
          code: 'invalid_request',
          message: BOTH,
          details: [
            { code: 'required', message: TITLE, target: 'title' },
            { code: 'enum', message: KIND, target: 'kind' },
          ],
        },
      },
      { error: { code: 'not_found', message: MISSING } },
    ],
    [
      'a list of another name',
      object({ message: text, fields: list({ path: text, reason: text }) }, ['message']),
      {
        message: BOTH,
        fields: [
          { path: 'title', reason: TITLE },
          { path: 'kind', reason: KIND },
        ],
      },
      { message: MISSING },
    ],
    [
      'an example of another request',
      object({ message: text, errors: object({ email: texts }) }),
      { message: BOTH, errors: { title: [TITLE], kind: [KIND] } },
      { message: MISSING },
    ],
    [
      'an object of no known fields',
      object({ message: text, errors: { type: 'object' } }),
      { message: BOTH, errors: { title: [TITLE], kind: [KIND] } },
      { message: MISSING },
    ],
    ['Sails', object({ problems: texts }), { problems: [TITLE, KIND] }, { problems: [MISSING] }],
  ])(
    'has an entry for each, and is left out if no field is wrong, as %s documents it',
    async (_name, schema, invalid, missing) => {
      const [seen, other, , nowhere] = await errorsIn(schema)
      expect([seen, other, nowhere]).toEqual([invalid, missing, missing])
    },
  )
})

const READ = { get: { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }] } }

/** The error of a body without `title` and with a wrong `kind`, in `room`. */
async function nestedErrorIn(responses: object) {
  const room = object({ title: text, kind: choice('a', 'b') }, ['title'])
  const one = object({ room: object({ id: { type: 'integer', readOnly: true }, ...room.properties }, ['id']) }, [
    'room',
  ])
  const post = { requestBody: json(object({ room }, ['room'])), responses: { 201: json(one), ...responses } }
  const paths = { '/rooms': { post }, '/rooms/{id}': { get: { ...READ.get, responses: { 200: json(one) } } } }
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths }
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)), strict: true })
  const { status, json: body } = await sandbox.post('/rooms', { room: { kind: 'z' } })
  return { status, body }
}

describe('an invalid record in an envelope', () => {
  it('has its problems under the names of its fields, as Rails writes them', async () => {
    const errors = object({ errors: { type: 'object', additionalProperties: texts } })
    expect(await nestedErrorIn({ 422: json(errors) })).toEqual({
      status: 422,
      body: { errors: { title: [`room.${TITLE}`], kind: [expect.stringContaining('room.kind must be one of a, b')] } },
    })
  })

  it('has its place in the body in a JSON pointer', async () => {
    const errors = object({ errors: list({ detail: text, source: object({ pointer: text }) }) })
    const { body } = await nestedErrorIn({ 400: json(errors) })
    expect(body).toMatchObject({
      errors: [{ source: { pointer: '/room/title' } }, { source: { pointer: '/room/kind' } }],
    })
  })
})

describe('the status of an invalid request', () => {
  const sentence = json(object({ detail: text }))
  const problems = json(object({ detail: list({ loc: texts, msg: text, type: text }) }))
  it.each([
    [422, 'only that lists problems', { 400: sentence, 422: problems }],
    [400, 'both are sentences', { 400: sentence, 422: sentence }],
    [400, 'only that lists problems', { 400: problems, 422: sentence }],
  ])('is %i where 400 and 422 are documented and %s', async (status, _what, responses) => {
    expect(await nestedErrorIn(responses)).toMatchObject({ status })
  })
})
