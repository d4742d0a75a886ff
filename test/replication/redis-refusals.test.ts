import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { readRedisAddress } from '../../src/domain/redis-address.js'
import { LogUnavailable } from '../../src/replication/command-log.js'
import { openRedisLog } from '../../src/replication/redis-log.js'
import { bulk, FakeRedis, type FakeResponses } from './fake-redis.js'
import { isDown, isUp, RecordingWatcher } from './recording-follower.js'

const GOOD = { INFO: bulk('redis_version:7.0.15\r\n'), CONFIG: '*0\r\n', WAIT: ':0\r\n', SCRIPT: bulk('0'.repeat(40)) }

const fakes: FakeRedis[] = []

async function aFake(responses: FakeResponses): Promise<FakeRedis> {
  const fake = await FakeRedis.start({ ...GOOD, ...responses })
  fakes.push(fake)
  return fake
}

async function open(url: string, watcher = new RecordingWatcher()) {
  const address = readRedisAddress(url)
  if ('problem' in address) throw new Error(address.problem)
  return openRedisLog({ address, group: 'group', copies: 0, watcher, warn: () => {} })
}

afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.end()
})

describe('a Redis that cannot be used', () => {
  it.each([
    ['SET', "-OOM command not allowed when used memory > 'maxmemory'.", 'its memory is used up (maxmemory)'],
    ['SET', "-READONLY You can't write against a read only replica.", 'it is a read-only copy'],
    ['SET', '-MISCONF Redis is configured to save RDB snapshots, but', 'it cannot write to its disk'],
    ['SET', '-MOVED 12182 10.0.0.7:6379', 'it is a cluster node'],
    ['SET', '-NOPERM this user has no permissions', 'its user lacks permissions'],
    ['AUTH', '-WRONGPASS invalid username-password pair', 'user or password is wrong'],
    ['AUTH', "-ERR wrong number of arguments for 'auth' command", 'use Redis 7 or newer, or Valkey 7.2 or newer'],
    ['AUTH', '-ERR unknown command `AUTH`, with args beginning with: `shop`, `s3cret`', 'Redis 7 or newer'],
    ['SELECT', '-ERR DB index is out of range', 'it has no database with this number'],
    ['INFO', bulk('redis_version:6.2.14'), 'it is Redis 6.2.14: use Redis 7 or newer, or Valkey 7.2'],
    ['SET', '-ERR max number of clients reached', 'it has too many clients (maxclients)'],
    ['INFO', '+OK', 'the response is not from Redis'],
    ['SET', 'HTTP/1.1 400 Bad Request', 'the server is not Redis'],
  ])('is described in plain words: %s returns %s', async (command, response, words) => {
    const fake = await aFake({ [command]: response.endsWith('\r\n') ? response : `${response}\r\n` })
    const failure = await open(`${fake.url.replace('//', '//shop:s3cret@')}/5`).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(LogUnavailable)
    expect(String(failure)).toContain(`Redis at ${fake.url}/5 cannot be used: `)
    expect(String(failure)).toContain(words)
    // Also not in the output of a debugger or logger.
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/shop|s3cret/)
  })

  it('sends an unexpected response', async () => {
    const fake = await aFake({ EVALSHA: '+OK\r\n', HMGET: '+OK\r\n' })
    const log = await open(fake.url)
    await expect(log.end()).rejects.toThrow('the response is not from Redis')
    await expect(log.loadCheckpoint()).rejects.toThrow('the response is not from Redis')
    await log.close()
  })

  it('does not listen, or its host is unknown', async () => {
    const fake = await FakeRedis.start({})
    const { url } = fake
    await fake.end()
    await expect(open(url)).rejects.toThrow(`Redis at ${url} cannot be used: the connection was refused.`)
    await expect(open('redis://no-such-host.invalid')).rejects.toThrow(/its host is unknown|getaddrinfo/)
  })

  it('closes each connection immediately', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    await expect(open(`redis://127.0.0.1:${port}`)).rejects.toThrow('the connection was cut')
    await expect(open(`rediss://127.0.0.1:${port}`)).rejects.toThrow('the connection was cut')
    server.close()
  })

  it('is retried until it can be used, and the last reason is reported', async () => {
    const fake = await aFake({ EVALSHA: bulk('1-0') })
    const watcher = new RecordingWatcher()
    const log = await open(fake.url, watcher)
    const entry = { replica: 'a', batch: 1, text: '' }
    await log.append(entry, new AbortController().signal)
    fake.responses = { ...GOOD, EVALSHA: '-OOM no\r\n', SET: '-OOM no\r\n' }
    const patience = new AbortController()
    const appended = log.append({ ...entry, batch: 2 }, patience.signal)
    expect(await watcher.until(isDown)).toContain('its memory is used up')
    fake.responses = { ...GOOD, SET: '-READONLY no\r\n' }
    expect(await watcher.until((report) => report.includes('copy'))).toContain('read-only copy')
    patience.abort()
    await expect(appended).rejects.toThrow('read-only copy')
    await expect(log.end()).rejects.toThrow('read-only copy')
    fake.responses = { ...GOOD, EVALSHA: bulk('2-0') }
    await watcher.until(isUp)
    expect(await log.append({ ...entry, batch: 3 }, new AbortController().signal)).toBe('2-0')
    expect(watcher.reports.filter(isUp)).toHaveLength(1)
    await log.close()
  })
})
