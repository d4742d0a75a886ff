import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { CONNECTION_HEADERS } from '../../advice/curl.js'
import type { RequestFilter } from '../../api/inputs.js'
import { readKey, readKeyFile } from '../../client/api-key.js'
import { toCurl } from '../../client/build-request.js'
import type { Header } from '../../client/headers.js'
import { EXAMPLE } from '../../contract/generated/examples.js'
import { parseShallowJson, stringifyJson } from '../../contract/json.js'
import { ControlError } from '../../control/control-error.js'
import { Failure } from '../../domain/failures.js'
import { sentKeyText } from '../../domain/keys.js'
import { UNREADABLE } from '../../domain/messages.js'
import { REASONS } from '../../domain/problems.js'
import { MASK } from '../../domain/redaction.js'
import { addressOf, spacePath } from '../../domain/space-address.js'
import { formatDuration, SECOND_MS } from '../../domain/time.js'
import type { Exchange, ExchangeMessage } from '../../exchanges/exchange-record.js'
import { isCut } from '../../exchanges/kept-body.js'
import { EXIT, SIGNAL_EXIT, type StopSignal } from '../io.js'
import { Hints, prettyExchange } from '../pretty-log.js'
import { colourLevel, coloursFor, escapeControls, print, printLine, terminalWidth, wrapHanging } from '../print.js'
import { aligned } from '../table.js'
import { count, defined } from './arguments.js'
import { controlCommand, noSandbox } from './find-sandbox.js'
import { printResult, type Result } from './result.js'
import { type ControlContext, type VerbCommands, verbCommand } from './verb-commands.js'

interface RequestFlags extends Omit<RequestFilter, 'status' | 'filter'> {
  readonly status?: StatusFilter
  readonly curl?: number
  readonly follow?: boolean
  readonly har?: boolean
  readonly since?: string
  readonly limit?: number
}

type StatusFilter = Pick<RequestFilter, 'status' | 'filter'>

export function addRequestVerbs({ add, call }: VerbCommands): void {
  add('requests list', 'list requests and responses, oldest first', [
    'requests --status 4xx -o json',
    'requests --curl 12',
    'requests --har > traffic.har',
    `requests -f --operation ${EXAMPLE.list}`,
  ])
    .option('-f, --follow', 'follow new ones until interrupted; -o json prints one per line')
    .option('--operation <id>', 'only this operation')
    .option('--status <status>', 'only this status, or all like 4xx', statusFilter)
    .option('--key <label>', 'only this key; unknown and none are labels')
    .addOption(new Option('--reason <reason>', 'only this reason').choices(REASONS))
    .option('--since <id|instant>', 'after this id, or from this instant on')
    .option('--limit <n>', 'only the newest n', count)
    .option('--har', 'print them as an HTTP archive (HAR 1.2), without keys')
    .option('--curl <id>', 'print this request as a curl command', count)
    .action(call(listRequests))
  add('requests show', 'show headers and bodies of a request and its response', ['requests show 12'])
    .argument('<id>', 'its id', count)
    .action(
      call(async (at, { id }: { readonly id: number }) => {
        const value = await findExchange(at, id)
        const replay = `${verbCommand(at)} requests replay ${id}`
        return { value, text: exchangeText(value), next: [replay] }
      }),
    )
  add('requests replay', 'send a request again and show the response', ['requests replay 12'])
    .argument('<id>', 'its id', count)
    .option('--api-key-file <file>', 'file with the API key (default: the logged one)')
    .action(call(replay))
}

function statusFilter(text: string): StatusFilter {
  if (/^[1-5]xx$/i.test(text)) return { filter: text.toLowerCase() }
  if (/^[1-5]\d\d$/.test(text)) return { status: Number(text) }
  throw new InvalidArgumentError('must be a status, for example 429 or 4xx')
}

