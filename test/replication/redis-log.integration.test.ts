import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readRedisAddress } from '../../src/domain/redis-address.js'
import type { CommandLog } from '../../src/replication/command-log.js'
import { openRedisLog } from '../../src/replication/redis-log.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { freePort, HAS_REDIS, RedisServer } from '../support/redis-server.js'
import { TcpProxy } from '../support/tcp-proxy.js'
import { describeLog, NEVER, type TestedLine, type TestedLog } from './log-port.js'
import { isDown, isUp, RecordingFollower, RecordingWatcher } from './recording-follower.js'

interface Opened {
  readonly log: CommandLog
  readonly watcher: RecordingWatcher
  readonly warnings: readonly string[]
}

const opened: CommandLog[] = []
const servers: RedisServer[] = []
const proxies: TcpProxy[] = []
let groups = 0

function aGroup(): string {
  return `group ${++groups}`
}

async function open(url: string, group: string): Promise<Opened> {
  const address = readRedisAddress(url)
  if ('problem' in address) throw new Error(`the address ${address.problem}`)
  const watcher = new RecordingWatcher()
  const warnings: string[] = []
  const log = await openRedisLog({ address, group, watcher, warn: (text) => warnings.push(text) })
  opened.push(log)
  return { log, watcher, warnings }
}

/** A Redis for one test. */
async function aRedis(...flags: readonly string[]): Promise<RedisServer> {
  const server = await RedisServer.start(...flags)
  servers.push(server)
  return server
}

async function aProxy(port: number): Promise<TcpProxy> {
  const proxy = await TcpProxy.open(port)
  proxies.push(proxy)
  return proxy
}

afterEach(async () => {
  for (const log of opened.splice(0)) await log.close()
  for (const proxy of proxies.splice(0)) await proxy.close()
  for (const server of servers.splice(0)) await server.end()
})

