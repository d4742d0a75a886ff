import { parseArgs } from 'node:util'
import { RedisServer } from '../support/redis-server.js'
import { launch, type Operation, type Running } from './contestants.js'
import { chooseLoad, latencies } from './load.js'
import { residentMegabytes } from './measures.js'
import { writeSection } from './report.js'
import { ratiosOf, spreadOf } from './statistics.js'
import { busyShare, command, cpuMicroseconds, installPeers, newFolder, say } from './tools.js'

/**
 * `npm run bench:replicas`: the cost of replicas, as a Markdown table.
 *
 *     npm run bench:replicas -- [--quick] [--write-docs]
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean' }, 'write-docs': { type: 'boolean' } } })
if (values.quick && values['write-docs'])
  throw new Error('The figures of a quick run do not belong into the documents.')
const EXTENT = values.quick
  ? { rounds: 1, seconds: 1, warmUpSeconds: 1, pets: 10_000, joinings: 1 }
  : { rounds: 9, seconds: 2, warmUpSeconds: 3, pets: 1_000_000, joinings: 3 }
/** Limits that count every request and refuse none. */
const LIMITS = '100000000/min,100000000/day'
/** A million pets take a while, the longer the busier the machine is. */
const PATIENCE_MS = 180_000

interface Row {
  readonly what: string
  readonly goal?: string
  readonly figure: string
}

installPeers()
const begun = performance.now()
const { name, load } = chooseLoad()
const busy = await busyShare()
const rows: Row[] = []
const redis = await RedisServer.start('--appendfsync', 'everysec')

await compareWithEmbedded('listPets')
await compareWithEmbedded('createPet')
await costOf('listPets')
await costOf('createPet')
await joining()
const version = /^redis_version:(\S+)/m.exec(redis.ask('INFO', 'server'))?.[1]
await redis.end()
const text = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, Redis ${version} on the same machine (appendfsync everysec), ${name} with 32 connections; medians of ${EXTENT.rounds} rounds of ${EXTENT.seconds} s in turn, of joining ${EXTENT.joinings} (lowest–highest). Before, others kept ${Math.round(busy * 100)} % of the machine busy.`,
  '',
  '| What | must be | was |',
  '| --- | ---: | ---: |',
  ...rows.map(({ what, goal = '', figure }) => `| ${what} | ${goal} | ${figure} |`),
].join('\n')
say(`done in ${Math.round((performance.now() - begun) / 1_000)} s\n`)
process.stdout.write(`${text}\n`)
if (values['write-docs']) writeSection('bench:replicas', text)
process.exit(0)

/** A sandbox on its own, with a store; or one of a group. */
function start(group?: string, ...flags: readonly string[]): Promise<Running> {
  const where = group === undefined ? [] : ['--redis', redis.url, '--group', group]
  const given = ['--limits', LIMITS, '--log', 'silent', ...where, ...flags]
  return launch({
    args: (port) => [command, 'serve', '--port', String(port), ...given],
    cwd: newFolder(),
    basePath: '/v1',
    patienceMs: PATIENCE_MS,
  })
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
  for (const which of kinds) rows.push({ what: `${operation} a second, ${which}`, figure: told(figures[which], 0) })
  rows.push({
    what: `${operation}, one replica to embedded`,
    goal: '≥ 0.50',
    figure: told(ratiosOf(figures.replica, figures.embedded), 2),
  })
  if (operation === 'listPets') {
    // The same for both, or the faster one would have more to do.
    const half = Math.round(spreadOf(figures.replica).median / 2)
    for (const which of kinds) {
      say(`latency at ${half} requests a second: ${which}`)
      const { p50, p99 } = await latencies(running[which], half, EXTENT.seconds * 3)
      rows.push({
        what: `listPets at ${half} a second, half of a replica's most, ${which}: p50, p99`,
        figure: `${p50.toFixed(2)}, ${p99.toFixed(2)} ms`,
      })
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
  rows.push(
    {
      what: `processor time of a ${operation}: its replica's, another's, Redis'`,
      figure: `${ownUs.toFixed(1)}, ${otherUs.toFixed(1)}, ${redisUs.toFixed(1)} µs`,
    },
    {
      // Each replica handles its share, and reads the rest.
      what: `${operation} a second of 1, 2, 3 and 10 replicas by that, a core for each`,
      figure: [1, 2, 3, 10]
        .map((count) => (1e6 / (ownUs / count + (otherUs * (count - 1)) / count)).toFixed(0))
        .map((figure) => Number(figure).toLocaleString('en'))
        .join(', '),
    },
    {
      what: `${operation} in an entry of the log; bytes of one sent to Redis; bytes of it in the log`,
      figure: `${perEntry.toFixed(1)}; ${Math.round((bytesSent() - sentBefore) / requests)}; ${Math.round(bytesAnEntry / perEntry)}`,
    },
    { what: `memory of that replica then`, figure: `${Math.round(residentMegabytes(own.pid))} MB` },
    { what: `the log of the group in Redis then`, figure: `${megabytes(inRedis.bytesOf('log'))} MB` },
  )
  await own.stop()
  await other.stop()
}

async function joining(): Promise<void> {
  const group = 'large'
  const pets = EXTENT.pets.toLocaleString('en')
  const flags = ['--pets', String(EXTENT.pets), '--max-store', '2GiB']
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
  rows.push(
    {
      what: `from the start of a replica that joins ${pets} pets to its first response`,
      goal: '≤ 5 s',
      figure: `${told(figures.seconds, 2)} s`,
    },
    { what: 'processor time of that', figure: `${told(figures.cpu, 2)} s` },
    { what: 'memory of that replica then', figure: `${told(figures.memory, 0)} MB` },
    { what: 'its checkpoint in Redis', figure: `${megabytes(inRedis.bytesOf('checkpoint'))} MB` },
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
      const giveUpAt = performance.now() + PATIENCE_MS
      while (redis.ask('HEXISTS', key('checkpoint'), 'id') === '0') {
        if (performance.now() > giveUpAt)
          throw new Error(`The group "${group}" has no checkpoint after ${PATIENCE_MS / 1000} s.`)
        await new Promise((resolve) => setTimeout(resolve, 100))
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

function told(figures: readonly number[] | ReturnType<typeof spreadOf>, digits: number): string {
  const { median, low, high } = 'median' in figures ? figures : spreadOf(figures)
  const text = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${text(median)} (${text(low)}–${text(high)})`
}
