import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.js'
import { HAS_REDIS, RedisServer } from '../support/redis-server.js'

/** Keys may be removed manually, or evicted by Redis. */
describe.skipIf(!HAS_REDIS)('keys of a group that were removed from Redis', () => {
  let redis: RedisServer
  let group = ''
  let groups = 0
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.end())

  const key = (name: string) => `petstore-sandbox:{${group}}:${name}`
  const replica = async (): Promise<Sandbox> => {
    const sandbox = await startSandbox({ redis: redis.url, group, seed: 1 })
    onTestFinished(() => sandbox.close())
    return sandbox
  }
  const isHealthy = async ({ controlUrl }: Sandbox) => (await fetch(`${controlUrl}/health`)).status === 200
  const names = async (sandbox: Sandbox) => (await sandbox.records.list('pets')).map(({ name }) => name)

  /** Two replicas, and a pet in the newest checkpoint. */
  async function twoReplicas(): Promise<readonly [Sandbox, Sandbox]> {
    group = `group-${++groups}`
    const oldest = await replica()
    await oldest.records.add('pets', { name: 'Kept', categoryId: 1 })
    const a = await replica()
    await oldest.close()
    return [a, await replica()]
  }

  it('without the stream, all replicas continue from the newest checkpoint', async () => {
    const [a, b] = await twoReplicas()
    await a.records.add('pets', { name: 'Lost', categoryId: 1 })
    redis.ask('DEL', key('log'))
    await expect.poll(async () => (await names(a)).includes('Lost')).toBe(false)
    await expect.poll(async () => [await isHealthy(a), await isHealthy(b)]).toEqual([true, true])
    await b.records.add('pets', { name: 'After', categoryId: 1 })
    for (const one of [a, b]) {
      expect(await names(one)).toEqual(expect.arrayContaining(['Kept', 'After']))
      expect(await names(one)).not.toContain('Lost')
    }
  })

  it('without the end of the stream, nothing is lost, also by a restart of all', async () => {
    const [a, b] = await twoReplicas()
    await a.records.add('pets', { name: 'Newest', categoryId: 1 })
    redis.ask('DEL', key('end'))
    await b.records.add('pets', { name: 'After', categoryId: 1 })
    for (const one of [a, b]) expect(await names(one)).toEqual(expect.arrayContaining(['Kept', 'Newest', 'After']))
    await a.close()
    await b.close()
    redis.ask('DEL', key('end'))
    expect(await names(await replica())).toEqual(expect.arrayContaining(['Kept', 'Newest', 'After']))
  })

  it('without the stream, a restart of all continues from the newest checkpoint', async () => {
    const [a, b] = await twoReplicas()
    await a.close()
    await b.close()
    redis.ask('DEL', key('log'))
    expect(await names(await replica())).toContain('Kept')
  })

  it.each(['DEL', 'SET'])('without a usable checkpoint, a running replica writes another one (%s)', async (command) => {
    const [a, b] = await twoReplicas()
    await a.records.add('pets', { name: 'Stays', categoryId: 1 })
    await names(b)
    redis.ask(command, key('checkpoint'), ...(command === 'SET' ? ['damaged'] : []))
    redis.ask('XTRIM', key('log'), 'MAXLEN', '1')
    const late = await replica()
    // One that has not read an entry that is trimmed joins again.
    for (const one of [a, b, late])
      await expect.poll(() => names(one).catch(() => [])).toEqual(expect.arrayContaining(['Kept', 'Stays']))
    for (const one of [a, b, late]) expect(await isHealthy(one)).toBe(true)
  })
})
