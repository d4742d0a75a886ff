import { writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  connectSandbox,
  createSandbox,
  type OperationHandler,
  type SandboxOptions,
  startSandbox,
} from '../../src/index.js'
import { temporaryFile } from '../support/temporary-files.js'

async function opened(options: SandboxOptions = {}) {
  const sandbox = await createSandbox({ seed: 1, ...options })
  onTestFinished(() => sandbox.close())
  const ask = async (path: string, init: RequestInit & { readonly space?: string } = {}) => {
    const { space = '', ...request } = init
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json', ...init.headers }
    const { baseUrl } = sandbox.space(space)
    const response = await sandbox.fetch(baseUrl + path, { ...request, headers })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === '' ? undefined : JSON.parse(text),
    }
  }
  return { sandbox, ask }
}

const namesOf = (records: readonly object[]) => records.map((record) => Reflect.get(record, 'name'))

// @source docs/spec.md, "Behaviour of your own"
describe('a handler', () => {
  it('responds with what it makes of the request and of the records, which it changes', async () => {
    const { sandbox, ask } = await opened({ now: '2026-03-01T12:00:00Z', freeze: true })
    await sandbox.handle<{ path: { petId: number } }>('getPet', ({ path, query, headers, records, now, random }) => {
      const pet = records.set('pets', path.petId, { name: `${records.get('pets', 2)?.name} ${now}` })
      records.remove('pets', 3)
      const { name } = records.add('pets', { name: 'Rex', categoryId: 1 })
      const numbers = [random(), random()]
      const body = { ...pet, query, name, numbers, missing: records.get('pets', 3) ?? null, agent: headers['x-agent'] }
      return { status: 203, headers: { 'X-A': 'b' }, body: { ...body, count: records.list('pets').length } }
    })
    const seen = await ask('/pets/1', { headers: { 'X-Agent': 'me' } })
    expect([seen.status, seen.headers.get('x-a'), seen.headers.get('x-ratelimit-remaining')]).toEqual([203, 'b', '59'])
    const count = (await sandbox.records.list('pets')).length
    expect(seen.json).toMatchObject({ id: 1, name: 'Rex', missing: null, agent: 'me', count, query: {} })
    expect(new Set(seen.json.numbers).size).toBe(2)
    expect(namesOf(await sandbox.records.list('pets'))).toContain('Rex')
    const again = await opened({ now: '2026-03-01T12:00:00Z', freeze: true })
    await again.sandbox.handle('getPet', ({ random }) => ({ body: [random(), random()] }))
    expect((await again.ask('/pets/1')).json).toEqual(seen.json.numbers)
  })

  it('changes no record but by the functions that do', async () => {
    const { sandbox, ask } = await opened()
    const before = structuredClone(await sandbox.records.list('pets'))
    await sandbox.handle('getPet', ({ records }) => {
      for (const pet of [records.get('pets', 1), ...records.list('pets')]) Object.assign(pet ?? {}, { name: 'changed' })
      Object.assign(records.set('pets', 1, {}), { name: 'changed' })
      return { body: 'done' }
    })
    expect((await ask('/pets/1')).json).toBe('done')
    expect(await sandbox.records.list('pets')).toEqual(before)
  })

  it('comes back with the undo of a removal, and goes with the undo of a copy', async () => {
    const { sandbox, ask } = await opened()
    const [one, other] = [sandbox.space('one'), sandbox.space('other')]
    await one.handle('getPet', () => ({ body: 'own' }))
    const seen = async () => [
      (await ask('/pets/1', { space: 'one' })).json,
      (await ask('/pets/1', { space: 'other' })).json,
    ]
    const isPet = expect.objectContaining({ id: 1 })
    expect(await seen()).toEqual(['own', isPet])
    await other.copyFrom('one')
    expect(await seen()).toEqual(['own', 'own'])
    await other.undo()
    expect(await seen()).toEqual(['own', isPet])
    await sandbox.spaces.remove('one')
    expect(await seen()).toEqual([isPet, isPet])
    await one.undo()
    expect(await seen()).toEqual(['own', isPet])
  })

  it('leaves the response to the sandbox with undefined, and keeps its changes', async () => {
    const { sandbox, ask } = await opened()
    await sandbox.handle('createPet', ({ body, records }) => {
      if (body.name === 'Rex') return { status: 409, body: { code: 'taken', message: 'Taken', status: 409 } }
      records.set('pets', 1, { name: 'seen' })
      return undefined
    })
    const send = (name: string) => ask('/pets', { method: 'POST', body: JSON.stringify({ name, categoryId: 1 }) })
    expect((await send('Rex')).status).toBe(409)
    expect((await send('Bo')).json).toMatchObject({ name: 'Bo' })
    expect(await sandbox.records.get('pets', 1)).toMatchObject({ name: 'seen' })
    expect(await sandbox.requests({ operation: 'createPet' })).toMatchObject([{ status: 409 }, { status: 201 }])
  })

  it('is asked after quotas, faults and the contract', async () => {
    const { sandbox, ask } = await opened({ limits: '3/min', fault: 'listPets:503*1' })
    let calls = 0
    await sandbox.handle('listPets', () => ({ body: [++calls] }))
    const statuses: number[] = []
    for (const path of ['/pets', '/pets?limit=0', '/pets', '/pets', '/pets']) statuses.push((await ask(path)).status)
    expect(statuses).toEqual([503, 400, 200, 200, 429])
    expect(calls).toBe(2)
  })

  it('of a space wins, stays after a reset, is copied, and goes with the space', async () => {
    const { sandbox, ask } = await opened()
    const says = (text: string) => () => ({ body: text })
    const [shop, other] = [sandbox.space('shop'), sandbox.space('other')]
    await sandbox.handle('getPet', says('all'))
    await shop.handle('getPet', says('first'))
    await shop.handle('getPet', says('shop'))
    const seen = async (space: string) => (await ask('/pets/1', { space })).json
    expect([await seen(''), await seen('shop'), await seen('other')]).toEqual(['all', 'shop', 'all'])
    await shop.reset()
    await sandbox.reset()
    await other.copyFrom('shop')
    expect([await seen(''), await seen('shop'), await seen('other')]).toEqual(['all', 'shop', 'shop'])
    await shop.remove()
    expect(await seen('shop')).toBe('all')
  })

  const forever: OperationHandler = () => {
    for (;;);
  }
  const inBody: OperationHandler = () => ({ body: { toJSON: forever } })
  const loop: Record<string, unknown> = {}
  loop.loop = loop
  const promise = (() => Promise.reject(new Error('late'))) as object as OperationHandler
  it('that changes a record that is not there makes a 404, and can tell', async () => {
    const sandbox = await startSandbox()
    onTestFinished(() => sandbox.close())
    const send = async () =>
      (await fetch(`${sandbox.baseUrl}/pets/7`, { headers: { Authorization: 'Bearer sandbox' } })).status
    await sandbox.handle('getPet', ({ records: { set } }) => ({ body: set('pets', 4711, { name: 'Rex' }) }))
    expect(await send()).toBe(404)
    await sandbox.handle('getPet', ({ records }) => {
      expect(() => records.set('pets', 4711, { name: 'Rex' })).toThrow('pets has no record 4711')
      return { status: 204 }
    })
    expect(await send()).toBe(204)
    await sandbox.handle('getPet', ({ records }) => ({ body: records.set('cats', 1, {}) }))
    expect(await send()).toBe(500)
  })

  it.each<readonly [string, OperationHandler, RegExp]>([
    [
      'throws',
      () => Reflect.get(Object(undefined), 'a').b,
      /failed: .*undefined.* \(at .*handlers\.test\.ts:\d+:\d+\)\./,
    ],
    ['never ends', forever, /failed: it ran longer than 1000 ms\./],
    ['returns a body that never ends', inBody, /failed: it ran longer than 1000 ms\./],
    ['returns a promise', promise, /failed: handlers are synchronous, and it returned a promise\./],
    ['returns too much', () => ({ body: 'x'.repeat(2 ** 20) }), /failed: its body is larger than 1 MiB\./],
    ['returns a loop', () => ({ body: loop }), /failed: its body must be JSON\./],
    ['returns a function', () => ({ body: forever }), /failed: its body must be JSON\./],
    ['returns no object', () => 7 as never, /failed: it must return an object/],
    ['has a wrong status', () => ({ status: 99 }), /failed: its status must be from 200 to 599 \(it is 99\)\./],
    ['has a wrong header', () => ({ headers: { 'X-A': 'a\nb' } }), /failed: .*X-A/],
    [
      'sets the length',
      () => ({ headers: { 'content-length': '1' } }),
      /failed: the header "content-length" cannot be/,
    ],
    ['names no resource', ({ records }) => ({ body: records.list('dogs') }), /failed: .*no resource "dogs"/],
    ['adds what may not be', ({ records }) => ({ body: records.add('pets', { name: 7 }) }), /failed: .*name must be/],
  ])('that %s is a 500 with the reason, and changes nothing', async (_what, handler, message) => {
    const { sandbox, ask } = await opened()
    const before = structuredClone(await sandbox.records.list('pets'))
    await sandbox.handle('getPet', (request) => {
      for (const name of ['Rex', 'Bo']) request.records.add('pets', { name, categoryId: 1 })
      request.records.remove('pets', 1)
      return handler(request)
    })
    expect(await ask('/pets/1')).toMatchObject({ status: 500, json: { message: expect.stringMatching(message) } })
    expect(await sandbox.records.list('pets')).toEqual(before)
    expect(await ask('/pets?limit=1')).toMatchObject({ status: 200 })
    expect((await sandbox.requests({ status: 500 })).length).toBe(1)
  })

  it('that changes records for ever is ended between two changes', async () => {
    const { sandbox, ask } = await opened()
    const before = structuredClone(await sandbox.records.list('pets'))
    await sandbox.handle('getPet', ({ records }) => {
      for (;;) {
        try {
          records.add('pets', { name: 'Rex', categoryId: 1 })
        } catch {}
      }
    })
    expect(await ask('/pets/1')).toMatchObject({ status: 500 })
    expect(await sandbox.records.list('pets')).toEqual(before)
  })

  it('cannot change records once it has returned', async () => {
    const { sandbox, ask } = await opened()
    let add = () => {}
    await sandbox.handle('getPet', ({ records }) => {
      add = () => records.add('pets', { name: 'Rex', categoryId: 1 })
      return { body: 1 }
    })
    await ask('/pets/1')
    expect(add).toThrow('handlers are synchronous')
  })

  it('is refused for an unknown operation, for no function, and by a sandbox elsewhere', async () => {
    const sandbox = await startSandbox()
    onTestFinished(() => sandbox.close())
    await expect(sandbox.handle('getPets', () => undefined)).rejects.toThrow(
      'no operation "getPets"; did you mean getPet?',
    )
    await expect(sandbox.handle('getPet', 7 as never)).rejects.toThrow('must be a function')
    const { controlUrl } = sandbox
    for (const controls of [connectSandbox(controlUrl), connectSandbox(controlUrl).space('a')])
      await expect(controls.handle('getPet', () => undefined)).rejects.toThrow('start it with --handlers')
  })
})

