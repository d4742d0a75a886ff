import { type Command, InvalidArgumentError, Option } from 'commander'
import { ControlError } from '../../api/controls.js'
import { stringifyJson } from '../../contract/json.js'
import type { RequestFilter } from '../../control/verb-map.js'
import { REASONS } from '../../domain/reasons.js'
import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { chalkFor, colourLevel } from '../colour.js'
import { escapeControls } from '../escape-controls.js'
import { prettyExchange } from '../exchange-line.js'
import { EXIT, SIGNAL_EXIT } from '../exit-codes.js'
import type { StopSignal } from '../io.js'
import { print, say } from '../print.js'
import { count } from './arguments.js'
import { NoSandboxError, UsageError } from './errors.js'
import { addExchangeVerbs, curlOf } from './exchange-verbs.js'
import { done, printResult } from './result.js'
import type { ControlContext } from './steering.js'
import type { VerbCommands } from './verb-commands.js'

interface RequestFlags extends Omit<RequestFilter, 'status'> {
  readonly status?: StatusFilter
  readonly curl?: number
  readonly follow?: boolean
  readonly har?: boolean
  readonly since?: string
  readonly limit?: number
}

/** One status, or all of a class. */
type StatusFilter = { readonly status: number } | { readonly class: number }

export function addRequestVerbs(parent: Command, verbs: VerbCommands): void {
  const { verb, call, callFreely } = verbs
  const requests = verb(parent, 'requests', 'list requests and responses, oldest first', [
    'requests --limit 20',
    'requests --status 4xx -o json',
    'requests --curl 12',
    'requests --har > traffic.har',
    'requests -f --operation listPets',
  ])
    .option('-f, --follow', 'follow new ones until interrupted; -o json prints one per line')
    .option('--operation <id>', 'only this operation')
    .option('--status <status>', 'only this status, or all like 4xx', statusFilter)
    .option('--key <label>', 'only this key, without its space; unknown and none are labels too')
    .addOption(new Option('--reason <reason>', 'only this reason').choices(REASONS))
    .option('--since <id|instant>', 'after this id, or from this instant on')
    .option('--limit <n>', 'only the newest n', count)
    .option('--har', 'print them as an HTTP archive (HAR 1.2), without keys')
    .option('--curl <id>', 'print the request of this id as a curl command, list nothing', count)
    .action(
      callFreely(async (at, flags: RequestFlags) => {
        const { since, limit, status, curl } = flags
        if (curl !== undefined) {
          const text = await curlOf(at, curl)
          await printResult({ value: { curl: text }, text }, at.io, at.json)
          return EXIT.ok
        }
        const filter = filterOf(flags)
        const isWanted = ofClass(status)
        if (flags.follow === true) {
          if (since === undefined && limit === undefined) return follow(at, filter, isWanted)
          throw new UsageError('--since and --limit cannot be combined with --follow.')
        }
        if (flags.har === true) {
          if (status !== undefined && 'class' in status)
            throw new UsageError('--har takes one status, not a class of them.')
          const past = { ...(since === undefined ? {} : { since }), ...(limit === undefined ? {} : { limit }) }
          const value = await at.controls.requests.har({ ...filter, ...past })
          await printResult({ value, text: '' }, at.io, true)
          return EXIT.ok
        }
        // The sandbox knows no classes: the newest n of one are chosen here.
        const isClass = status !== undefined && 'class' in status
        const past = {
          ...(since === undefined ? {} : { since }),
          ...(limit === undefined || isClass ? {} : { limit }),
        }
        const found = await at.controls.requests({ ...filter, ...past })
        const wanted = found.filter(isWanted)
        await list(at, limit === undefined ? wanted : wanted.slice(Math.max(0, wanted.length - limit)))
        return EXIT.ok
      }),
    )
  addExchangeVerbs(requests, verbs)
  verb(requests, 'clear', 'clear the log', ['requests clear']).action(
    call(async ({ controls }) => {
      await controls.requests.clear()
      return done('The log is empty.')
    }),
  )
}

