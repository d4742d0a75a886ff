import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { HAS_REDIS, RedisServer } from '../support/redis-server.js'
import { type SpawnedServe, spawnServe } from '../support/spawned-serve.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** The packaged contract with PATCH and DELETE of pets, and with categories. */
const GROWN = fileURLToPath(new URL('../contract/specs/grown.yaml', import.meta.url))

describe.skipIf(!HAS_REDIS)('replicas of the command that serve a grown contract', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.end())

  async function replica(): Promise<SpawnedServe> {
    const flags = ['--spec', GROWN, '--strict', '--redis', redis.url, '--group', 'grown']
    const serve = await spawnServe(temporaryFolder(), ...flags)
    onTestFinished(async () => void (await serve.end('SIGTERM')))
    return serve
  }

  async function call({ baseUrl }: SpawnedServe, method: string, path: string, body?: object) {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { authorization: 'Bearer sandbox', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
  }

  it('have the same records of each resource, and so does one that joins later', async () => {
    const [a, b] = [await replica(), await replica()]
    const created = await call(a, 'POST', '/categories', { name: 'dogs' })
    expect(created).toMatchObject({ status: 201, json: { id: 1, name: 'dogs' } })
    expect(await call(b, 'GET', '/categories/1')).toEqual({ ...created, status: 200 })
    expect((await call(b, 'POST', '/categories', { name: 'dogs' })).status).toBe(409)
    const replaced = await call(b, 'PUT', '/categories/1', { name: 'birds' })
    expect(await call(a, 'GET', '/categories/1')).toEqual(replaced)
    expect(await call(a, 'POST', '/categories', { name: 'cats' })).toMatchObject({ status: 201, json: { id: 2 } })
    expect((await call(b, 'DELETE', '/categories/1')).status).toBe(204)
    expect((await call(a, 'GET', '/categories/1')).status).toBe(404)

    const bella = { name: 'Bella', species: 'dog', status: 'available', categoryId: 2 }
    for (const id of [1, 2, 3]) expect(await call(b, 'POST', '/pets', bella)).toMatchObject({ json: { id } })
    expect((await call(a, 'PATCH', '/pets/3', { status: 'sold' })).status).toBe(200)
    expect((await call(b, 'GET', '/pets/3')).json).toMatchObject({ status: 'sold' })
    expect((await call(b, 'DELETE', '/pets/3')).status).toBe(204)

    expect(await a.end('SIGTERM')).toBe(0)
    const c = await replica()
    expect((await call(c, 'GET', '/categories')).json).toMatchObject({ total: 1, items: [{ id: 2, name: 'cats' }] })
    expect((await call(c, 'GET', '/pets/3')).status).toBe(404)
    expect([...b.lines, ...c.lines].filter((line) => line.includes('"event":"warning"'))).toEqual([])
  })
})
