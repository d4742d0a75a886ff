import { setTimeout as pause } from 'node:timers/promises'
import { RedisServer } from '../../support/redis-server.js'
import { LIMITS, type Operation, type Running, serve } from './contestants.js'
import { chooseLoad, latencies } from './load.js'
import { residentMegabytes } from './measures.js'
import { table } from './report.js'
import { ratiosOf, type Spread, spreadOf } from './statistics.js'
import { busyShare, cpuMicroseconds, installPeers, readFlags, say } from './tools.js'

/**
 * `npm run bench:replicas`: the cost of replicas, as a Markdown table.
 *
 *     npm run bench:replicas -- [--quick]
 */
const { isQuick } = readFlags()
const EXTENT = isQuick
  ? { rounds: 1, seconds: 1, warmUpSeconds: 1, pets: 10_000, joinings: 1 }
  : { rounds: 9, seconds: 2, warmUpSeconds: 3, pets: 1_000_000, joinings: 3 }
/** A million pets take a while, the longer the busier the machine is. */
const TIMEOUT_MS = 180_000

installPeers()
const begun = performance.now()
const { name, load } = chooseLoad()
const busy = await busyShare()
const rows: [what: string, goal: string, figure: string][] = []
const redis = await RedisServer.start('--appendfsync', 'everysec')

await compareWithEmbedded('listPets')
await compareWithEmbedded('createPet')
await costOf('listPets')
await costOf('createPet')
await joining()
const version = /^redis_version:(\S+)/m.exec(redis.ask('INFO', 'server'))?.[1]
await redis.end()
const conditions = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, Redis ${version} on the same machine (appendfsync everysec), ${name} with 32 connections; medians of ${EXTENT.rounds} rounds of ${EXTENT.seconds} s in turn, of joining ${EXTENT.joinings} (lowest–highest). Before, others kept ${Math.round(busy * 100)} % of the machine busy.`
say(`done in ${Math.round((performance.now() - begun) / 1_000)} s\n`)
process.stdout.write(`${conditions}\n\n${table(['What', 'must be', 'was'], rows)}\n`)
process.exit(0)

/** A sandbox on its own, with a store; or one of a group. */
function start(group?: string, ...flags: readonly string[]): Promise<Running> {
  const where = group === undefined ? [] : ['--redis', redis.url, '--group', group]
  return serve([...LIMITS, ...where, ...flags], { timeoutMs: TIMEOUT_MS })
}

async function compareWithEmbedded(operation: Operation): Promise<void> {
  const kinds = ['embedded', 'replica'] as const
  const figures = { embedded: [] as number[], replica: [] as number[] }
  const warm = async (group?: string) => {
    const running = await start(group)
    await load(running, operation, EXTENT.warmUpSeconds)
    return running
  }
  const running = { embedded: await warm(), replica: await warm(operation) }
  for (let round = 0; round < EXTENT.rounds; round++) {
    for (const which of round % 2 === 0 ? kinds : kinds.toReversed()) {
      say(`${operation}, round ${round + 1} of ${EXTENT.rounds}: ${which}`)
      figures[which].push((await load(running[which], operation, EXTENT.seconds)).perSecond)
    }
  }
  for (const which of kinds) rows.push([`${operation} a second, ${which}`, '', told(spreadOf(figures[which]), 0)])
  const ratio = told(ratiosOf(figures.replica, figures.embedded), 2)
  rows.push([`${operation}, one replica to embedded`, '≥ 0.50', ratio])
  if (operation === 'listPets') {
    // The same for both, or the faster one would have more to do.
    const half = Math.round(spreadOf(figures.replica).median / 2)
    for (const which of kinds) {
      say(`latency at ${half} requests a second: ${which}`)
      const { p50, p99 } = await latencies(running[which], half, EXTENT.seconds * 3)
      const what = `listPets at ${half} a second, half of a replica's most, ${which}: p50, p99`
      rows.push([what, '', `${p50.toFixed(2)}, ${p99.toFixed(2)} ms`])
    }
  }
  await running.embedded.stop()
  await running.replica.stop()
}