/** `429` or `4xx` */
function statusFilter(text: string): StatusFilter {
  const [, first, rest = ''] = /^([1-5])(\d\d|xx)$/i.exec(text) ?? []
  if (first === undefined) throw new InvalidArgumentError('must be a status, for example 429 or 4xx')
  return /\d/.test(rest) ? { status: Number(first + rest) } : { class: Number(first) }
}

function ofClass(filter: StatusFilter | undefined): (exchange: Exchange) => boolean {
  if (filter === undefined || 'status' in filter) return () => true
  return ({ status }) => status !== null && Math.floor(status / 100) === filter.class
}

function filterOf({ operation, status, key, reason }: RequestFlags): RequestFilter {
  return {
    ...(operation === undefined ? {} : { operation }),
    ...(status !== undefined && 'status' in status ? status : {}),
    ...(key === undefined ? {} : { key }),
    ...(reason === undefined ? {} : { reason }),
  }
}

async function list(at: ControlContext, exchanges: readonly Exchange[]): Promise<void> {
  const { io, json } = at
  if (json) {
    const lines = exchanges.map((exchange) => `  ${jsonLine(exchange)}`)
    await print(io.stdout, lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`)
    return
  }
  const line = await prettyLines(at)
  if (exchanges.length > 0) await print(io.stdout, `${exchanges.map(line).join('\n')}\n`)
  else say(io.stderr, 'No requests match.')
}

/** Prints exchanges as they happen, until a signal comes, the sandbox ends or the reader goes away. */
async function follow(
  at: ControlContext,
  filter: RequestFilter,
  isWanted: (exchange: Exchange) => boolean,
): Promise<number> {
  const { controls, found, io, json } = at
  const line = json ? jsonLine : await prettyLines(at)
  const stop = new AbortController()
  let signal: StopSignal | undefined
  const ignoreSignals = io.onSignal((given) => {
    signal = given
    stop.abort()
  })
  try {
    for await (const exchange of controls.requests.follow(filter, stop.signal)) {
      if (!isWanted(exchange)) continue
      if (!(await print(io.stdout, `${line(exchange)}\n`))) return EXIT.ok
    }
    if (signal !== undefined) return SIGNAL_EXIT[signal]
    say(io.stderr, `The sandbox at ${found.controlUrl} has stopped.`)
    return EXIT.ok
  } catch (error) {
    // A broken stream is a TypeError of fetch: the sandbox was killed.
    if (error instanceof ControlError || !(error instanceof TypeError)) throw error
    throw new NoSandboxError(`The sandbox at ${found.controlUrl} stopped unexpectedly.`)
  } finally {
    ignoreSignals()
    stop.abort()
  }
}

function jsonLine(exchange: Exchange): string {
  return escapeControls(stringifyJson(exchange))
}

/** Formats exchanges as the server's own log does. */
async function prettyLines({ io }: ControlContext): Promise<(exchange: Exchange) => string> {
  const chalk = await chalkFor(colourLevel(io.stdout, io.env))
  return (exchange) => prettyExchange(recordOf(exchange), chalk)
}

function recordOf({
  operation,
  status,
  reason,
  fault,
  ended,
  at,
  timing,
  request,
  response,
  ...rest
}: Exchange): ExchangeRecord {
  return {
    ...rest,
    ...timing,
    position: 0,
    how: ended ?? undefined,
    at: Date.parse(at),
    arrivedAt: Date.parse(at),
    fault: fault ?? undefined,
    operation: operation ?? undefined,
    status: status ?? undefined,
    reason: reason ?? undefined,
    // What got no answer says nothing of it.
    remaining: Number(response.headers['x-ratelimit-remaining'] ?? Number.NaN),
    requestHeaders: Object.entries(request.headers).flat(),
    requestBody: request.body,
    responseHeaders: Object.entries(response.headers).flat(),
    responseBody: response.body,
  }
}
