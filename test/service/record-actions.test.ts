import { expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const [[, openSandbox]] = transports as [(typeof transports)[number]]

const text = { type: 'string' }
const integer = { type: 'integer', format: 'int64' }
const booking = (id: string) => ({
  type: 'object',
  required: [id, 'guest'],
  properties: {
    [id]: { ...integer, readOnly: true },
    guest: text,
    reason: text,
    updatedAt: { type: 'string', format: 'date-time', readOnly: true },
  },
})
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ok = (schema: object, status = 200) => ({ [status]: { description: '', ...json(schema) } })

interface Contract {
  readonly id?: string
  readonly record?: string
  readonly action?: string
  readonly method?: string
  readonly response?: object
}

/** A sandbox with one booking, and an operation below its path. */
async function withAction(contract: Contract) {
  const { id = 'id', record = '/bookings/{id}', action = '/cancel', method = 'post', response } = contract
  const [, parameter = ''] = /\{(\w+)\}/.exec(record) ?? []
  const parameters = [{ name: parameter, in: 'path', required: true, schema: integer }]
  const schema = booking(id)
  const body = { type: 'object', properties: { reason: text, notify: { type: 'boolean' } } }
  const shown = response ?? ok(schema, 202)
  const document = {
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    paths: {
      [record.replace(/\/\{.*/, '')]: {
        get: { operationId: 'list', responses: ok({ type: 'array', items: schema }) },
        post: { operationId: 'create', requestBody: json(schema), responses: ok(schema, 201) },
      },
      [record]: { parameters, get: { operationId: 'get', responses: ok(schema) } },
      [record + action]: { parameters, [method]: { operationId: 'act', requestBody: json(body), responses: shown } },
    },
  }
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)) })
  const path = record.replace(/\/\{.*/, '')
  await sandbox.post(path, { guest: 'Ann' })
  return { sandbox, path }
}

// @source docs/spec.md, "Resources"
it.each([
  {},
  { record: '/bookings/{booking_id}', id: 'booking_id' },
  { action: ':cancel' },
  { record: '/bookings/{id}/', action: 'cancel/' },
  { response: ok({ type: 'object', properties: { data: booking('id') } }, 202) },
])('an operation below the path of a record shows this record, and stores nothing, %j', async (contract: Contract) => {
  const { sandbox, path } = await withAction(contract)
  const { id = 'id', record = '/bookings/{id}', action = '/cancel' } = contract
  const address = (of: number) => record.replace(/\{\w+\}/, String(of)) + action
  await sandbox.advance('1h')
  const seen = await sandbox.post(address(1), { reason: 'ill', notify: true })
  expect(seen).toMatchObject({ status: 202, reason: undefined })
  const shown = contract.response === undefined ? seen.json : (seen.json as { readonly data: unknown }).data
  expect(shown).toEqual({ [id]: 1, guest: 'Ann', reason: 'ill', updatedAt: '2026-03-01T13:00:00.000Z' })
  expect((await sandbox.get(path)).json).toEqual([
    { [id]: 1, guest: 'Ann', updatedAt: expect.stringMatching(/T12:00/) },
  ])
  expect(await sandbox.post(address(2), { reason: 'ill' })).toMatchObject({ status: 404, code: 'not_found' })
  expect(await sandbox.post(address(1), { reason: 7 })).toMatchObject({ status: 400, code: 'invalid_request' })
})

it.each(['put', 'patch', 'delete'])('%s shows the record too', async (method) => {
  const { sandbox } = await withAction({ action: '/favorite', method })
  const seen = await sandbox.call('/bookings/1/favorite', { method: method.toUpperCase() })
  expect(seen).toMatchObject({ status: 202, reason: undefined, json: { id: 1, guest: 'Ann' } })
  expect((await sandbox.get('/bookings/1')).status).toBe(200)
})

it('the first one has a hint in the log, and each response has it in a header', async () => {
  const { sandbox } = await withAction({})
  expect(sandbox.warnings).toEqual([])
  const hint = expect.stringMatching(/^act shows the record .* write a handler/)
  for (let i = 0; i < 3; i++)
    expect((await sandbox.post('/bookings/1/cancel', {})).headers.get('x-sandbox-note')).toEqual(hint)
  expect((await sandbox.post('/bookings/2/cancel', {})).headers.get('x-sandbox-note')).toBeNull()
  expect(sandbox.warnings).toEqual([
    'act shows the record with the fields of the body, and stores nothing. For another effect, write a handler (--handlers, or sandbox.handle).',
  ])
})

it.each([
  {
    action: '/payments',
    response: ok({ type: 'object', required: ['id'], properties: { id: integer, sum: integer } }),
  },
  { action: '/notes/first' },
])('one that returns something else is mocked, %j', async (contract) => {
  const { sandbox } = await withAction(contract)
  const { json: explanation } = await sandbox.control('GET', '/state?explain=true')
  expect(explanation).toMatchObject({
    explanation: {
      operations: expect.arrayContaining([expect.objectContaining({ operation: 'act', stateful: false })]),
    },
  })
})