describe.skipIf(!HAS_REDIS)('on a real Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.end())

  describeLog('in Redis', async (): Promise<TestedLog> => {
    const group = aGroup()
    const lines: TcpProxy[] = []
    return {
      async open(): Promise<TestedLine> {
        const proxy = await aProxy(redis.port)
        lines.push(proxy)
        const { log, watcher } = await open(`redis://127.0.0.1:${proxy.port}`, group)
        return {
          log,
          watcher,
          cut: () => proxy.cut(),
          cutBeforeResponseTo: (text) => void proxy.cutInResponseTo(text, 2),
          restore: () => proxy.restore(),
        }
      },
      async mark() {
        const keys = ['log', 'batches'].map((name) => `petstore-sandbox:{${group}}:${name}`)
        for (const key of keys) redis.ask('COPY', key, `mark:${key}`, 'REPLACE')
        return async () => {
          for (const line of lines) line.cut()
          for (const key of keys) redis.ask('COPY', `mark:${key}`, key, 'REPLACE')
          for (const line of lines) line.restore()
        }
      },
      async close() {},
    }
  })

  describe('a log in Redis', () => {
    it('notices that Redis hangs, and continues when it does', async () => {
      const server = await aRedis()
      const { log, watcher } = await open(server.url, aGroup())
      const follower = followerOf(log)
      await log.append({ replica: 'a', batch: 1, text: '1' }, NEVER)
      await follower.texts(1)
      server.hang()
      const appended = log.append({ replica: 'a', batch: 2, text: '2' }, NEVER)
      expect(await watcher.until(isDown)).toBe(`Redis at ${server.url} cannot be used: no response within 3 s.`)
      server.goOn()
      await appended
      expect(await follower.texts(2)).toEqual(['1', '2'])
      await watcher.until(isUp)
      expect(server.ask('XLEN', server.ask('KEYS', '*:log'))).toBe('2')
    })

    it('sends entries without waiting for earlier responses', async () => {
      const proxy = await aProxy(redis.port)
      const { log } = await open(`redis://127.0.0.1:${proxy.port}`, aGroup())
      await log.append({ replica: 'a', batch: 1, text: 'first' }, NEVER)
      proxy.hold()
      const appended = [2, 3, 4].map((batch) => log.append({ replica: 'a', batch, text: `under way ${batch}` }, NEVER))
      await expect.poll(() => proxy.held, { timeout: 60_000 }).toMatch(/under way 2.*under way 3.*under way 4/s)
      await proxy.release()
      await Promise.all(appended)
    })

    it('continues in order when Redis forgets its scripts while several entries are pending', async () => {
      const { log } = await open(redis.url, aGroup())
      await log.append({ replica: 'a', batch: 1, text: '1' }, NEVER)
      redis.ask('SCRIPT', 'FLUSH')
      const texts = Array.from({ length: 40 }, (_, index) => String(index + 2))
      const appended: Promise<unknown>[] = []
      for (const text of texts) {
        appended.push(log.append({ replica: 'a', batch: Number(text), text }, NEVER))
        if (Number(text) % 5 === 0) await new Promise(setImmediate)
      }
      await Promise.all(appended)
      const follower = followerOf(log)
      expect(await follower.texts(41)).toEqual(['1', ...texts])
    })

    it('refuses an abandoned entry that arrives late', async () => {
      const proxy = await aProxy(redis.port)
      const group = aGroup()
      const { log } = await open(`redis://127.0.0.1:${proxy.port}`, group)
      const other = await open(redis.url, group)
      await log.append({ replica: 'a', batch: 1, text: '1' }, NEVER)
      proxy.hold()
      const patience = new AbortController()
      const appended = log.append({ replica: 'a', batch: 2, text: 'late' }, patience.signal)
      setImmediate(() => patience.abort())
      await expect(appended).rejects.toThrow('cannot be used')
      // Its connection hangs; the next one works.
      await expect.poll(() => log.end().catch(() => undefined), { timeout: 60_000 }).toBeDefined()
      await proxy.release()
      const follower = followerOf(other.log)
      await log.append({ replica: 'a', batch: 3, text: '3' }, NEVER)
      expect(await follower.texts(2)).toEqual(['1', '3'])
    })

    it('uses user, password and database of its address, without showing user or password', async () => {
      const server = await aRedis()
      const words = '~petstore-sandbox:* +@all -@dangerous -@admin'.split(' ')
      server.ask('ACL', 'SETUSER', 'shop', 'on', '>s3cr/t:@#', ...words)
      const group = aGroup()
      const at = (user: string, path = '') => `redis://${user}127.0.0.1:${server.port}${path}`
      const { log, warnings } = await open(at('shop:s3cr%2Ft%3A%40%23@', '/3'), group)
      await log.append({ replica: 'a', batch: 1, text: '1' }, NEVER)
      expect(server.ask('-n', '3', 'XLEN', `petstore-sandbox:{${group}}:log`)).toBe('1')
      expect(warnings).toEqual([])
      await expect(open(at('shop:hunter2@'), group)).rejects.toThrow(
        `Redis at redis://127.0.0.1:${server.port} cannot be used: WRONGPASS invalid username-password pair or user is disabled.`,
      )
      await expect(open(at('', '/99'), group)).rejects.toThrow('DB index is out of range')
      server.ask('CONFIG', 'SET', 'requirepass', 'hunter2')
      await expect(open(at(''), group)).rejects.toThrow('NOAUTH Authentication required')
      await expect(open(at(':hunter2@'), group)).resolves.toBeDefined()
    })

    it('connects over a Unix socket', async () => {
      const server = await aRedis('--unixsocket', 'redis.sock')
      const { log } = await open(`unix://${server.folder}/redis.sock?db=2`, 'group')
      await log.append({ replica: 'a', batch: 1, text: '1' }, NEVER)
      expect(server.ask('-n', '2', 'XLEN', 'petstore-sandbox:{group}:log')).toBe('1')
      await expect(open(`unix://${server.folder}/other.sock`, 'group')).rejects.toThrow('connect ENOENT')
    })

    it('connects over TLS to servers with a known certificate, also by NODE_EXTRA_CA_CERTS', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
      const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
      const request =
        'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost'
      execFileSync('openssl', [...request.split(' '), '-keyout', key, '-out', certificate], { stdio: 'pipe' })
      const tls = ['--tls-port', String(await freePort()), '--tls-auth-clients', 'no']
      const server = await aRedis(...tls, '--tls-cert-file', certificate, '--tls-key-file', key)
      const at = (host: string) => `rediss://${host}:${tls[1]}`
      expect(appendOnce(at('localhost'), certificate)).toMatch(/^appended /)
      expect(appendOnce(at('localhost'))).toContain('self-signed certificate')
      expect(appendOnce(at('127.0.0.1'), certificate)).toContain("does not match certificate's altnames")
      expect(appendOnce(server.url.replace('redis:', 'rediss:'))).toMatch(/wrong version number|ETIMEDOUT/)
      expect(appendOnce(at('localhost').replace('rediss:', 'redis:'))).toMatch(
        /Connection is closed|the connection was cut/,
      )
      rmSync(folder, { recursive: true })
    })

    it('hides an incomplete checkpoint, and removes its pieces', async () => {
      const proxy = await aProxy(redis.port)
      const group = aGroup()
      const { log } = await open(`redis://127.0.0.1:${proxy.port}`, group)
      const other = await open(redis.url, group)
      const id = await log.append({ replica: 'a', batch: 1, text: '1' }, NEVER)
      await other.log.saveCheckpoint({ id, pieces: ['former'] }, id)
      const later = await log.append({ replica: 'a', batch: 2, text: '2' }, NEVER)
      const pieces = Array.from({ length: 10 }, () => 'x'.repeat(1_000_000))
      const cut = proxy.cutInResponseTo(':checkpoint-')
      const saved = log.saveCheckpoint({ id: later, pieces }, later)
      await Promise.all([cut, expect(saved).rejects.toThrow('cannot be used')])
      expect(await other.log.loadCheckpoint()).toEqual({ id, pieces: ['former'] })
      const [unfinished = ''] = redis.ask('KEYS', `petstore-sandbox:{${group}}:checkpoint-[0-9]*`).split('\n')
      expect(Number(redis.ask('TTL', unfinished))).toBeGreaterThan(0)
    })

    it('reads one complete checkpoint while it is replaced', async () => {
      const group = aGroup()
      const { log } = await open(redis.url, group)
      const other = await open(redis.url, group)
      const letters = ['a', 'b', 'c', 'd', 'e', 'f']
      const save = async (letter: string, index: number) => {
        const id = await log.append({ replica: 'a', batch: index + 1, text: letter }, NEVER)
        await log.saveCheckpoint({ id, pieces: Array(5).fill(letter.repeat(1_000_000)) }, id)
      }
      const read = async () => [...((await other.log.loadCheckpoint())?.pieces ?? [])].join('')
      await save('a', 0)
      let isOver = false
      const reader = (async () => {
        while (!isOver) {
          const text = await read()
          expect([text.length, text === text.slice(0, 1).repeat(text.length)]).toEqual([5_000_000, true])
        }
      })()
      for (const [index, letter] of letters.entries()) await save(letter, index + 1)
      isOver = true
      await reader
      expect((await read()).slice(0, 1)).toBe('f')
    })
  })
})

/** In a separate process, because NODE_EXTRA_CA_CERTS is read at the start. @returns its output */
function appendOnce(url: string, certificate = ''): string {
  const command = ['--import', 'tsx', join(packageDirectory, 'test/replication/append-once.ts'), url]
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate }
  return execFileSync(process.execPath, command, { cwd: packageDirectory, env, encoding: 'utf8' })
}

function followerOf(log: CommandLog): RecordingFollower {
  const follower = new RecordingFollower()
  log.follow(undefined, follower)
  return follower
}
