import { execFileSync } from 'node:child_process'
import { setMaxListeners } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readRedisAddress } from '../../src/domain/redis-address.js'
import { BEGINNING, type CommandLog, type Entry, LogLost, LogUnavailable } from '../../src/replication/command-log.js'
import { openRedisLog } from '../../src/replication/redis-log.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { freePort, HAS_REDIS, RedisServer } from '../support/redis-server.js'
import { TcpProxy } from '../support/tcp-proxy.js'

/** Never aborted. */
const NEVER = new AbortController().signal
setMaxListeners(0, NEVER)

const closing: (() => Promise<void>)[] = []
let groups = 0

async function open(url: string, group: string) {
  const address = readRedisAddress(url)
  if ('problem' in address) throw new Error(`the address ${address.problem}`)
  const warnings: string[] = []
  const log = await openRedisLog({ address, group, warn: (text) => warnings.push(text) })
  closing.push(() => log.close())
  return { log, warnings }
}

async function aRedis(...flags: readonly string[]): Promise<RedisServer> {
  const server = await RedisServer.start(...flags)
  closing.push(() => server.end())
  return server
}

async function aProxy(port: number): Promise<TcpProxy> {
  const proxy = await TcpProxy.open(port)
  closing.push(() => proxy.close())
  return proxy
}

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function appendAll(log: CommandLog, replica: string, texts: readonly string[], stored = 0): Promise<void> {
  for (const [index, text] of texts.entries())
    await log.append({ replica, batch: stored + index + 1, text }, stored + index, NEVER)
}

/** All entries after one, until there are as many as expected. */
async function readAll(log: CommandLog, count: number, after = BEGINNING): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  while (entries.length < count) entries.push(...(await log.read(entries.at(-1) ?? after)))
  return entries
}

const textsOf = (entries: readonly Entry[]) => entries.map(({ text }) => text)

