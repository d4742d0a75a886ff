import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'

const object = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties })
const text = { type: 'string' }
const ok = (schema: object) => ({ 200: { description: '', content: { 'application/json': { schema } } } })
const user = object({
  id: { type: 'integer' },
  email: { ...text, format: 'email' },
  role: { enum: ['admin', 'guest'] },
})
const note = object({ id: { type: 'integer' }, text })
const userId = { name: 'userId', in: 'path', required: true, schema: { type: 'integer' } }

/** Users and their notes, which no client can create. */
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'T', version: '1' },
  paths: {
    '/users': { get: { operationId: 'listUsers', responses: ok({ type: 'array', items: user }) } },
    '/users/{userId}': {
      parameters: [userId],
      get: { operationId: 'getUser', responses: { ...ok(user), 404: { description: '' } } },
    },
    '/users/{userId}/notes': {
      parameters: [userId],
      get: { operationId: 'listNotes', responses: ok({ type: 'array', items: note }) },
    },
  },
}

async function opened(options: SandboxOptions = {}) {
  const sandbox = await createSandbox({
    spec: temporaryFile('spec.json', JSON.stringify(DOCUMENT)),
    seed: 1,
    ...options,
  })
  onTestFinished(() => sandbox.close())
  const send = async (path: string, method = 'GET') => {
    const response = await sandbox.fetch(sandbox.baseUrl + path, { method })
    const body = await response.text()
    return { status: response.status, body: body === '' ? undefined : JSON.parse(body) }
  }
  return { sandbox, send }
}

// @source docs/spec.md, "Resources"
it('a collection without POST starts with one record made for its schema; clients cannot add to it', async () => {
  const { send } = await opened()
  const [one] = (await send('/users')).body
  expect(one).toMatchObject({ id: 1, role: 'admin' })
  expect(await send('/users/1')).toEqual({ status: 200, body: one })
  expect((await send('/users/2')).status).toBe(404)
  expect((await send('/users', 'POST')).status).toBe(405)
  expect((await send('/users/1/notes')).body).toEqual([])
  expect((await send('/users/2/notes')).status).toBe(404)
})

it('generated records, and those of fixtures, are in its place', async () => {
  const { send } = await opened({ generate: ['users=20', 'notes=40'] })
  expect((await send('/users')).body).toHaveLength(20)
  expect((await send('/users/20')).status).toBe(200)
  expect((await send('/users/20/notes')).body).toHaveLength(2)
  const fixtures = temporaryFolder()
  mkdirSync(fixtures, { recursive: true })
  const ada = { id: 7, email: 'ada@example.com', role: 'guest' }
  writeFileSync(join(fixtures, 'users.json'), JSON.stringify([ada]))
  writeFileSync(join(fixtures, 'notes.json'), JSON.stringify([{ userId: 7, id: 1, text: 'hello' }]))
  const seeded = await opened({ fixtures })
  expect((await seeded.send('/users')).body).toEqual([ada])
  expect((await seeded.send('/users/7/notes')).body).toEqual([{ id: 1, text: 'hello' }])
})

it('the control plane adds, changes and removes its records', async () => {
  const { sandbox, send } = await opened()
  await sandbox.records.add('users', { id: 7, email: 'ada@example.com', role: 'guest' })
  await sandbox.records.set('users', 7, { role: 'admin' })
  expect((await send('/users/7')).body).toEqual({ id: 7, email: 'ada@example.com', role: 'admin' })
  await sandbox.records.remove('users', 1)
  expect((await send('/users')).body).toHaveLength(1)
  await sandbox.reset()
  expect((await send('/users')).body).toMatchObject([{ id: 1 }])
})
