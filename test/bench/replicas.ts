import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { RedisServer } from '../support/redis-server.js'
import { busyShare } from './busy.js'
import { launch, type Operation, type Running } from './contestants/contestant.js'
import { command, newFolder } from './directories.js'
import { chooseLoad } from './load/load.js'
import { steady } from './load/steady.js'
import { cpuMicroseconds } from './measures/cpu.js'
import { residentMegabytes } from './measures/memory.js'
import { say } from './progress.js'
import { ratiosOf, spreadOf } from './statistics.js'

/**
 * `npm run bench:replicas`: what it costs to be one of several, as a Markdown table.
 *
 *     npm run bench:replicas -- [--quick]
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const EXTENT = values.quick
  ? { rounds: 2, seconds: 1, warmUpSeconds: 1, pets: 10_000 }
  : { rounds: 9, seconds: 2, warmUpSeconds: 3, pets: 1_000_000 }
/** Everything is counted, and nothing is refused. */
const LIMITS = '100000000/min,100000000/day'

interface Row {
  readonly what: string
  readonly figure: string
}

const { name, load } = chooseLoad()
const busy = await busyShare()
const rows: Row[] = []
const redis = await RedisServer.start('--appendfsync', 'everysec')

await compareWithEmbedded('listPets')
await compareWithEmbedded('createPet')
await costOfRequests()
await joining()
say('')
const head = `${EXTENT.rounds} rounds of ${EXTENT.seconds} s in turn, ${name}, Redis ${redisVersion()} on the same machine (appendfsync everysec); busy with other things before: ${Math.round(busy * 100)} %`
process.stdout.write(
  `${head}\n\n| what | |\n|---|--:|\n${rows.map(({ what, figure }) => `| ${what} | ${figure} |`).join('\n')}\n`,
)
await redis.end()
process.exit(0)

/** A sandbox on its own, with a store; or one of a group. */
function start(group?: string, ...flags: readonly string[]): Promise<Running> {
  const where = group === undefined ? [] : ['--redis', redis.url, '--group', group]
  return launch({
    args: (port) => [
      command,
      'serve',
      '--port',
      String(port),
      '--limits',
      LIMITS,
      '--log',
      'silent',
      ...where,
      ...flags,
    ],
    cwd: newFolder(),
    basePath: '/v1',
  })
}

async function compareWithEmbedded(operation: Operation): Promise<void> {
  const figures = { embedded: [] as number[], replica: [] as number[] }
  const warm = async (group?: string) => {
    const running = await start(group)
    await load(running, operation, EXTENT.warmUpSeconds)
    return running
  }
  const running = { embedded: await warm(), replica: await warm(operation) }
  for (let round = 0; round < EXTENT.rounds; round++) {
    const order = round % 2 === 0 ? (['embedded', 'replica'] as const) : (['replica', 'embedded'] as const)
    for (const which of order) {
      say(`${operation}, round ${round + 1} of ${EXTENT.rounds}: ${which}`)
      figures[which].push((await load(running[which], operation, EXTENT.seconds)).perSecond)
    }
  }
  for (const [which, taken] of Object.entries(figures)) tell(`${operation} a second, ${which}`, spreadOf(taken), 0)
  tell(`${operation}, one replica in proportion to embedded`, ratiosOf(figures.replica, figures.embedded), 2)
  if (operation === 'listPets') {
    for (const which of ['embedded', 'replica'] as const) {
      const half = Math.round(spreadOf(figures[which]).median / 2)
      say(`latency at ${half} requests a second: ${which}`)
      const { p50, p99 } = await steady(running[which], half, EXTENT.seconds * 3)
      rows.push({
        what: `listPets at ${half} a second, ${which}: p50, p99`,
        figure: `${p50.toFixed(2)}, ${p99.toFixed(2)} ms`,
      })
    }
  }
  await running.embedded.stop()
  await running.replica.stop()
}

/** Processor time of a request for the replica that was asked, for another one, and for Redis. */
async function costOfRequests(): Promise<void> {
  for (const operation of ['listPets', 'createPet'] as const) {
    const [own, other] = [await start(`cost of ${operation}`.replaceAll(' ', '-')), await start(`cost-of-${operation}`)]
    await load(own, operation, EXTENT.warmUpSeconds)
    say(`processor time of ${operation}`)
    const pids = [own.pid, other.pid, redis.pid]
    const before = pids.map(cpuMicroseconds)
    const sentBefore = redisNumber('stats', 'total_net_input_bytes')
    const { requests } = await load(own, operation, EXTENT.seconds * 3)
    const [ownUs = '', otherUs = '', redisUs = ''] = pids.map((pid, index) =>
      ((cpuMicroseconds(pid) - (before[index] ?? 0)) / requests).toFixed(1),
    )
    rows.push({
      what: `processor time of a ${operation}: own, another replica's, Redis'`,
      figure: `${ownUs}, ${otherUs}, ${redisUs} µs`,
    })
    const sent = (redisNumber('stats', 'total_net_input_bytes') - sentBefore) / requests
    rows.push({ what: `what a ${operation} sends to Redis`, figure: `${Math.round(sent)} bytes` })
    rows.push({
      what: `memory of the replica after ${operation}`,
      figure: `${Math.round(residentMegabytes(own.pid))} MB`,
    })
    await own.stop()
    await other.stop()
  }
}

async function joining(): Promise<void> {
  say(`founding a group with ${EXTENT.pets} pets`)
  const before = redisMegabytes()
  const founder = await start('large', '--pets', String(EXTENT.pets), '--max-store', '2GiB')
  // The first answer comes before its checkpoint is kept.
  while (Number(ask('HEXISTS', 'petstore-sandbox:{large}:checkpoint', 'id')) === 0)
    await new Promise((resolve) => setTimeout(resolve, 100))
  const pets = ['--pets', String(EXTENT.pets), '--max-store', '2GiB']
  const times: number[] = []
  let memory = 0
  for (let round = 0; round < 3; round++) {
    say(`joining, round ${round + 1} of 3`)
    const joined = await start('large', ...pets)
    times.push(joined.startMs / 1000)
    memory = residentMegabytes(joined.pid)
    await joined.stop('SIGTERM')
  }
  tell(`seconds from the start of a replica that joins ${EXTENT.pets} pets to its first answer`, spreadOf(times), 2)
  rows.push({ what: 'memory of that replica', figure: `${Math.round(memory)} MB` })
  rows.push({ what: 'memory that the group takes in Redis', figure: `${Math.round(redisMegabytes() - before)} MB` })
  await founder.stop()
}

function tell(what: string, { median, low, high }: ReturnType<typeof spreadOf>, digits: number): void {
  const text = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  rows.push({ what, figure: `${text(median)} (${text(low)}–${text(high)})` })
}

function ask(...words: readonly string[]): string {
  return execFileSync('redis-cli', ['-p', String(redis.port), ...words], { encoding: 'utf8' })
}

function redisMegabytes(): number {
  return redisNumber('memory', 'used_memory') / 1e6
}

/** A number that Redis knows of itself. */
function redisNumber(section: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(ask('INFO', section))?.[1])
}

function redisVersion(): string {
  return /^redis_version:(\S+)/m.exec(ask('INFO', 'server'))?.[1] ?? ''
}
