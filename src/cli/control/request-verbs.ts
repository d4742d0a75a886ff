import type { Command } from 'commander'
import { Option } from 'commander'
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
import { done } from './result.js'
import type { ControlContext } from './steering.js'
import type { VerbCommands } from './verb-commands.js'

interface RequestFlags extends RequestFilter {
  readonly follow?: boolean
  readonly since?: string
  readonly limit?: number
}

export function addRequestVerbs(parent: Command, { verb, call, callFreely }: VerbCommands): void {
  const requests = verb(parent, 'requests', 'list requests and responses, oldest first', [
    'requests --limit 20',
    'requests --status 429 -o json',
    'requests -f --operation listPets',
  ])
    .option('-f, --follow', 'follow new ones until interrupted; -o json prints one per line')
    .option('--operation <id>', 'only this operation')
    .option('--status <status>', 'only this status', count)
    .option('--key <label>', 'only this key, without its space; unknown and none are labels too')
    .addOption(new Option('--reason <reason>', 'only this reason').choices(REASONS))
    .option('--since <id|instant>', 'after this id, or from this instant on')
    .option('--limit <n>', 'only the newest n', count)
    .action(
      callFreely(async (at, flags: RequestFlags) => {
        const { since, limit } = flags
        const filter = filterOf(flags)
        if (flags.follow === true) {
          if (since === undefined && limit === undefined) return follow(at, filter)
          throw new UsageError('--since and --limit cannot be combined with --follow.')
        }
        const past = { ...(since === undefined ? {} : { since }), ...(limit === undefined ? {} : { limit }) }
        await list(at, await at.controls.requests({ ...filter, ...past }))
        return EXIT.ok
      }),
    )
  verb(requests, 'clear', 'clear the log', ['requests clear']).action(
    call(async ({ controls }) => {
      await controls.requests.clear()
      return done('The log is empty.')
    }),
  )
}

function filterOf({ operation, status, key, reason }: RequestFlags): RequestFilter {
  return {
    ...(operation === undefined ? {} : { operation }),
    ...(status === undefined ? {} : { status }),
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
async function follow(at: ControlContext, filter: RequestFilter): Promise<number> {
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
      if (!(await print(io.stdout, `${line(exchange)}\n`))) return EXIT.ok
    }
    if (signal !== undefined) return SIGNAL_EXIT[signal]
    say(io.stderr, `The sandbox at ${found.controlUrl} has stopped.`)
    return EXIT.ok
  } catch (error) {
    // A broken stream is a TypeError of fetch: the sandbox was killed.
    if (error instanceof ControlError || !(error instanceof TypeError)) throw error
    throw new NoSandboxError(`The sandbox at ${found.controlUrl} went away unexpectedly.`)
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

function recordOf({ operation, status, reason, at, request, response, ...rest }: Exchange): ExchangeRecord {
  return {
    ...rest,
    position: 0,
    how: 'sent',
    at: Date.parse(at),
    operation: operation ?? undefined,
    status: status ?? undefined,
    reason: reason ?? undefined,
    remaining: Number(response.headers['x-ratelimit-remaining'] ?? 0),
    requestHeaders: Object.entries(request.headers).flat(),
    requestBody: request.body,
    responseHeaders: Object.entries(response.headers).flat(),
    responseBody: response.body,
  }
}
