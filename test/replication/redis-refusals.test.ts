import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { readRedisAddress } from '../../src/domain/redis-address.js'
import { LogUnavailable } from '../../src/replication/command-log.js'
import { openRedisLog } from '../../src/replication/redis-log.js'
import { FakeRedis, type FakeResponses } from './fake-redis.js'

const fakes: FakeRedis[] = []

async function aFake(responses: FakeResponses): Promise<FakeRedis> {
  const fake = await FakeRedis.start(responses)
  fakes.push(fake)
  return fake
}

async function open(url: string, warn = (_text: string) => {}) {
  const address = readRedisAddress(url)
  if ('problem' in address) throw new Error(address.problem)
  return openRedisLog({ address, group: 'group', warn })
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
    const fake = await aFake({ EVAL: '+OK\r\n', HMGET: '+OK\r\n' })
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

  it('is retried until it can be used, and each change is reported once', async () => {
    const fake = await aFake({})
    const warnings: string[] = []
    const log = await open(fake.url, (text) => warnings.push(text))
    const entry = { replica: 'a', batch: 1, text: '' }
    fake.responses = { EVAL: '-OOM no\r\n', SET: '-READONLY no\r\n' }
    const giveUp = new AbortController()
    const appended = log.append(entry, 0, giveUp.signal)
    await expect
      .poll(() => warnings)
      .toEqual([expect.stringContaining('OOM no'), expect.stringContaining('READONLY no')])
    giveUp.abort()
    await expect(appended).rejects.toThrow('READONLY no')
    await expect(log.end()).rejects.toThrow('READONLY no')
    fake.responses = {}
    await expect.poll(() => warnings.at(-1)).toBe('The log can be reached again.')
    expect(log.unavailable).toBeUndefined()
    await log.append({ ...entry, batch: 2 }, 0, new AbortController().signal)
    expect(warnings).toHaveLength(3)
    await log.close()
  })
})