describe('the module of --handlers', () => {
  it('has functions by operation, as exports or in its default export', async () => {
    const file = temporaryFile(
      'handlers.mjs',
      `export const limit = 7
export const getPet = () => ({ body: 'get' })
export default { listPets: () => { throw new Error('boom') } }`,
    )
    const { ask } = await opened({ handlers: file })
    expect((await ask('/pets/1')).json).toBe('get')
    const place = /^The handler of listPets in .*handlers\.mjs failed: boom \(at .*handlers\.mjs:3:\d+\)\.$/
    expect((await ask('/pets', { space: '' })).json).toMatchObject({
      status: 500,
      message: expect.stringMatching(place),
    })
  })

  it.each([
    [
      'export const getPets = () => {}',
      'the contract has no operation "getPets", which it exports; did you mean getPet?',
    ],
    ['export const getPet =', 'the module cannot be loaded'],
    [undefined, 'the module cannot be loaded: ENOENT'],
  ])('stops the start if it cannot be used: %j', async (text, message) => {
    const file = temporaryFile('handlers.mjs', text ?? '')
    if (text !== undefined) writeFileSync(file, text)
    const handlers = text === undefined ? `${file}.missing` : file
    await expect(createSandbox({ handlers })).rejects.toThrow(message)
  })

  it('is not available to replicas', async () => {
    await expect(startSandbox({ handlers: 'x.mjs', redis: 'redis://127.0.0.1:1' })).rejects.toThrow(
      'cannot be combined with redis',
    )
  })
})
