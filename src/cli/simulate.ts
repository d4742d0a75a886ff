import { basename, resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { openContract } from '../contract/open-contract.js'
import { Failure } from '../domain/failures.js'
import { MOST_SENDERS } from '../domain/settings.js'
import { DEFAULTS } from '../options/defaults.js'
import { readTraffic } from '../simulate/read-traffic.js'
import { busiestCurves, type SimulationReport, simulationReport } from '../simulate/report.js'
import { readScale, type Scale } from '../simulate/scale.js'
import { Simulation } from '../simulate/simulation.js'
import { type InputStream, openingProblem, streamInput } from '../system/regular-file.js'
import { chalkFor, colourLevel } from './colour.js'
import { lineWidth } from './control/table.js'
import { EXIT } from './exit-codes.js'
import { explain } from './help.js'
import type { CliIo } from './io.js'
import { jsonText } from './json-text.js'
import { print, say } from './print.js'
import { openProgress } from './simulate/progress.js'
import { textReport } from './simulate/text-report.js'

const EXAMPLES: readonly string[] = [
  'petstore-sandbox simulate traffic.har',
  'petstore-sandbox simulate access.log --base-path /api/v1 --scale 1..10',
  'petstore-sandbox simulate traffic.har -o html > report.html',
  'petstore-sandbox control requests --har | petstore-sandbox simulate -',
]

const NOTES = `\
Reads what clients really sent, and says for each key what every plan would have
done with it: peaks, refusals, bans, the cheapest plan that refuses nothing and how
far the traffic could grow on it. Nothing is sent anywhere.

It reads, compressed with gzip or not
  HTTP archives (HAR 1.2)   of browsers, of proxies, of "control requests --har"
  the sandbox's own log     serve --log json, control requests -o json
  access logs               of web servers, common or combined

Whose request it is says the log's label, the user of an access log, or the API key;
what may be a secret is shown as "key 1", "key 2". Conduct is judged by the answers
that clients really got.

Exit codes: 0 simulated, 1 unreadable or nothing that counts, 2 usage error.`

/** A log is of many clients, as with serve; an archive is what one client did. */
const SENDERS_OF_A_LOG = 8
/** Keys that a page has plots of. */
const MOST_CURVES = 12

interface SimulateFlags {
  readonly keyField?: string
  readonly basePath: string
  readonly host?: string
  readonly scale?: Scale
  readonly senders?: number
  readonly spec?: string
  readonly output: 'text' | 'json' | 'html'
}

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(command, { examples: EXAMPLES, notes: NOTES })
    .argument('<file>', 'the traffic, - for stdin')
    .option('--scale <factor>', 'also simulate it larger: 3, 1.5, or a range such as 1..10', scaleArgument)
    .option(
      '--key-field <name>',
      'header or query parameter that tells keys apart, or "one" for a single key',
      nameArgument,
    )
    .option('--base-path <path>', 'only requests under it', basePathArgument, DEFAULTS.basePath)
    .option('--host <host>', 'only requests to it, with its port if it has one', hostArgument)
    .option('--senders <n>', 'clients that may share a key (default: 1 for an archive, 8 for a log)', sendersArgument)
    .addOption(new Option('-o, --output <form>', 'report format').choices(['text', 'json', 'html']).default('text'))
    .option('--spec <openapi.yaml>', 'another OpenAPI document (default: the packaged one)')
    .option('--debug', 'show stack traces')
    .action(async (file: string, flags: SimulateFlags) => finish(await simulate(file, flags, io)))
}

