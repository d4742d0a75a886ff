import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { readRedisAddress } from '../../src/domain/redis-address.js'
import { LogUnavailable } from '../../src/replication/command-log.js'
import { openRedisLog } from '../../src/replication/redis-log.js'
import { bulk, FakeRedis, type FakeResponses } from './fake-redis.js'
import { isDown, isUp, RecordingWatcher } from './recording-follower.js'

const GOOD = { SCRIPT: bulk('0'.repeat(40)) }

const fakes: FakeRedis[] = []

async function aFake(responses: FakeResponses): Promise<FakeRedis> {
  const fake = await FakeRedis.start({ ...GOOD, ...responses })
  fakes.push(fake)
  return fake
}

async function open(url: string, watcher = new RecordingWatcher()) {
  const address = readRedisAddress(url)
  if ('problem' in address) throw new Error(address.problem)
  return openRedisLog({ address, group: 'group', watcher, warn: () => {} })
}

afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.end()
})

describe('a Redis that cannot be used', () => {
  it.each([
    [
      'SET',
      "-OOM command not allowed when used memory > 'maxmemory'.",
      "OOM command not allowed when used memory > 'maxmemory'.",
    ],
    ['AUTH', '-WRONGPASS invalid username-password pair', 'WRONGPASS invalid username-password pair.'],
    ['AUTH', '-ERR unknown command `AUTH`, with args beginning with: `shop`, `s3cret`', 'ERR unknown command `AUTH`.'],
    ['SET', 'HTTP/1.1 400 Bad Request', 'the response is not from Redis.'],
  ])('is described by its own words, without a password: %s returns %s', async (command, response, words) => {
    const fake = await aFake({ [command]: response.endsWith('\r\n') ? response : `${response}\r\n` })
    const failure = await open(`${fake.url.replace('//', '//shop:s3cret@')}/5`).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(LogUnavailable)
    expect(String(failure)).toContain(`Redis at ${fake.url}/5 cannot be used: ${words}`)
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
    await expect(open(url)).rejects.toThrow(
      `Redis at ${url} cannot be used: connect ECONNREFUSED 127.0.0.1:${new URL(url).port}.`,
    )
    await expect(open('redis://no-such-host.invalid')).rejects.toThrow('getaddrinfo')
  })

  it('closes each connection immediately', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    for (const scheme of ['redis', 'rediss'])
      await expect(open(`${scheme}://127.0.0.1:${port}`)).rejects.toThrow(/onnection/)
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
    expect(await watcher.until(isDown)).toContain('OOM no')
    fake.responses = { ...GOOD, SET: '-READONLY no\r\n' }
    expect(await watcher.until((report) => report.includes('READONLY'))).toContain('READONLY no')
    patience.abort()
    await expect(appended).rejects.toThrow('READONLY no')
    await expect(log.end()).rejects.toThrow('READONLY no')
    fake.responses = { ...GOOD, EVALSHA: bulk('2-0') }
    await watcher.until(isUp)
    expect(await log.append({ ...entry, batch: 3 }, new AbortController().signal)).toBe('2-0')
    expect(watcher.reports.filter(isUp)).toHaveLength(1)
    await log.close()
  })
})
