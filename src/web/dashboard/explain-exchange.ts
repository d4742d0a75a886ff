import { formatSpan, MINUTE_MS, readRetryAfter } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { timeText } from '../format.js'

export interface Explanation {
  readonly rule: string
  /** What would help, absent where nothing needs to. */
  readonly help?: string
}

/** @param plan of the key, undefined if it is not a key of the sandbox */
export function explainExchange(exchange: Exchange, plan: string | undefined): Explanation {
  const { reason, ended, durationMs, status } = exchange
  const why = reason === null ? byStatus(exchange) : BY_REASON[reason](exchange, plan)
  const because = reason === null ? '' : ` ${why.rule}`
  switch (ended) {
    case null:
      return reason === null
        ? { rule: 'It is under way: nothing has been answered yet.' }
        : { ...why, rule: `It is under way.${because}` }
    case 'left':
      return {
        rule: `The client left after ${formatSpan(durationMs)}, ${status === null ? 'before anything was answered' : 'before all of the answer had left'}.${because}`,
        help: 'See the timeout of the client, or remove what makes it wait (latency, a fault).',
      }
    case 'unknown':
      return {
        rule: `Whether the client received the response is unknown: its replica is gone, or had returned 503 by then.${because}`,
        help: 'A client that received nothing, or 503, retries. The request was executed all the same.',
      }
    default:
      return why
  }
}

type Explain = (exchange: Exchange, plan: string | undefined) => Explanation

const BY_REASON: Readonly<Record<NonNullable<Exchange['reason']>, Explain>> = {
  'quota-minute': (exchange, plan) => spent('minute', exchange, plan),
  'quota-day': (exchange, plan) => spent('day', exchange, plan),
  ban: (exchange) => ({
    rule: `The key ${exchange.key} is banned: it kept sending requests before Retry-After had passed, is always banned, or was banned by hand.${waitSentence(exchange)}`,
    help: 'Wait, lift the ban (Keys), or move the clock. A client that waits as Retry-After says is never banned.',
  }),
  storm: (exchange) => ({
    rule: `A storm refused it: the service sheds load, whatever the quota says.${waitSentence(exchange)}`,
    help: 'Wait as Retry-After says and try again, with growing delays; or stop the storm.',
  }),
  forced: ({ status }) => ({
    rule: `The request itself asked for ${status ?? 'this'}, with the header Prefer: code=….`,
    help: 'Leave the header out. It changed nothing else.',
  }),
  fault: ({ status, fault, ended }) => ({
    rule:
      fault === 'hang'
        ? 'A fault rule leaves it without a response, for as long as the client waits.'
        : ended === null
          ? `A fault rule breaks this response: ${fault ?? 'a status'}.`
          : status === null
            ? 'A fault rule broke the connection, so the client got no response.'
            : `A fault rule broke this response, status ${status}.`,
    help: 'Remove the rule (Faults), or let the client try again if the operation can be repeated.',
  }),
  sunset: () => ({
    rule: 'The operation has been removed: the clock is past its removal date, or sunset is set to "after".',
    help: 'Use what its message names instead, or set sunset to "before".',
  }),
  unavailable: () => ({
    rule: 'The log that the replicas of this sandbox share could not be reached.',
    help: 'Try again in a moment. GET /health says what is wrong.',
  }),
  brownout: () => ({
    rule: 'A brownout: the deprecated operation is gone for the first 5 minutes of every half hour.',
    help: 'Use what its message names instead, move the clock, or set sunset to "auto".',
  }),
  mock: ({ operation }) => ({
    rule: `The operation ${operation ?? ''} is mocked: it answers from the contract’s examples and schemas, and keeps no records.`,
    help: 'The docs page names the reason. Describe the operation as one of a resource, and the sandbox keeps its records.',
  }),
  upstream: ({ status, response }) => {
    // Only the sandbox sends this header: a response of the real service passes without it.
    if (response.headers['x-sandbox-reason'] !== 'upstream')
      return {
        rule: 'The real service behind the sandbox answered this.',
        help: 'See its own documentation; a clock or a plan of the sandbox does not reach it.',
      }
    return status === 403
      ? {
          rule: 'The sandbox sends no writes to the real service.',
          help: 'Its message names the option that allows it.',
        }
      : { rule: 'The real service behind the sandbox gave no usable response.', help: 'Its message says why.' }
  },
}

