import { packagedContract } from '../../src/contract/packaged-contract.js'
import { readTraffic } from '../../src/simulate/read-traffic.js'
import { type SimulationReport, simulationReport } from '../../src/simulate/report.js'
import { Simulation, type SimulationOptions } from '../../src/simulate/simulation.js'
import type { TrafficRecord } from '../../src/simulate/traffic-record.js'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A request of a test. */
export interface Sent {
  readonly at: number
  /** Undefined where none is sent. */
  readonly key?: string
  readonly method?: string
  /** Path and query. */
  readonly target?: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly reply?: Readonly<Record<string, string>>
}

/** An entry of an archive as browsers write it. */
export function harEntry({ at, key, method = 'GET', target = '/v1/pets', status = 200, headers, reply }: Sent) {
  const pairs = (record: Readonly<Record<string, string>> = {}) =>
    Object.entries(record).map(([name, value]) => ({ name, value }))
  return {
    startedDateTime: new Date(at).toISOString(),
    time: 1,
    request: {
      method,
      url: `https://api.example${target}`,
      headers: [...pairs(headers), ...(key === undefined ? [] : pairs({ Authorization: `Bearer ${key}` }))],
    },
    response: { status, headers: pairs(reply), content: { text: '[{"name":"\\"[{Zoë}]\\\\"}]' } },
  }
}

export function harText(sent: readonly Sent[], space?: number): string {
  return JSON.stringify({ log: { version: '1.2', pages: [], entries: sent.map(harEntry) } }, undefined, space)
}

/** A line of a combined log. @param zone minutes east of UTC */
export function ncsaLine({ at, key = '-', method = 'GET', target = '/v1/pets', status = 200 }: Sent, zone = 0): string {
  const local = new Date(at + zone * 60_000)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = [local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()].map(two).join(':')
  const day = `${two(local.getUTCDate())}/${MONTHS[local.getUTCMonth()]}/${local.getUTCFullYear()}`
  const offset = `${zone < 0 ? '-' : '+'}${two(Math.floor(Math.abs(zone) / 60))}${two(Math.abs(zone) % 60)}`
  return `192.0.2.1 - ${key} [${day}:${time} ${offset}] "${method} ${target} HTTP/1.1" ${status} 512 "-" "curl/8"`
}

/** Text in pieces of a size. */
async function* inPieces(text: string | Buffer, size = 64 * 1024): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

/** What a reader finds in some text. */
export async function read(text: string | Buffer, size?: number) {
  const records: TrafficRecord[] = []
  const bad: { readonly place: number; readonly problem: string }[] = []
  const reading = await readTraffic(inPieces(text, size), '"traffic"', {
    record: (record) => void records.push(record),
    bad: (place, problem) => void bad.push({ place, problem }),
  })
  return { ...reading, records, bad }
}

/** Simulates traffic in some format. */
export async function simulate(
  input: string | Buffer,
  options: Partial<SimulationOptions> = {},
): Promise<SimulationReport> {
  const contract = packagedContract()
  const defaults = { contract, basePath: '/v1', host: undefined, keyField: undefined, scale: [], senders: 1 }
  const simulation = new Simulation({ ...defaults, ...options })
  const reading = await readTraffic(inPieces(input), '"traffic"', simulation)
  simulation.end()
  return simulationReport(simulation, reading)
}