async function simulate(file: string, flags: SimulateFlags, io: CliIo): Promise<number> {
  const { keyField, basePath, host, scale = [], spec } = flags
  const contract = await openContract(spec && resolve(io.cwd, spec), {
    handled: 'all',
    keepsPets: false,
    patterns: 'native',
  })
  const name = file === '-' ? 'stdin' : nameOf(file)
  const { size, chunks } = openInput(file, io)
  const progress = openProgress(name, size, io)
  let simulation: Simulation | undefined
  const begin = (isArchive: boolean) => {
    const senders = flags.senders ?? (isArchive ? 1 : SENDERS_OF_A_LOG)
    simulation = new Simulation({ contract, basePath, host, keyField, scale, senders })
    return simulation
  }
  const reading = await readTraffic(
    progress.watch(chunks),
    file === '-' ? 'What comes from stdin' : `"${file}"`,
    (form) => begin(form === 'har'),
  ).finally(progress.done)
  const simulated = simulation ?? begin(false)
  simulated.end()
  const report = simulationReport(simulated, reading)
  await print(io.stdout, await formatted(flags.output, { name, report, simulation: simulated, basePath }, io))
  if (report.requests > 0) return EXIT.ok
  say(io.stderr, `NOTHING_SIMULATED: ${nothingText(report, basePath)}`)
  return EXIT.failed
}

/** How a report calls a file: a pipe that a shell has made has no name of its own. */
function nameOf(file: string): string {
  return /^\/(?:dev|proc)\//.test(file) ? file : basename(file)
}

function openInput(file: string, { cwd }: CliIo): InputStream {
  if (file === '-') {
    if (process.stdin.isTTY === true)
      throw new Failure('USAGE', 'Nothing is piped into stdin. Name a file, or pipe the traffic in.')
    return { size: undefined, chunks: process.stdin }
  }
  try {
    return streamInput(resolve(cwd, file))
  } catch (error) {
    throw new Failure('TRAFFIC_UNREADABLE', `"${file}" cannot be read (${openingProblem(error)}). Check the path.`, {
      cause: error,
    })
  }
}

/** What a report is made of. */
interface Simulated {
  readonly name: string
  readonly report: SimulationReport
  readonly simulation: Simulation
  readonly basePath: string
}

async function formatted(
  form: SimulateFlags['output'],
  { name, report, simulation }: Simulated,
  { stdout, env }: CliIo,
): Promise<string> {
  switch (form) {
    case 'json':
      return `${await jsonText(report, stdout, env)}\n`
    case 'html': {
      const { htmlReport } = await import('./simulate/html-report.js')
      return htmlReport(name, report, busiestCurves(simulation, MOST_CURVES), simulation.timeline.width)
    }
    case 'text':
      return textReport(name, report, await chalkFor(colourLevel(stdout, env)), lineWidth(stdout))
  }
}

function nothingText({ input }: SimulationReport, basePath: string): string {
  const { read, leftOut, elsewhere } = input
  if (read === 0) return 'There is no request that can be read.'
  const [first] = elsewhere
  if (first === undefined || leftOut.elsewhere !== read) return 'No request counts; the report says why.'
  return `All of ${read} requests are for other hosts or paths than ${basePath === '' ? 'the root' : basePath}, most of them for ${first.name}. Name the right ones with --base-path and --host.`
}

function scaleArgument(text: string): Scale {
  const scale = readScale(text)
  if (scale === undefined)
    throw new InvalidArgumentError('must be a factor up to 1000, or a range, for example 3 or 1..10')
  return scale
}

function nameArgument(text: string): string {
  if (!/^[\w.~[\]-]+$/.test(text))
    throw new InvalidArgumentError('must be the name of a header or a query parameter, or "one"')
  return text
}

function basePathArgument(text: string): string {
  // A service may have its root there.
  if (text === '/') return ''
  if (!/^(?:\/[^\s/?#]+)+$/.test(text))
    throw new InvalidArgumentError('must be a path such as /v1 or /api/v1, or / for all')
  return text
}

function hostArgument(text: string): string {
  if (!/^[^\s/?#@]+$/.test(text)) throw new InvalidArgumentError('must be a host such as api.example or 127.0.0.1:4010')
  return text.toLowerCase()
}

function sendersArgument(text: string): number {
  const senders = Number(text)
  if (/^\d{1,3}$/.test(text) && senders >= 1 && senders <= MOST_SENDERS) return senders
  throw new InvalidArgumentError(`must be a whole number from 1 to ${MOST_SENDERS}`)
}
