import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ControlError } from '../../api/controls.js'
import { readKey, readKeyFile } from '../../client/api-key.js'
import { toCurl } from '../../client/curl.js'
import { openExchange, type ServiceAnswer } from '../../client/exchange.js'
import type { Header } from '../../client/headers.js'
import { parseShallowJson, stringifyJson } from '../../contract/json.js'
import { MASK } from '../../domain/redaction.js'
import { MIB } from '../../domain/size.js'
import { SECOND_MS } from '../../domain/time.js'
import type { Exchange, ExchangeMessage } from '../../exchanges/exchange-view.js'
import { headLines } from '../call/show-answer.js'
import { count } from './arguments.js'
import { UsageError } from './errors.js'
import type { Result } from './result.js'
import type { ControlContext } from './steering.js'
import { aligned } from './table.js'
import type { VerbCommands } from './verb-commands.js'

/** What a connection says of itself, or what is worked out afresh for each request. */
const OF_THE_CONNECTION: readonly string[] = [
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]
/** Label of a caller who sent no key. */
const NO_KEY = 'none'
const LIMITS = { timeout: 30 * SECOND_MS, maxBody: 16 * MIB } as const

/** Verbs on one exchange of the log. */
export function addExchangeVerbs(requests: Command, { verb, call }: VerbCommands): void {
  verb(requests, 'show', 'show all of one: both heads and both bodies', ['requests show 12'])
    .argument('<id>', 'its id', count)
    .action(
      call(async (at, id: number): Promise<Result> => {
        const value = await exchangeOf(at, id)
        return { value, text: wholeText(value) }
      }),
    )
  verb(requests, 'replay', 'send one again, and show what is answered now', ['requests replay 12'])
    .argument('<id>', 'its id', count)
    .option('--api-key-file <file>', 'file that holds the API key (default: its own, if that is no secret)')
    .action(
      call(async (at, id: number, { apiKeyFile }: { readonly apiKeyFile?: string }): Promise<Result> => {
        const exchange = await exchangeOf(at, id)
        const answer = await sendAgain(at, exchange, await keyFor(at, exchange, apiKeyFile))
        const body = answer.body.toString('utf8')
        return {
          value: { status: answer.status, headers: Object.fromEntries(answer.headers), body },
          text: [...headLines(answer), ...bodyLines(body)].join('\n'),
        }
      }),
    )
}

/** The command that sends it again; a key that is a secret stays in the environment. */
export async function curlOf(at: ControlContext, id: number): Promise<string> {
  const exchange = await exchangeOf(at, id)
  const key = await openKeyOf(at, exchange)
  const headers: readonly Header[] = [...headersOf(exchange), ...(exchange.key === NO_KEY ? [] : [authorized(MASK)])]
  return toCurl({ ...requestOf(at, exchange), headers }, key)
}

async function sendAgain(at: ControlContext, exchange: Exchange, key: string | undefined): Promise<ServiceAnswer> {
  const request = requestOf(at, exchange)
  const service = await openExchange(request.url, at.io.env)
  try {
    const headers = [...headersOf(exchange), ...(key === undefined ? [] : [authorized(key)])]
    return await service.send({ ...request, headers }, LIMITS)
  } finally {
    await service.close()
  }
}

function requestOf({ found }: ControlContext, { method, path, query, request }: Exchange) {
  return {
    method,
    url: `${new URL(found.controlUrl).origin}${path}${query === '' ? '' : `?${query}`}`,
    body: request.body === '' ? undefined : Buffer.from(request.body),
  }
}

/** The headers that it had, without those of its connection and those that the log hides. */
function headersOf({ request }: Exchange): readonly Header[] {
  return Object.entries(request.headers).filter(
    ([name, value]) => !OF_THE_CONNECTION.includes(name) && !value.includes(MASK),
  )
}

function authorized(key: string): Header {
  return ['Authorization', `Bearer ${key}`]
}

/** @throws UsageError where the key is in no place that it may be taken from */
async function keyFor(at: ControlContext, exchange: Exchange, file: string | undefined): Promise<string | undefined> {
  const { env, cwd } = at.io
  if (file !== undefined) {
    return await readKeyFile(resolve(cwd, file), `--api-key-file ${JSON.stringify(file)}`)
  }
  if (exchange.key === NO_KEY) return undefined
  const open = await openKeyOf(at, exchange)
  if (open !== undefined) return open
  const fromEnv = env.PETSTORE_API_KEY ?? ''
  if (fromEnv !== '') return readKey(fromEnv, 'PETSTORE_API_KEY')
  throw new UsageError(
    `The key of exchange ${exchange.id} (${exchange.key}) is not in the log. Give it with --api-key-file or in PETSTORE_API_KEY.`,
  )
}

/** The key as it was sent, unless that is a secret. */
async function openKeyOf({ controls }: ControlContext, { key, space }: Exchange): Promise<string | undefined> {
  const isOpen = (await controls.keys.list()).some((known) => known.key === key && !known.secret)
  return isOpen ? `${key}${space === '' ? '' : `~${space}`}` : undefined
}

/** @throws ControlError where the log does not have it */
async function exchangeOf({ controls }: ControlContext, id: number): Promise<Exchange> {
  const found = (await controls.requests({ since: Math.max(0, id - 1) })).find((exchange) => exchange.id === id)
  if (found === undefined) throw new ControlError('not_found', `There is no exchange ${id} in the log of this space.`)
  return found
}

function wholeText({ request, response, ...facts }: Exchange): string {
  const { id, at, space, key, operation, status, reason, fault, method, path, query } = facts
  const about = aligned([
    ['exchange', String(id)],
    ['at', at],
    ['key', space === '' ? key : `${key}~${space}`],
    ['operation', operation ?? 'none'],
    ...(reason === null ? [] : [['reason', reason]]),
    ...(fault === null ? [] : [['fault', fault]]),
    ['took', tookText(facts)],
  ])
  return [
    about,
    '',
    `${method} ${path}${query === '' ? '' : `?${query}`}`,
    ...messageLines(request),
    '',
    status === null ? (facts.ended === null ? 'not answered yet' : 'no answer') : `HTTP ${status}`,
    ...messageLines(response),
  ].join('\n')
}

function tookText({
  ended,
  durationMs,
  timing: { handlingMs, waitingMs, bodyMs },
}: Omit<Exchange, 'request' | 'response'>): string {
  if (ended === null) return `${durationMs} ms so far`
  const parts = `handling ${handlingMs} ms, waiting ${waitingMs} ms, body ${bodyMs} ms`
  const how = { sent: '', left: '; its client left first', cut: '; cut', unknown: '; whether it was sent is unknown' }[
    ended
  ]
  return `${durationMs} ms (${parts})${how}`
}

function messageLines({ headers, body }: ExchangeMessage): readonly string[] {
  return [...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), ...bodyLines(body)]
}

/** A body after an empty line, laid out if it is JSON. */
function bodyLines(body: string): readonly string[] {
  if (body === '') return []
  try {
    return ['', stringifyJson(parseShallowJson(body), 2)]
  } catch {
    return ['', body]
  }
}