async function listRequests(at: ControlContext, flags: RequestFlags): Promise<Result | number> {
  const { controls, io, json } = at
  const { since, limit, status, curl, operation, key, reason } = flags
  if (curl !== undefined) {
    const text = await curlCommand(at, curl)
    return { value: { curl: text }, text }
  }
  const filter = defined({ operation, key, reason, ...status })
  if (flags.follow === true) {
    if (since === undefined && limit === undefined) return follow(at, filter)
    throw new Failure('USAGE', '--since and --limit cannot be combined with --follow.')
  }
  const selection = { ...filter, ...defined({ since, limit }) }
  if (flags.har === true) {
    await printResult({ value: await controls.requests.har(selection), text: '' }, io, true)
    return EXIT.ok
  }
  const exchanges = await controls.requests(selection)
  if (json) {
    const lines = exchanges.map((exchange) => `  ${jsonLine(exchange)}`)
    await print(io.stdout, lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`)
  } else if (exchanges.length === 0) printLine(io.stderr, 'No requests match.')
  else {
    const line = await lineFormat(at, String(exchanges.at(-1)?.id).length)
    await print(io.stdout, `${exchanges.map(line).join('\n')}\n`)
  }
  return EXIT.ok
}

async function follow(at: ControlContext, filter: RequestFilter): Promise<number> {
  const { controls, found, io, json } = at
  const line = json ? jsonLine : await lineFormat(at)
  const stop = new AbortController()
  let signal: StopSignal | undefined
  const ignoreSignals = io.onSignal((given) => {
    signal = given
    stop.abort()
  })
  try {
    for await (const exchange of controls.requests.follow(filter, stop.signal))
      if (!(await print(io.stdout, `${line(exchange)}\n`))) return EXIT.ok
    if (signal !== undefined) return SIGNAL_EXIT[signal]
    printLine(io.stderr, `The sandbox at ${found.controlUrl} has stopped.`)
    return EXIT.ok
  } catch (error) {
    // It was killed.
    throw error instanceof ControlError && error.code === 'unreachable' ? noSandbox(error.message) : error
  } finally {
    ignoreSignals()
    stop.abort()
  }
}

function jsonLine(exchange: Exchange): string {
  return escapeControls(stringifyJson(exchange))
}

async function lineFormat({ io, found }: ControlContext, idWidth = 4): Promise<(exchange: Exchange) => string> {
  const colours = await coloursFor(colourLevel(io.stdout, io.env))
  const hints = new Hints(() => controlCommand(found.controlUrl, io))
  return (exchange) => {
    const columns = terminalWidth(io.stdout)
    const page = { idWidth, ...(columns !== undefined && { columns }) }
    return wrapHanging(prettyExchange(exchange, colours, page), columns) + hints.after(exchange, colours, columns)
  }
}

async function findExchange({ controls }: ControlContext, id: number): Promise<Exchange> {
  const found = (await controls.requests({ since: Math.max(0, id - 1) })).find((exchange) => exchange.id === id)
  if (found === undefined) throw new ControlError('not_found', `The log of this space has no exchange ${id}.`)
  return found
}

async function replay(
  at: ControlContext,
  { id, apiKeyFile }: { readonly id: number; readonly apiKeyFile?: string },
): Promise<Result> {
  const key = await chooseKey(at, await findExchange(at, id), apiKeyFile)
  // Shorter than the time limit of the control plane, so that the outcome is known.
  const timeout = formatDuration(Math.max(1, at.timeout - SECOND_MS))
  const { status, response, fault, id: newId } = await at.controls.requests.replay(id, defined({ timeout, key }))
  if (status === null) {
    const why = fault === null ? `within ${timeout}` : `(${fault})`
    throw new Failure('NO_RESPONSE', `The request of exchange ${id} was sent again, but got no response ${why}.`)
  }
  return {
    value: { id: newId, status, ...response },
    text: [`HTTP ${status}`, ...messageLines(response)].join('\n'),
  }
}

const NO_KEY = 'none'

async function chooseKey(
  at: ControlContext,
  exchange: Exchange,
  file: string | undefined,
): Promise<string | undefined> {
  const { env, cwd } = at.io
  if (file !== undefined) return await readKeyFile(resolve(cwd, file), `--api-key-file ${JSON.stringify(file)}`)
  if (exchange.key === NO_KEY || exchange.method === UNREADABLE) return undefined
  const open = await openKey(at, exchange)
  if (open !== undefined) return open
  const fromEnv = env.PETSTORE_API_KEY ?? ''
  if (fromEnv !== '') return readKey(fromEnv, 'PETSTORE_API_KEY')
  throw new Failure(
    'USAGE',
    `The key of exchange ${exchange.id} (${exchange.key}) is not in the log. Give it with --api-key-file or in PETSTORE_API_KEY.`,
  )
}

/** Without its space, which the address has. */
async function openKey({ controls }: ControlContext, { key, sender }: Exchange): Promise<string | undefined> {
  const isOpen = (await controls.keys.list()).some((known) => known.key === key && !known.secret)
  return isOpen ? sentKeyText(key, '', sender) : undefined
}

async function curlCommand(at: ControlContext, id: number): Promise<string> {
  const exchange = await findExchange(at, id)
  const { method, request, key, space } = exchange
  const missing =
    method === UNREADABLE
      ? `The request of exchange ${id} could not be read`
      : isCut(request) && `The log only has the beginning of the body of exchange ${id}`
  if (missing) throw new ControlError('conflict', `${missing}, so it has no curl command.`)
  const { keyHeader } = await at.controls.state()
  const { name: keyName, prefix } = keyHeader
  const omitted = [...CONNECTION_HEADERS, keyName.toLowerCase()]
  const sent = Object.entries(request.headers)
  const headers: readonly Header[] = [
    ...sent.filter(([name, value]) => !omitted.includes(name) && !value.includes(MASK)),
    ...(key === NO_KEY ? [] : [[keyName, prefix + MASK] as const]),
  ]
  const url = `${new URL(at.found.controlUrl).origin}${spacePath(space)}${addressOf(exchange)}`
  const body = request.body === '' ? undefined : Buffer.from(request.body)
  return toCurl({ method, url, body, headers }, [keyHeader], await openKey(at, exchange))
}

function exchangeText({ request, response, ...facts }: Exchange): string {
  const { id, at, space, key, operation, status, reason, fault, method } = facts
  const about = aligned([
    ['exchange', String(id)],
    ['at', at],
    ['key', sentKeyText(key, space, facts.sender)],
    ['operation', operation ?? 'none'],
    ...(reason === null ? [] : [['reason', reason]]),
    ...(fault === null ? [] : [['fault', fault]]),
    ['took', timingText(facts)],
  ])
  return [
    about,
    '',
    `${method} ${addressOf(facts)}`,
    ...messageLines(request),
    '',
    status === null ? (facts.ended === null ? 'no response yet' : 'no response') : `HTTP ${status}`,
    ...messageLines(response),
  ].join('\n')
}

const ENDS = { sent: '', left: '; the client left first', cut: '; cut', unknown: '; whether it was sent is unknown' }

function timingText({ ended, durationMs, timing }: Omit<Exchange, 'request' | 'response'>): string {
  if (ended === null) return `${durationMs} ms so far`
  const { handlingMs, waitingMs, bodyMs } = timing
  return `${durationMs} ms (handling ${handlingMs} ms, waiting ${waitingMs} ms, body ${bodyMs} ms)${ENDS[ended]}`
}

function messageLines({ headers, body }: ExchangeMessage): readonly string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  if (body === '') return lines
  try {
    return [...lines, '', stringifyJson(parseShallowJson(body), 2)]
  } catch {
    return [...lines, '', body]
  }
}
