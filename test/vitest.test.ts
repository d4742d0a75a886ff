import { afterAll, beforeAll, describe, expect } from 'vitest'
import { openWorkerServer, testSpaceName } from '../src/api/worker-server.js'
import { startSandbox } from '../src/index.js'
import { createTest, type SandboxFixtures, test } from '../src/vitest/index.js'

type TestSandbox = SandboxFixtures['sandbox']

function pets({ baseUrl }: Pick<TestSandbox, 'baseUrl'>, key: string): Promise<Response> {
  return fetch(`${baseUrl}/pets`, { headers: { authorization: `Bearer ${key}` } })
}

const limited = createTest({ limits: '3/min', seed: 1 })

describe('the sandbox fixture', () => {
  const seen = new Set<string>()
  const servers = new Set<string>()

  describe.concurrent('in concurrent tests', () => {
    limited.for(Array.from({ length: 10 }, (_, n) => n))('spends its own quota, %i', async (n, { sandbox }) => {
      seen.add(sandbox.name)
      servers.add(new URL(sandbox.baseUrl).origin)
      const key = sandbox.key()
      const statuses: number[] = []
      for (let request = 0; request < 4; request++) statuses.push((await pets(sandbox, key)).status)
      expect(statuses).toEqual([200, 200, 200, 429])
      await sandbox.clock.advance('1m')
      expect((await pets(sandbox, key)).status).toBe(200)
      await sandbox.records.add('pets', { name: `Rex ${n}`, categoryId: 1 })
      expect((await sandbox.state()).space).toBe(sandbox.name)
      expect((await sandbox.requests()).length).toBe(5)
    })
  })

  limited('gives every test a space of its own on one server, and removes it', async ({ sandbox, sandboxServers }) => {
    expect(seen.size).toBe(10)
    expect([...servers]).toEqual([new URL(sandbox.baseUrl).origin])
    expect(new URL(sandbox.baseUrl).pathname).toBe(`/~${sandbox.name}/v1`)
    const { spaces } = await sandboxServers.open({ limits: '3/min', seed: 1 })
    expect((await spaces.list()).map(({ name }) => name)).toEqual([sandbox.name])
  })

  test('has a server of its own for other options', async ({ sandbox }) => {
    expect(servers).not.toContain(new URL(sandbox.baseUrl).origin)
    expect((await sandbox.settings.show()).limits).toBeNull()
  })

  const attempts: number[] = []
  limited('gives each attempt of a test a fresh space', { repeats: 2 }, async ({ sandbox }) => {
    await pets(sandbox, sandbox.key())
    attempts.push((await sandbox.requests()).length)
    expect(new Set(attempts)).toEqual(new Set([1]))
  })

  test('has a key for each plan and failure', async ({ sandbox }) => {
    expect(sandbox.key('pro')).toBe(`sandbox-pro~${sandbox.name}`)
    expect((await pets(sandbox, sandbox.key('revoked'))).status).toBe(401)
    expect((await pets(sandbox, sandbox.key('pro'))).headers.get('x-ratelimit-limit')).toBe('300')
  })

  test('reports the conduct of the client under test', async ({ sandbox }) => {
    expect((await pets(sandbox, sandbox.key('pro'))).status).toBe(200)
    expect((await sandbox.conduct()).violations).toEqual([])
    for (let request = 0; request < 5; request++) await (await pets(sandbox, sandbox.key('limited'))).text()
    const { space, violations } = await sandbox.conduct()
    expect(space).toBe(sandbox.name)
    expect(violations).toMatchObject([{ rule: 'early-retry', key: 'sandbox-limited', operation: 'listPets' }])
  })

  test('may be removed by the test itself', async ({ sandbox }) => {
    expect(await sandbox.remove()).toEqual({ removed: sandbox.name })
  })
})

describe('with PETSTORE_SANDBOX_URL', () => {
  let running: Awaited<ReturnType<typeof startSandbox>>
  beforeAll(async () => {
    running = await startSandbox({ controlToken: 'secret-token', basePath: '/shop/v1' })
  })
  afterAll(() => running.close())
  const env = () => ({ PETSTORE_SANDBOX_URL: running.controlUrl, PETSTORE_SANDBOX_CONTROL_TOKEN: 'secret-token' })

  test('uses the sandbox that runs there, and gives the options to the space', async () => {
    const server = await openWorkerServer({ scenario: 'storm', storm: 'off', limits: '1/min' }, env())
    expect(server.baseUrl).toBe(running.baseUrl)
    const space = await server.freshSpace('there')
    expect(space.baseUrl).toBe(running.space('there').baseUrl)
    expect((await pets(server, space.key())).status).toBe(200)
    expect((await pets(space, 'sandbox')).status).toBe(429)
    expect(await running.space('there').requests()).toHaveLength(2)
    await space.reset()
    expect((await space.settings.show()).limits).toBe('1/min')
    await server.close()
    expect((await running.state()).space).toBe('')
  })

  test('removes a space left by a killed run', async () => {
    await running.space('left').records.add('pets', { name: 'Stray', categoryId: 1 })
    const server = await openWorkerServer({}, env())
    const names = (await (await server.freshSpace('left')).records.list('pets')).map(({ name }) => name)
    expect(names).not.toContain('Stray')
  })

  test('takes the path from PETSTORE_BASE_URL, but no other service, which may be production', async () => {
    const baseOf = async (given: string) => (await openWorkerServer({}, { ...env(), PETSTORE_BASE_URL: given })).baseUrl
    const other = running.baseUrl.replace('/shop/v1', '/v2')
    expect(await baseOf(other)).toBe(other)
    expect(await baseOf('https://api.example/v1')).toBe(running.baseUrl)
    expect(await baseOf('')).toBe(running.baseUrl)
  })
})

describe('testSpaceName', () => {
  test('is the same in every run, and another for every test', () => {
    const one = testSpaceName({ name: 'is banned: ärger & co.', id: '-12_0_1' }, '/home/ann/shop')
    expect(one).toMatch(/^is-banned-rger-co\.[0-9a-f]{10}$/)
    expect(testSpaceName({ name: 'is banned: ärger & co.', id: '-12_0_1' }, '/ci/shop')).toBe(one)
    expect(testSpaceName({ name: 'is banned: ärger & co.', id: '-12_0_2' }, '/ci/shop')).not.toBe(one)
    expect(testSpaceName({ name: 'is banned: ärger & co.', id: '-12_0_1' }, '/ci/admin')).not.toBe(one)
  })

  test('is always a name that a space may have', () => {
    for (const name of ['', '~~~', 'x'.repeat(200), '名前', '-a-'])
      expect(testSpaceName({ name, id: '1_0' }, '/')).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  })
})