/** Processor time of a request: its replica's, another's, and that of Redis. */
async function costOf(operation: Operation): Promise<void> {
  const group = `cost-of-${operation}`
  const [own, other] = [await start(group), await start(group)]
  await load(own, operation, EXTENT.warmUpSeconds)
  say(`cost of ${operation}`)
  const pids = [own.pid, other.pid, redis.pid]
  const before = pids.map(cpuMicroseconds)
  const sentBefore = bytesSent()
  const inRedis = groupInRedis(group)
  const appendedBefore = inRedis.appended()
  const { requests } = await load(own, operation, EXTENT.seconds * 3)
  const [ownUs = 0, otherUs = 0, redisUs = 0] = pids.map(
    (pid, index) => (cpuMicroseconds(pid) - (before[index] ?? 0)) / requests,
  )
  const perEntry = requests / (inRedis.appended() - appendedBefore)
  const bytesAnEntry = inRedis.bytesOf('log') / inRedis.entries()
  // Each replica handles its share, and reads the rest.
  const perSecond = [1, 2, 3, 10].map((count) => 1e6 / (ownUs / count + (otherUs * (count - 1)) / count))
  const bytes = `${Math.round((bytesSent() - sentBefore) / requests)}; ${Math.round(bytesAnEntry / perEntry)}`
  const times = [ownUs, otherUs, redisUs].map((us) => us.toFixed(1)).join(', ')
  rows.push(
    [`processor time of a ${operation}: its replica's, another's, Redis'`, '', `${times} µs`],
    [
      `${operation} a second of 1, 2, 3 and 10 replicas by that, a core for each`,
      '',
      perSecond.map((figure) => Math.round(figure).toLocaleString('en')).join(', '),
    ],
    [
      `${operation} in an entry of the log; bytes of one sent to Redis; bytes of it in the log`,
      '',
      `${perEntry.toFixed(1)}; ${bytes}`,
    ],
    ['memory of that replica then', '', `${Math.round(residentMegabytes(own.pid))} MB`],
    ['the log of the group in Redis then', '', `${megabytes(inRedis.bytesOf('log'))} MB`],
  )
  await own.stop()
  await other.stop()
}

async function joining(): Promise<void> {
  const group = 'large'
  const pets = EXTENT.pets.toLocaleString('en')
  const flags = ['--generate', `pets=${EXTENT.pets}`, '--max-store', '2GiB']
  say(`founding a group with ${pets} pets`)
  const founder = await start(group, ...flags)
  const inRedis = groupInRedis(group)
  await inRedis.untilCheckpoint()
  const figures = { seconds: [] as number[], cpu: [] as number[], memory: [] as number[] }
  for (let round = 0; round < EXTENT.joinings; round++) {
    say(`joining, round ${round + 1} of ${EXTENT.joinings}`)
    const joined = await start(group, ...flags)
    figures.seconds.push(joined.startMs / 1000)
    figures.cpu.push(cpuMicroseconds(joined.pid) / 1e6)
    figures.memory.push(residentMegabytes(joined.pid))
    await joined.stop('SIGTERM')
  }
  const seconds = told(spreadOf(figures.seconds), 2)
  rows.push(
    [`from the start of a replica that joins ${pets} pets to its first response`, '≤ 5 s', `${seconds} s`],
    ['processor time of that', '', `${told(spreadOf(figures.cpu), 2)} s`],
    ['memory of that replica then', '', `${told(spreadOf(figures.memory), 0)} MB`],
    ['its checkpoint in Redis', '', `${megabytes(inRedis.bytesOf('checkpoint'))} MB`],
  )
  await founder.stop()
}

/** What a group of replicas has in Redis. */
function groupInRedis(group: string) {
  const key = (what: 'log' | 'checkpoint') => `petstore-sandbox:{${group}}:${what}`
  return {
    /** Entries that were ever appended, including those trimmed since. */
    appended(): number {
      const facts = redis.ask('XINFO', 'STREAM', key('log')).split('\n')
      return Number(facts[facts.indexOf('entries-added') + 1])
    },
    entries: () => Number(redis.ask('XLEN', key('log'))),
    bytesOf: (what: 'log' | 'checkpoint') => Number(redis.ask('MEMORY', 'USAGE', key(what), 'SAMPLES', '0')),
    /** The first response of a founding replica comes before its checkpoint. */
    async untilCheckpoint(): Promise<void> {
      const giveUpAt = performance.now() + TIMEOUT_MS
      while (redis.ask('HEXISTS', key('checkpoint'), 'id') === '0') {
        if (performance.now() > giveUpAt)
          throw new Error(`The group "${group}" has no checkpoint after ${TIMEOUT_MS / 1000} s.`)
        await pause(100)
      }
    },
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}

function bytesSent(): number {
  return Number(/^total_net_input_bytes:(\d+)/m.exec(redis.ask('INFO', 'stats'))?.[1])
}

function told({ median, low, high }: Spread, digits: number): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const [middle, from, to] = [median, low, high].map((value) => value.toLocaleString('en', options))
  return `${middle} (${from}–${to})`
}
