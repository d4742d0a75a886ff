import { formatSpan, MINUTE_MS, readRetryAfter } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { timeText } from '../format.js'

export interface Explanation {
  readonly rule: string
  readonly help?: string
}

/** @param plan undefined for an unknown key */
export function explainExchange(exchange: Exchange, plan: string | undefined): Explanation {
  const { reason, ended, durationMs, status } = exchange
  const why = reason === null ? byStatus(exchange) : BY_REASON[reason](exchange, plan)
  const because = reason === null ? '' : ` ${why.rule}`
  switch (ended) {
    case null:
      return reason === null
        ? { rule: 'The request is in progress. No response was sent yet.' }
        : { ...why, rule: `The request is in progress.${because}` }
    case 'left':
      return {
        rule: `The client left after ${formatSpan(durationMs)}, ${status === null ? 'before the response' : 'before the end of the response'}.${because}`,
        help: 'Increase the timeout of the client, or remove the delay (latency, a fault).',
      }
    case 'unknown':
      return {
        rule: `It is unknown whether the client received the response: its replica is gone, or had already returned a 503.${because}`,
        help: 'The request was executed. A client that received nothing, or a 503, will retry.',
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
    rule: `The key ${exchange.key} is banned: it sent requests before the end of Retry-After, is always banned, or was banned manually.${waitSentence(exchange)}`,
    help: 'Wait, lift the ban (Keys), or move the clock. A client that waits for Retry-After is never banned.',
  }),
  storm: (exchange) => ({
    rule: `A storm refused the request: the service sheds load, independent of quotas.${waitSentence(exchange)}`,
    help: 'Wait for Retry-After and retry with growing delays, or stop the storm.',
  }),
  forced: ({ status }) => ({
    rule: `The request forced ${status ?? 'this'} with the header Prefer: code=….`,
    help: 'Remove the header. It had no other effect.',
  }),
  fault: ({ status, fault, ended }) => ({
    rule:
      fault === 'hang'
        ? 'A fault rule never sends the response.'
        : ended === null
          ? `A fault rule breaks this response: ${fault ?? 'a status'}.`
          : status === null
            ? 'A fault rule broke the connection, so the client got no response.'
            : `A fault rule broke this response, status ${status}.`,
    help: 'Remove the rule (Faults), or retry if the operation is idempotent.',
  }),
  sunset: () => ({
    rule: 'The operation has been removed: the clock is past its removal date, or sunset is set to "after".',
    help: 'Use the replacement in the message, or set sunset to "before".',
  }),
  unavailable: () => ({
    rule: 'The shared log of the replicas could not be reached.',
    help: 'Retry later. GET /health explains the problem.',
  }),
  brownout: () => ({
    rule: 'A brownout: the deprecated operation is removed for the first 5 minutes of every half hour.',
    help: 'Use the replacement in the message, move the clock, or set sunset to "auto".',
  }),
  mock: ({ operation }) => ({
    rule: `The operation ${operation ?? ''} is mocked: its responses are built from the contract’s examples and schemas, and it keeps no records.`,
    help: 'The docs page names the reason. Describe the operation as one of a resource, and the sandbox keeps its records.',
  }),
  upstream: ({ status, response }) => {
    // Responses of the real service do not have this header.
    if (response.headers['x-sandbox-reason'] !== 'upstream')
      return {
        rule: 'The response is from the real service behind the sandbox.',
        help: 'See its documentation. Clock and plans of the sandbox do not affect it.',
      }
    return status === 403
      ? {
          rule: 'The sandbox sends no writes to the real service.',
          help: 'The message has the option that allows it.',
        }
      : { rule: 'The real service did not send a valid response.', help: 'The message has the reason.' }
  },
}

function spent(window: 'minute' | 'day', exchange: Exchange, plan: string | undefined): Explanation {
  const { 'x-ratelimit-limit': limit, 'x-ratelimit-reset': reset } = exchange.response.headers
  const whose =
    plan === undefined ? 'of a caller without a valid key' : `of the key ${exchange.key} on the plan ${plan}`
  const until = Number(reset) > 0 ? ` The window resets at ${timeText(Number(reset) * 1000)} UTC.` : ''
  return {
    rule: `The ${window}'s ${limit === undefined ? '' : `${limit} `}requests ${whose} are spent.${until}`,
    help: `Wait for Retry-After${waitText(exchange)}, move the clock by 1 ${window}, or choose a larger plan or limits.`,
  }
}

const BY_STATUS: Readonly<Record<number, Explanation>> = {
  400: { rule: 'The request breaks the contract.', help: 'The message lists every violation.' },
  401: {
    rule: 'The request has no valid API key.',
    help: 'Send Authorization: Bearer <API key>, for example with the key sandbox.',
  },
  404: { rule: 'The pet does not exist.', help: 'See Pets for all ids.' },
  405: { rule: 'The path does not support this method.', help: 'The Allow header lists the supported methods.' },
  429: { rule: 'The rate limit is used up.', help: 'Wait for Retry-After.' },
}

function byStatus({ status, operation }: Exchange): Explanation {
  if (status === null) return { rule: 'The client got no response.' }
  if (status === 404 && operation === null)
    return { rule: 'The contract does not have this path.', help: 'See the docs page for all paths.' }
  if (status < 400) return { rule: 'The response follows the contract.' }
  return BY_STATUS[status] ?? { rule: 'The response is from the sandbox itself.', help: 'The message has the reason.' }
}

function waitText({ response }: Exchange): string {
  const wait = response.headers['retry-after']
  if (wait === undefined) return ''
  return /^\d+$/.test(wait) ? ` (${wait} s)` : ` (${wait})`
}

function waitSentence(exchange: Exchange): string {
  const wait = waitText(exchange)
  return wait === '' ? '' : ` It asks to wait${wait}.`
}

/**
 * The early requests of a key that led to a ban; the last of them caused it.
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
