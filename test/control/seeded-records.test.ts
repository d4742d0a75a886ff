import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const text = { type: 'string' }
const member = {
  type: 'object',
  required: ['id', 'email', 'role', 'seen'],
  properties: {
    id: { type: 'integer', readOnly: true },
    email: text,
    role: { enum: ['guest', 'owner'], default: 'guest' },
    seen: { type: ['string', 'null'] },
  },
}
const newMember = {
  type: 'object',
  required: ['email', 'password'],
  additionalProperties: false,
  properties: { email: text, password: { ...text, minLength: 8 }, role: { enum: ['guest'] }, seen: text },
}
const key = {
  type: 'object',
  required: ['id', 'memberId', 'label'],
  properties: { id: { type: 'integer' }, memberId: { type: 'integer' }, label: text },
}
const content = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })
const parameters = [{ name: 'memberId', in: 'path', required: true, schema: { type: 'integer' } }]
const contract = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'T', version: '1' },
  paths: {
    '/members': {
      get: { responses: { 200: content({ type: 'array', items: member }) } },
      post: { requestBody: content(newMember), responses: { 201: content(member) } },
    },
    '/members/{memberId}': { parameters, get: { responses: { 200: content(member) } } },
    '/members/{memberId}/keys': {
      parameters,
      get: { responses: { 200: content({ type: 'array', items: key }) } },
      post: {
        requestBody: content({ type: 'object', required: ['label'], properties: { label: text } }),
        responses: { 201: content(key) },
      },
    },
  },
})

describe.each(transports)('records of the control plane, %s', (_, openSandbox) => {
  const open = () => openSandbox({ spec: temporaryFile('spec.json', contract), strict: true })

  it('may have what no client can send, as long as responses allow it', async () => {
    const sandbox = await open()
    const add = (record: object) => sandbox.control('POST', '/resources/members', record)
    const owner = { email: 'a@example.com', role: 'owner', seen: null }
    expect(await add(owner)).toEqual({ status: 200, json: { id: 1, ...owner } })
    const change = (fields: object) => sandbox.control('PATCH', '/resources/members/1', fields)
    expect((await change({ role: 'guest' })).status).toBe(200)
    expect((await change({ role: 'owner' })).json).toMatchObject({ role: 'owner' })
    expect((await change({ id: 1, role: 'owner' })).status).toBe(200)
    expect((await change({ id: 2 })).status).toBe(400)
    for (const [record, message] of [
      [{ role: 'owner' }, 'email is required'],
      [{ email: 'b@example.com', role: 'king' }, 'role must be one of guest, owner (it is "king")'],
      [{ email: 'b@example.com', password: 'short' }, 'password must have at least 8 characters'],
      [{ email: 'b@example.com', rôle: 'owner' }, 'members has no field "rôle"'],
    ] as const)
      expect(await add(record)).toMatchObject({ status: 400, json: { message: expect.stringContaining(message) } })
    expect((await sandbox.get('/members')).json).toHaveLength(1)
  })

  it('have the ids of their parents as numbers', async () => {
    const sandbox = await open()
    await sandbox.control('POST', '/resources/members', { email: 'a@example.com' })
    const added = await sandbox.control('POST', '/resources/keys', { memberId: 1, label: 'door' })
    expect(added).toEqual({ status: 200, json: { id: 1, memberId: 1, label: 'door' } })
    expect((await sandbox.get('/members/1/keys')).json).toEqual([added.json])
  })
})
