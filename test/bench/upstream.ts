import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { API_KEY, bareLike, launch, type Running, sandbox } from './contestants.js'
import { chooseLoad } from './load.js'
import { ratiosOf, spreadOf } from './statistics.js'
import { benchDirectory, busyShare, command, cpuMicroseconds, installPeers, newFolder } from './tools.js'

/**
 * `npm run bench:upstream`: what listPets costs in front of a real service, beside two proxies in front of the same,
 * as a Markdown table. The service is bare node:http, so that it is waited for as little as can be.
 *
 *     npm run bench:upstream -- [--quick]
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const EXTENT = values.quick ? { rounds: 3, seconds: 1, warmUpSeconds: 2 } : { rounds: 9, seconds: 3, warmUpSeconds: 5 }
const PEERS = ['http-proxy-3', '@fastify/http-proxy'] as const

installPeers()
const { name, load } = chooseLoad()
const busy = await busyShare()
// Its responses are fixed. A past reset of a minute would be a drift in each of them, so only the day is limited.
const flags = ['--limits', '100000000/min,1000000/day']
const service = await (await bareLike(sandbox('real service', { pets: 60, memory: true, flags }))).start()
const { origin } = new URL(service.urls.listPets)
const contestants: readonly (readonly [string, Running])[] = [
  ['petstore-sandbox --upstream', await inFront()],
  ...(await Promise.all(PEERS.map(async (peer) => [peer, await proxy(peer)] as const))),
  ['the service itself', service],
]
for (const [, running] of contestants) await load(running, 'listPets', EXTENT.warmUpSeconds)
const figures = new Map<string, number[]>(contestants.map(([what]) => [what, []]))
const costs = new Map<string, number[]>(contestants.map(([what]) => [what, []]))
for (let round = 0; round < EXTENT.rounds; round++) {
  const order = round % 2 === 0 ? contestants : contestants.toReversed()
  for (const [what, running] of order) {
    const before = cpuMicroseconds(running.pid)
    const { requests, perSecond } = await load(running, 'listPets', EXTENT.seconds)
    figures.get(what)?.push(perSecond)
    costs.get(what)?.push((cpuMicroseconds(running.pid) - before) / requests)
  }
}
const own = figures.get(contestants[0]?.[0] ?? '') ?? []
const rows = contestants.map(([what]) => {
  const all = figures.get(what) ?? []
  const { median, low, high } = spreadOf(all)
  const share = ratiosOf(own, all).median
  const cost = spreadOf(costs.get(what) ?? [])
  return `| ${what} | ${Math.round(median)} (${Math.round(low)} to ${Math.round(high)}) | ${share.toFixed(2)} | ${Math.round(cost.median)} (from ${Math.round(cost.low)}) |`
})
process.stdout.write(
  `${EXTENT.rounds} rounds of ${EXTENT.seconds} s in turn, ${name}; busy with other things before: ${Math.round(busy * 100)} %\n\n| | listPets a second | petstore-sandbox beside it | µs of processor time each |\n|---|--:|--:|--:|\n${rows.join('\n')}\n`,
)
for (const [, running] of contestants) await running.stop()
process.exit(0)

function inFront(): Promise<Running> {
  const cwd = newFolder()
  writeFileSync(join(cwd, 'key'), `${API_KEY}\n`)
  const flags = ['--upstream', `${origin}/v1`, '--upstream-api-key-file', 'key', '--log', 'silent']
  return launch({ args: (port) => [command, 'serve', '--port', String(port), ...flags], cwd, basePath: '/v1' })
}

function proxy(peer: (typeof PEERS)[number]): Promise<Running> {
  return launch({
    args: (port) => [join(benchDirectory, 'contestants/proxy-server.mjs'), String(port), peer, origin],
    cwd: newFolder(),
    basePath: '/v1',
  })
}