function spent(window: 'minute' | 'day', exchange: Exchange, plan: string | undefined): Explanation {
  const { 'x-ratelimit-limit': limit, 'x-ratelimit-reset': reset } = exchange.response.headers
  const whose =
    plan === undefined ? 'of a caller without a valid key' : `of the key ${exchange.key} on the plan ${plan}`
  const until = Number(reset) > 0 ? ` The window resets at ${timeText(Number(reset) * 1000)} UTC.` : ''
  return {
    rule: `The ${window}'s ${limit === undefined ? '' : `${limit} `}requests ${whose} are spent.${until}`,
    help: `Wait as Retry-After says${waitText(exchange)}, move the clock by 1 ${window}, or choose a larger plan or limits.`,
  }
}

const BY_STATUS: Readonly<Record<number, Explanation>> = {
  400: { rule: 'The request breaks the contract.', help: 'The response’s message names every violation.' },
  401: {
    rule: 'No valid API key was sent.',
    help: 'Send one as Authorization: Bearer <API key>; for example the key sandbox.',
  },
  404: { rule: 'There is no such pet.', help: 'See Pets for the known ids.' },
  405: { rule: 'The path has no such method.', help: 'The response’s Allow header names the ones it has.' },
  429: { rule: 'The rate limit is used up.', help: 'Wait as Retry-After says.' },
}

function byStatus({ status, operation }: Exchange): Explanation {
  if (status === null) return { rule: 'The client got no response.' }
  if (status === 404 && operation === null)
    return { rule: 'The contract has no such path.', help: 'See the docs page for its paths.' }
  if (status < 400) return { rule: 'Answered as the contract says.' }
  return BY_STATUS[status] ?? { rule: 'Answered by the sandbox itself.', help: 'The response’s message says why.' }
}

function waitText({ response }: Exchange): string {
  const wait = response.headers['retry-after']
  if (wait === undefined) return ''
  return /^\d+$/.test(wait) ? ` (${wait} s)` : ` (${wait})`
}

function waitSentence(exchange: Exchange): string {
  const wait = waitText(exchange)
  return wait === '' ? '' : ` It said to wait${wait}.`
}

/**
 * The early requests of a key that led to a ban; the last of them caused it.
 *
 * @param exchanges the known ones, oldest first
 * @param banned    any exchange that the ban refused
 * @param banAfter  number of early requests that lead to a ban
 * @returns ids, oldest first; none if the client did not cause the ban, or too little is known
 * @source docs/behaviour.md, "when a key is banned"
 */
export function ledToBan(exchanges: readonly Exchange[], banned: Exchange, banAfter: number): readonly number[] {
  let waitUntil = 0
  let early: readonly { readonly id: number; readonly at: number; readonly until: number }[] = []
  let led: readonly number[] = []
  let isBanned = false
  for (const { id, at: text, key, reason, status, response } of exchanges) {
    if (key !== banned.key || id > banned.id) continue
    const at = Date.parse(text)
    early = early.filter((one) => one.until > at && one.at > at - MINUTE_MS)
    if (reason === 'ban') {
      if (!isBanned) led = [...early.map((one) => one.id).slice(1 - banAfter), id]
      isBanned = true
      early = []
      continue
    }
    isBanned = false
    const wait = readRetryAfter(response.headers['retry-after'], response.headers.date, at)
    if (status !== 429 || reason === 'forced' || wait === undefined) continue
    const until = at + wait
    if (waitUntil > at) early = [...early, { id, at, until }]
    waitUntil = Math.max(waitUntil, until)
  }
  return led.length === banAfter ? led : []
}
