import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { MIB } from '../../src/domain/numbers.js'
import { readRedisAddress } from '../../src/domain/redis-address.js'
import { startSandbox } from '../../src/index.js'
import { RedisConnection } from '../../src/replication/redis.js'
import { entryDigest } from '../../src/replication/redis-scripts.js'
import { HAS_REDIS, RedisServer } from '../support/redis-server.js'

type Fields = Readonly<Record<'id' | 'replica' | 'batch' | 'after' | 'text' | 'check', string>>

/** Arguments of XADD after the key: what somebody may add to the log, from its last entry. */
const STRAYS: Readonly<Record<string, (last: Fields) => readonly string[]>> = {
  'another field': () => ['*', 'unknown', 'field'],
  'only the first of our fields': () => ['*', 'replica', 'garbage'],
  'all our fields but the digest': ({ replica, id }) => ['*', ...written(replica, '99999', id, '[2]').slice(0, 8)],
  'our fields with garbage': ({ replica, id }) => ['*', ...forged(replica, '99999', id, 'garbage')],
  'truncated JSON': ({ replica, id, text }) => ['*', ...forged(replica, '99999', id, text.slice(0, -2))],
  'an unknown item': ({ replica, id }) => ['*', ...forged(replica, '99999', id, '[2,["zz",{}]]')],
  'a batch that is not a number': ({ replica, id, text }) => ['*', ...forged(replica, 'x', id, text)],
  'a copy of the last entry': ({ replica, batch, after, text }) => ['*', ...written(replica, batch, after, text)],
  'a digest of a place before the last': ({ replica, after, text }) => ['*', ...written(replica, '9', after, text)],
  'a digest of a place to come': ({ text }) => ['*', ...written('x', '1', '9999999999999-0', text)],
  'an id in the far future': () => ['9999999999999-0', 'a', 'b'],
  'a text of 64 MiB': ({ replica, id }) => ['*', ...forged(replica, '99999', id, 'x'.repeat(64 * MIB))],
  'the largest id': () => ['18446744073709551615-18446744073709551615', 'a', 'b'],
}

function written(replica: string, batch: string, after: string, text: string): readonly string[] {
  const fields = { replica, batch, after, text, check: entryDigest(replica, batch, after, text) }
  return Object.entries(fields).flat()
}

/** With the digest of another text. */
function forged(replica: string, batch: string, after: string, text: string): readonly string[] {
  return [...written(replica, batch, after, text).slice(0, 9), entryDigest(replica, batch, after, '[2]')]
}

describe.skipIf(!HAS_REDIS)('the log of a group in Redis', () => {
  let redis: RedisServer
  let groups = 0
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.end())

  /** Two replicas that have added a pet each, one of them in the newest checkpoint. */
  async function open() {
    const group = `strays-${++groups}`
    const replica = async () => {
      const sandbox = await startSandbox({ redis: redis.url, group, seed: 1 })
      onTestFinished(() => sandbox.close())
      return sandbox
    }
    const key = (name: string) => `petstore-sandbox:{${group}}:${name}`
    const oldest = await replica()
    await oldest.pets.add({ name: 'First', categoryId: 1 })
    const a = await replica()
    await oldest.close()
    const b = await replica()
    await b.pets.add({ name: 'Second', categoryId: 1 })
    const names = async () =>
      Promise.all([a, b].map(async ({ pets }) => (await pets.list()).map(({ name }) => name).slice(0, 3)))
    const isHealthy = async () => {
      const healths = await Promise.all([a, b].map(({ controlUrl }) => fetch(`${controlUrl}/health`)))
      return healths.every(({ status }) => status === 200)
    }
    return { a, b, replica, key, names, isHealthy }
  }

  /** Not by redis-cli, whose arguments are short. */
  async function add(log: string, entry: readonly string[]): Promise<string> {
    const address = readRedisAddress(redis.url)
    if ('problem' in address) throw new Error(address.problem)
    const connection = await RedisConnection.open(address)
    const id = String(await connection.call('XADD', log, ...entry))
    connection.close()
    return id
  }

  function lastEntry(log: string): Fields {
    const [id = '', ...rest] = redis.ask('XREVRANGE', log, '+', '-', 'COUNT', '1').split('\n')
    const pairs = rest.flatMap((name, at) => (at % 2 === 0 ? [[name, rest[at + 1] ?? '']] : []))
    return { id, ...Object.fromEntries(pairs) }
  }

  it.each(Object.keys(STRAYS))('skips and removes a stray entry: %s', async (name) => {
    const { a, b, replica, key, names, isHealthy } = await open()
    const log = key('log')
    const id = await add(log, STRAYS[name]?.(lastEntry(log)) ?? [])
    await expect.poll(() => redis.ask('XRANGE', log, id, id), { timeout: 60_000 }).toBe('')
    await a.pets.add({ name: 'Third', categoryId: 1 })
    const all = ['Third', 'Second', 'First']
    expect(await names()).toEqual([all, all])
    expect(await isHealthy()).toBe(true)
    const { now } = await b.clock.show()
    expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(60_000)
    await a.close()
    await b.close()
    expect((await (await replica()).pets.list({ limit: 3 })).map((pet) => pet.name)).toEqual(all)
  })

  it.each(['in place of the checkpoint', 'with a garbage checkpoint', 'with a checkpoint of the far future'])(
    'a stop writes the next checkpoint over a key %s',
    async (what) => {
      const { a, b, replica, key, names } = await open()
      const checkpoint = key('checkpoint')
      redis.ask('DEL', checkpoint)
      if (what.startsWith('in place')) redis.ask('SET', checkpoint, 'x')
      else
        redis.ask('HSET', checkpoint, 'id', what.includes('future') ? '9999999999999-0' : 'zz', 'pieces', '1', '0', 'x')
      await a.pets.add({ name: 'Third', categoryId: 1 })
      const all = ['Third', 'Second', 'First']
      expect(await names()).toEqual([all, all])
      await a.close()
      await b.close()
      // Without the entries, only the checkpoint has the pets.
      redis.ask('XTRIM', key('log'), 'MAXLEN', '1')
      expect((await (await replica()).pets.list({ limit: 3 })).map(({ name }) => name)).toEqual(all)
    },
  )

  it.each([
    ['another program has replaced the key of the log', 'log', ['SET']],
    ['another program has replaced the key of the batches', 'batches', ['SET']],
    ['the log was removed, and a stray entry added', 'log', ['DEL', 'XADD']],
  ] as const)('continues if %s', async (_what, name, commands) => {
    const { a, key, names, isHealthy } = await open()
    for (const command of commands)
      redis.ask(command, key(name), ...(command === 'SET' ? ['x'] : command === 'XADD' ? ['*', 'a', 'b'] : []))
    const isAdded = async () => {
      const added = a.pets.add({ name: 'Third', categoryId: 1 })
      return added.then(
        () => true,
        () => false,
      )
    }
    await expect.poll(isAdded, { timeout: 60_000 }).toBe(true)
    await expect.poll(isHealthy, { timeout: 60_000 }).toBe(true)
    for (const one of await names()) expect(one).toEqual(expect.arrayContaining(['Third', 'First']))
  })
})
