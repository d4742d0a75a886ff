import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { API_KEY, bareLike, launch, type Running, sandbox, serve } from './contestants.js'
import { chooseLoad } from './load.js'
import { table } from './report.js'
import { ratiosOf, spreadOf } from './statistics.js'
import { benchDirectory, busyShare, cpuMicroseconds, installPeers, newFolder, readFlags } from './tools.js'

/**
 * `npm run bench:upstream`: what listPets costs in front of a real service, beside two proxies in front of the same,
 * as a Markdown table. The service is bare node:http, so that it is waited for as little as can be.
 *
 *     npm run bench:upstream -- [--quick]
 */
const EXTENT = readFlags().isQuick
  ? { rounds: 3, seconds: 1, warmUpSeconds: 2 }
  : { rounds: 9, seconds: 3, warmUpSeconds: 5 }
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
const figures = contestants.map(([what, running]) => ({ what, running, all: [] as number[], costs: [] as number[] }))
for (let round = 0; round < EXTENT.rounds; round++) {
  for (const { running, all, costs } of round % 2 === 0 ? figures : figures.toReversed()) {
    const before = cpuMicroseconds(running.pid)
    const { requests, perSecond } = await load(running, 'listPets', EXTENT.seconds)
    all.push(perSecond)
    costs.push((cpuMicroseconds(running.pid) - before) / requests)
  }
}
const rows = figures.map(({ what, all, costs }) => {
  const { median, low, high } = spreadOf(all)
  const cost = spreadOf(costs)
  return [
    what,
    `${Math.round(median)} (${Math.round(low)} to ${Math.round(high)})`,
    ratiosOf(figures[0]?.all ?? [], all).median.toFixed(2),
    `${Math.round(cost.median)} (from ${Math.round(cost.low)})`,
  ]
})
const head = ['', 'listPets a second', 'petstore-sandbox beside it', 'µs of processor time each']
const conditions = `${EXTENT.rounds} rounds of ${EXTENT.seconds} s in turn, ${name}; busy with other things before: ${Math.round(busy * 100)} %`
process.stdout.write(`${conditions}\n\n${table(head, rows)}\n`)
for (const [, running] of contestants) await running.stop()
process.exit(0)

function inFront(): Promise<Running> {
  const cwd = newFolder()
  writeFileSync(join(cwd, 'key'), `${API_KEY}\n`)
  const flags = ['--upstream', `${origin}/v1`, '--upstream-api-key-file', 'key', '--log', 'silent']
  return serve(flags, { cwd })
}

function proxy(peer: (typeof PEERS)[number]): Promise<Running> {
  const script = join(benchDirectory, 'contestants/proxy-server.mjs')
  return launch((port) => [script, String(port), peer, origin])
}