describe.skipIf(!HAS_REDIS)('the log of a group in Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.end())

  async function openGroup() {
    const group = `group ${++groups}`
    const key = (name: string) => `petstore-sandbox:{${group}}:${name}`
    return { group, key, ...(await open(redis.url, group)), other: (await open(redis.url, group)).log }
  }

  it('has the same entries for all readers, numbered without gaps, with times that never go back', async () => {
    const { log, other } = await openGroup()
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index} 🐕`)
    await Promise.all([appendAll(log, 'a', texts), appendAll(other, 'b', texts)])
    const entries = await readAll(log, 200)
    expect(await readAll(other, 200)).toEqual(entries)
    expect(entries.map(({ number }) => number)).toEqual(entries.map((_, index) => index + 1))
    expect(textsOf(entries.filter(({ replica }) => replica === 'a'))).toEqual(texts)
    const times = entries.map(({ now }) => now)
    expect(times).toEqual(times.toSorted((one, two) => one - two))
    const [tenth] = entries.slice(9)
    expect(await readAll(other, 190, tenth)).toEqual(entries.slice(10))
    expect(await log.end()).toMatchObject({ number: 200, writtenAt: times.at(-1), hasCheckpoint: false })
  })

  it('stores an entry once if the connection breaks before the response', async () => {
    const { group, other } = await openGroup()
    const proxy = await aProxy(redis.port)
    const { log } = await open(`redis://127.0.0.1:${proxy.port}`, group)
    await appendAll(log, 'a', ['1'])
    const cut = proxy.cutInResponseTo('in doubt', 2)
    const appended = log.append({ replica: 'a', batch: 2, text: 'in doubt' }, 1, NEVER)
    await cut
    await expect.poll(() => log.unavailable).toContain('cannot be used')
    proxy.restore()
    await appended
    await appendAll(log, 'a', ['3'], 2)
    expect(textsOf(await readAll(other, 3))).toEqual(['1', 'in doubt', '3'])
    expect(log.unavailable).toBeUndefined()
  })

  it('does not store an abandoned entry after a later one', async () => {
    const { log, other } = await openGroup()
    await log.append({ replica: 'a', batch: 1, text: '1' }, 0, NEVER)
    await log.append({ replica: 'a', batch: 3, text: '3' }, 1, NEVER)
    await log.append({ replica: 'a', batch: 2, text: 'late' }, 1, NEVER)
    await appendAll(other, 'b', ['b'])
    expect(textsOf(await readAll(other, 3))).toEqual(['1', '3', 'b'])
  })

  it('stops an append that is aborted while Redis cannot be reached', async () => {
    const { group } = await openGroup()
    const proxy = await aProxy(redis.port)
    const { log } = await open(`redis://127.0.0.1:${proxy.port}`, group)
    proxy.cut()
    await expect.poll(() => log.unavailable).toContain('cannot be used')
    const giveUp = new AbortController()
    const appended = log.append({ replica: 'a', batch: 1, text: '1' }, 0, giveUp.signal)
    giveUp.abort()
    await expect(appended).rejects.toThrow(LogUnavailable)
    await expect(log.end()).rejects.toThrow(LogUnavailable)
    proxy.restore()
    await expect.poll(() => log.end().catch(() => undefined)).toMatchObject({ number: 0 })
  })

  it('notices that Redis hangs, and continues when it does', async () => {
    const server = await aRedis()
    const { log } = await open(server.url, 'group')
    await appendAll(log, 'a', ['1'])
    server.hang()
    const appended = log.append({ replica: 'a', batch: 2, text: '2' }, 1, NEVER)
    await expect.poll(() => log.unavailable).toBe(`Redis at ${server.url} cannot be used: no response within 3 s.`)
    server.goOn()
    await appended
    expect(textsOf(await readAll(log, 2))).toEqual(['1', '2'])
  })

  it.each<[what: string, entry: (last: Entry) => readonly string[]]>([
    ['another field', () => ['*', 'unknown', 'field']],
    ['the first of our fields', () => ['*', 'replica', 'x']],
    ['our fields with a batch that is not a number', ({ replica, text }) => ['*', ...fields(replica, 'x', '1', text)]],
    ['our fields with negative numbers', ({ replica, text }) => ['*', ...fields(replica, '-1', '-5', text)]],
    ['our fields with huge numbers', ({ replica }) => ['*', ...fields(replica, '9'.repeat(400), '1e308', '[]')]],
    [
      'a copy of the last entry',
      ({ replica, batch, now, text }) => ['*', ...fields(replica, `${batch}`, `${now}`, text)],
    ],
    [
      'the next number',
      ({ replica, number, now }) => [`${number + 1}-0`, ...fields(replica, '99', `${now}`, 'forged')],
    ],
    ['a number between', ({ replica, number, now }) => [`${number}-7`, ...fields(replica, '99', `${now}`, 'forged')]],
    ['an id in the far future', () => ['9999999999999-0', 'a', 'b']],
    ['the largest id', () => ['18446744073709551615-18446744073709551615', 'a', 'b']],
  ])('leaves out and removes a foreign entry: %s', async (_what, entry) => {
    const { log, other, key } = await openGroup()
    await appendAll(log, 'a', ['1', '2'])
    const [, last] = await readAll(log, 2)
    if (last === undefined) throw new Error('no entry')
    redis.ask('XADD', key('log'), ...entry(last))
    redis.ask('XADD', key('log'), '*', 'one', 'more')
    expect(await log.read(last)).toEqual([])
    expect(redis.ask('XLEN', key('log'))).toBe('2')
    redis.ask('XADD', key('log'), ...entry(last))
    await appendAll(log, 'a', ['3'], 2)
    await appendAll(other, 'b', ['b'])
    for (const one of [log, other]) expect(textsOf(await readAll(one, 4))).toEqual(['1', '2', '3', 'b'])
  })

  it('keeps the newest checkpoint, and the entries from the requested one', async () => {
    const { log, other } = await openGroup()
    expect(await log.loadCheckpoint()).toBeUndefined()
    await appendAll(log, 'a', ['1', '2', '3', '4'])
    const [first, second, third] = (await readAll(log, 4)).map(({ number, replica, batch }) => ({
      number,
      replica,
      batch,
    }))
    if (first === undefined || second === undefined || third === undefined) throw new Error('no entries')
    const text = '🐕€é\u0000"'.repeat(100_000)
    await log.saveCheckpoint({ place: third, text }, 2)
    await other.saveCheckpoint({ place: second, text: 'older' }, 3)
    expect(await other.loadCheckpoint()).toEqual({ place: third, text })
    expect(textsOf(await readAll(other, 2, second))).toEqual(['3', '4'])
    for (const place of [BEGINNING, first]) await expect(other.read(place)).rejects.toThrow(LogLost)
    const unknown = { place: { ...third, batch: 99 }, text: 'x' }
    await expect(other.saveCheckpoint(unknown, 2)).rejects.toThrow(LogLost)
    expect(await other.end()).toMatchObject({ number: 4, hasCheckpoint: true })
  })

  it('removes a damaged checkpoint', async () => {
    const { log, key, warnings } = await openGroup()
    await appendAll(log, 'a', ['1'])
    const [place] = await readAll(log, 1)
    if (place === undefined) throw new Error('no entry')
    await log.saveCheckpoint({ place, text: 'text' }, 1)
    redis.ask('HSET', key('checkpoint'), 'text', 'damaged', 'number', '9999999999999')
    expect(await log.loadCheckpoint()).toBeUndefined()
    expect(warnings).toEqual(['Removed the checkpoint of the group from Redis, because it is damaged.'])
    redis.ask('SET', key('checkpoint'), 'x')
    expect(await log.end()).toMatchObject({ hasCheckpoint: false })
    await log.saveCheckpoint({ place, text: 'again' }, 1)
    expect(await log.loadCheckpoint()).toMatchObject({ text: 'again' })
  })

  it.each([
    ['is gone', ['DEL']],
    ['is replaced', ['SET', 'x']],
    ['is damaged', ['HSET', 'number', 'x']],
  ])('loses nothing if its key "end" %s, also beside foreign entries', async (_what, [command = '', ...args]) => {
    const { log, other, key } = await openGroup()
    const texts = Array.from({ length: 150 }, (_, index) => `${index + 1}`)
    await appendAll(log, 'a', texts)
    const place = (await readAll(log, 150))[49]
    if (place === undefined) throw new Error('no entry')
    await log.saveCheckpoint({ place, text: 'state' }, 40)
    const before = await log.end()
    redis.ask('XADD', key('log'), '*', 'replica', 'foreign')
    redis.ask(command, key('end'), ...args)
    const { number, writtenAt, hasCheckpoint } = await other.end()
    expect({ number, writtenAt, hasCheckpoint }).toEqual({
      number: 150,
      writtenAt: before.writtenAt,
      hasCheckpoint: true,
    })
    await appendAll(other, 'b', ['next'])
    expect(textsOf(await readAll(log, 101, place))).toEqual([...texts.slice(50), 'next'])
  })

  it.each(['DEL', 'SET'])('continues from the checkpoint if its stream is gone or replaced (%s)', async (command) => {
    const { log, other, key } = await openGroup()
    await appendAll(log, 'a', ['1', '2', 'lost'])
    const [, second, third] = await readAll(log, 3)
    if (second === undefined || third === undefined) throw new Error('no entries')
    await log.saveCheckpoint({ place: second, text: 'state' }, 2)
    redis.ask(command, key('log'), ...(command === 'SET' ? ['x'] : []))
    await expect(log.read(third)).rejects.toThrow(LogLost)
    expect(await log.end()).toMatchObject({ number: 2, hasCheckpoint: true })
    await appendAll(other, 'b', ['next'])
    expect(await readAll(log, 1, second)).toMatchObject([{ number: 3, text: 'next' }])
  })

  it('reports a lost end to replicas that read or wrote it, even if others took its place', async () => {
    const { group, log, other } = await openGroup()
    const keys = ['log', 'end', 'batch:a', 'batch:b'].map((name) => `petstore-sandbox:{${group}}:${name}`)
    await appendAll(log, 'a', ['1'])
    const [first] = await readAll(other, 1)
    for (const key of keys) redis.ask('COPY', key, `mark:${key}`, 'REPLACE')
    await appendAll(log, 'a', ['lost'], 1)
    const [lost] = await readAll(other, 1, first)
    for (const key of keys) redis.ask('COPY', `mark:${key}`, key, 'REPLACE')
    await appendAll(other, 'b', ['other'])
    await expect(log.read(lost ?? BEGINNING)).rejects.toThrow(LogLost)
    await expect(log.append({ replica: 'a', batch: 3, text: '3' }, 2, NEVER)).rejects.toThrow(LogLost)
    expect(textsOf(await readAll(other, 1, first))).toEqual(['other'])
  })

  it('is cleared', async () => {
    const { log, other } = await openGroup()
    await appendAll(log, 'a', ['1'])
    const [place] = await readAll(log, 1)
    if (place === undefined) throw new Error('no entry')
    await log.saveCheckpoint({ place, text: 'state' }, 1)
    await other.clear()
    expect(await other.end()).toMatchObject({ number: 0, hasCheckpoint: false })
    await appendAll(other, 'b', ['new'])
    await expect(log.read(place)).rejects.toThrow(LogLost)
    expect(textsOf(await readAll(log, 1))).toEqual(['new'])
  })

  it('uses user, password and database of its address, without showing user or password', async () => {
    const server = await aRedis()
    const words = '~petstore-sandbox:* +@all -@dangerous -@admin'.split(' ')
    server.ask('ACL', 'SETUSER', 'shop', 'on', '>s3cr/t:@#', ...words)
    const at = (user: string, path = '') => `redis://${user}127.0.0.1:${server.port}${path}`
    const { log } = await open(at('shop:s3cr%2Ft%3A%40%23@', '/3'), 'group')
    await appendAll(log, 'a', ['1'])
    expect(server.ask('-n', '3', 'XLEN', 'petstore-sandbox:{group}:log')).toBe('1')
    await expect(open(at('shop:hunter2@'), 'group')).rejects.toThrow(
      `Redis at redis://127.0.0.1:${server.port} cannot be used: WRONGPASS invalid username-password pair or user is disabled.`,
    )
    await expect(open(at('', '/99'), 'group')).rejects.toThrow('DB index is out of range')
    server.ask('CONFIG', 'SET', 'requirepass', 'hunter2')
    await expect(open(at(''), 'group')).rejects.toThrow('NOAUTH Authentication required')
    await expect(open(at(':hunter2@'), 'group')).resolves.toBeDefined()
  })

  it('connects over a Unix socket', async () => {
    const server = await aRedis('--unixsocket', 'redis.sock')
    const { log } = await open(`unix://${server.folder}/redis.sock?db=2`, 'group')
    await appendAll(log, 'a', ['1'])
    expect(server.ask('-n', '2', 'XLEN', 'petstore-sandbox:{group}:log')).toBe('1')
    await expect(open(`unix://${server.folder}/other.sock`, 'group')).rejects.toThrow('connect ENOENT')
  })

  it('connects over TLS to servers with a known certificate, also by NODE_EXTRA_CA_CERTS', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
    const request = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost'
    execFileSync('openssl', [...request.split(' '), '-keyout', key, '-out', certificate], { stdio: 'pipe' })
    const tls = ['--tls-port', String(await freePort()), '--tls-auth-clients', 'no']
    const server = await aRedis(...tls, '--tls-cert-file', certificate, '--tls-key-file', key)
    const at = (host: string) => `rediss://${host}:${tls[1]}`
    expect(appendOnce(at('localhost'), certificate)).toBe('appended\n')
    expect(appendOnce(at('localhost'))).toContain('self-signed certificate')
    expect(appendOnce(at('127.0.0.1'), certificate)).toContain("does not match certificate's altnames")
    expect(appendOnce(server.url.replace('redis:', 'rediss:'))).toMatch(/wrong version number|ETIMEDOUT/)
    expect(appendOnce(at('localhost').replace('rediss:', 'redis:'))).toMatch(/Connection is closed|ECONNRESET/)
    rmSync(folder, { recursive: true })
  })
})

function fields(replica: string, batch: string, now: string, text: string): readonly string[] {
  return ['replica', replica, 'batch', batch, 'now', now, 'text', text]
}

/** In a separate process, because NODE_EXTRA_CA_CERTS is read at the start. @returns its output */
function appendOnce(url: string, certificate = ''): string {
  const command = ['--import', 'tsx', join(packageDirectory, 'test/replication/append-once.ts'), url]
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate }
  return execFileSync(process.execPath, command, { cwd: packageDirectory, env, encoding: 'utf8' })
}
