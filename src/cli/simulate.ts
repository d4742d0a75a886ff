import { basename, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { openContract } from '../contract/open-contract.js'
import { Failure } from '../domain/failures.js'
import { counted } from '../domain/numbers.js'
import { MAX_SENDERS } from '../domain/settings.js'
import { readTraffic } from '../simulate/read-traffic.js'
import { busiestCurves, type SimulationReport, simulationReport } from '../simulate/report.js'
import { readScale, Simulation } from '../simulate/simulation.js'
import { describeOpenError, streamInput } from '../system/regular-file.js'
import { addOutputOptions, type OutputFlags, printJson, wantsJson } from './control/result.js'
import { explain } from './help.js'
import { type CliIo, EXIT } from './io.js'
import { colourLevel, coloursFor, print } from './print.js'
import { textReport } from './simulate/text-report.js'
import { lineWidth } from './table.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox simulate traffic.har',
  'petstore-sandbox simulate access.log --base-path /api/v1 --scale 1..10',
  'petstore-sandbox simulate traffic.har -o html > report.html',
  'petstore-sandbox control requests --har | petstore-sandbox simulate -',
]

const NOTES = `\
Replays recorded traffic against the quotas of every plan. For each key, it reports
peaks, refusals, bans, the cheapest plan without refusals, and how many times larger
the traffic could be on that plan. It sends no requests.

Input formats, plain or compressed with gzip:
  HTTP archives (HAR 1.2)   from browsers, proxies, "control requests --har"
  the sandbox's own log     serve --log json, control requests -o json
  access logs               from web servers, common or combined

Requests are grouped by the log's key label, the user of an access log, or the API
key. Keys that may be secrets are shown as "key 1", "key 2". Conduct is judged by the
recorded responses.

Exit codes: 0 simulated, 1 unreadable input or no request simulated, 2 usage error.`

const MAX_CURVES = 12

interface SimulateFlags extends OutputFlags<'text' | 'json' | 'html'> {
  readonly keyField?: string
  readonly basePath?: string
  readonly host?: string
  readonly scale?: readonly number[]
  readonly senders?: string
  readonly spec?: string
}

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(addOutputOptions(command, 'html'), { examples: EXAMPLES, notes: NOTES })
    .argument('<file>', 'recorded traffic; - for stdin')
    .option('--scale <factor>', 'also simulate more traffic: 3, 1.5 or a range such as 1..10', scaleArgument)
    .option('--key-field <name>', 'header or query parameter with the key; "one": a single key', nameArgument)
    .option('--base-path <path>', "only requests under this path (default: the contract's)", pathArgument)
    .option('--host <host>', 'only requests to this host; include the port, if any', hostArgument)
    .option('--senders <n>', 'clients that share a key (default: requests in flight)', sendersArgument)
    .option('--spec <openapi.yaml>', 'another OpenAPI document (default: the packaged one)')
    .option('--debug', 'show stack traces')
    .action(async (file: string, flags: SimulateFlags) => finish(await simulate(file, flags, io)))
}

async function simulate(file: string, flags: SimulateFlags, io: CliIo): Promise<number> {
  const { keyField, scale = [], senders, spec } = flags
  const host = flags.host?.toLowerCase()
  const contract = await openContract(spec && resolve(io.cwd, spec), {
    handled: 'all',
    keepsPets: false,
    patterns: 'native',
  })
  const basePath = flags.basePath?.replace(/^\/$/, '') ?? contract.basePath
  const name = file === '-' ? 'stdin' : nameOf(file)
  const clients = senders === undefined ? undefined : Number(senders)
  const simulation = new Simulation({ contract, basePath, host, keyField, scale, senders: clients })
  const input = file === '-' ? 'The input from stdin' : `"${file}"`
  const reading = await readTraffic(openInput(file, io), input, simulation)
  simulation.end()
  const report = simulationReport(simulation, reading)
  await printReport(flags, name, report, simulation, io)
  if (report.requests === 0) throw new Failure('NOTHING_SIMULATED', nothingText(report, basePath))
  return EXIT.ok
}

/** Name of a file in a report. A pipe made by a shell has no name of its own. */
function nameOf(file: string): string {
  return /^\/(?:dev|proc)\//.test(file) ? file : basename(file)
}

function openInput(file: string, { cwd }: CliIo): AsyncIterable<Buffer> {
  if (file === '-') {
    if (process.stdin.isTTY === true)
      throw new Failure('USAGE', 'stdin is a terminal. Name a file, or pipe the traffic in.')
    return process.stdin
  }
  try {
    return streamInput(resolve(cwd, file))
  } catch (error) {
    throw new Failure('TRAFFIC_UNREADABLE', `"${file}" cannot be read (${describeOpenError(error)}). Check the path.`, {
      cause: error,
    })
  }
}

async function printReport(
  flags: SimulateFlags,
  name: string,
  report: SimulationReport,
  simulation: Simulation,
  io: CliIo,
): Promise<void> {
  const { stdout, env } = io
  if (wantsJson(flags)) {
    const next = report.cheapest === null ? [] : [`npx petstore-sandbox serve --plan ${report.cheapest}`]
    await printJson({ format: 1, ...report }, io, next)
  } else if (flags.output === 'html') {
    const { htmlReport } = await import('./simulate/html-report.js')
    await print(stdout, htmlReport(name, report, busiestCurves(simulation, MAX_CURVES), simulation.timeline.width))
  } else await print(stdout, textReport(name, report, await coloursFor(colourLevel(stdout, env)), lineWidth(stdout)))
}

function nothingText({ input }: SimulationReport, basePath: string): string {
  const { read, leftOut, elsewhere } = input
  if (read === 0) return 'The input contains no readable request.'
  const [first] = elsewhere
  if (first === undefined || leftOut.elsewhere !== read) return 'All requests were skipped; see the report.'
  return `${counted(read, 'request')} read, none for ${basePath === '' ? 'the root' : basePath}; most are for ${first.name}. Set the right --base-path and --host.`
}

function scaleArgument(text: string): readonly number[] {
  const scale = readScale(text)
  if (scale === undefined)
    throw new InvalidArgumentError('must be a factor up to 1000, or a range, for example 3 or 1..10')
  return scale
}

function matching(pattern: RegExp, problem: string) {
  return (text: string) => {
    if (!pattern.test(text)) throw new InvalidArgumentError(problem)
    return text
  }
}

const nameArgument = matching(/^[\w.~[\]-]+$/, 'must be the name of a header or a query parameter, or "one"')
const pathArgument = matching(/^(?:\/|(?:\/[^\s/?#]+)+)$/, 'must be a path such as /v1 or /api/v1, or / for all')
const hostArgument = matching(/^[^\s/?#@]+$/, 'must be a host such as api.example or 127.0.0.1:4010')
const sendersArgument = matching(/^(?:[1-9]\d?|100)$/, `must be a whole number from 1 to ${MAX_SENDERS}`)
