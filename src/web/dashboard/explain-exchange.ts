import { formatSpan } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { timeText } from './clock-text.js'

/** Why a response is what it is, for people. */
export interface Explanation {
  /** The rule that made it. */
  readonly rule: string
  /** What would help, undefined where nothing needs to. */
  readonly help?: string
}

/**
 * Explains an exchange: the rule that made its answer, and what would help.
 *
 * @param plan of the key, undefined where the key is none of the sandbox's
 */
export function explainExchange(exchange: Exchange, plan: string | undefined): Explanation {
  const { reason, ended, durationMs, status } = exchange
  const why = reason === null ? byStatus(exchange) : BY_REASON[reason](exchange, plan)
  if (ended === null)
    return {
      rule: reason === null ? 'It is under way: nothing has been answered yet.' : `It is under way. ${why.rule}`,
      ...(reason === null || why.help === undefined ? {} : { help: why.help }),
    }
  if (ended === 'left') {
    const what = status === null ? 'before anything was answered' : 'before all of the answer had left'
    return {
      rule: `The client left after ${formatSpan(durationMs)}, ${what}.${reason === null ? '' : ` ${why.rule}`}`,
      help: 'See the timeout of the client; or take away what makes it wait (latency, a fault).',
    }
  }
  if (ended === 'unknown')
    return {
      rule: `Whether its client heard the answer is unknown: the replica that was asked is gone, or has answered 503 by then.${reason === null ? '' : ` ${why.rule}`}`,
      help: 'A client that heard nothing, or 503, asks again; what it had asked for was done all the same.',
    }
  return why
}

const BY_REASON: Readonly<
  Record<NonNullable<Exchange['reason']>, (exchange: Exchange, plan: string | undefined) => Explanation>
> = {
  'quota-minute': (exchange, plan) => spent('minute', exchange, plan),
  'quota-day': (exchange, plan) => spent('day', exchange, plan),
  ban: (exchange) => ({
    rule: `The key ${exchange.key} is banned: it kept sending requests before Retry-After had passed, is banned always, or was banned by hand.${waitOf(exchange)}`,
    help: 'Wait, lift the ban (Keys), or move the clock. A client that waits as Retry-After says is never banned.',
  }),
  storm: (exchange) => ({
    rule: `A storm refused it: the service sheds load, whatever the quota says.${waitOf(exchange)}`,
    help: 'Wait as Retry-After says and try again, with growing delays; or stop the storm.',
  }),
  forced: ({ status }) => ({
    rule: `The request itself asked for ${status ?? 'this'}, with the header Prefer: code=….`,
    help: 'Leave the header out. Nothing else was touched by it.',
  }),
  fault: ({ status, fault, ended }) => ({
    rule:
      fault === 'hang'
        ? 'A fault rule leaves it without an answer, for as long as the client waits.'
        : ended === null
          ? `A fault rule spoils this response: ${fault ?? 'a status'}.`
          : status === null
            ? 'A fault rule broke the connection, so the client got no response.'
            : `A fault rule spoilt this response, status ${status}.`,
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
  upstream: ({ status, response }) => {
    // Only the sandbox says this of an answer: one of the real service passes without.
    if (response.headers['x-sandbox-reason'] !== 'upstream')
      return {
        rule: 'The real service behind the sandbox answered this.',
        help: 'Its own documents say what would help; a clock or a plan of the sandbox does not reach it.',
      }
    return status === 403
      ? {
          rule: 'The real service behind the sandbox is not written to.',
          help: 'Its message says which option has writes sent on.',
        }
      : { rule: 'The real service behind the sandbox gave no answer that can be used.', help: 'Its message says why.' }
  },
}

function spent(window: 'minute' | 'day', exchange: Exchange, plan: string | undefined): Explanation {
  const { headers } = exchange.response
  const limit = headers['x-ratelimit-limit']
  const reset = Number(headers['x-ratelimit-reset'])
  const whose =
    plan === undefined ? 'of a caller without a valid key' : `of the key ${exchange.key} on the plan ${plan}`
  const until = reset > 0 ? ` The window resets at ${timeText(reset * 1000)} UTC.` : ''
  return {
    rule: `The ${window}'s ${limit ?? ''} requests ${whose} are spent.${until}`.replace('  ', ' '),
    help: `Wait as Retry-After says${waitIn(exchange)}, move the clock by 1 ${window}, or choose a larger plan or limits.`,
  }
}

function byStatus({ status, operation }: Exchange): Explanation {
  switch (status) {
    case null:
      return { rule: 'The client got no response.' }
    case 400:
      return { rule: 'The request breaks the contract.', help: 'The response’s message names every violation.' }
    case 401:
      return {
        rule: 'No valid API key was sent.',
        help: 'Send one as Authorization: Bearer <API key>; for example the key sandbox.',
      }
    case 404:
      return operation === null
        ? { rule: 'The contract has no such path.', help: 'See the docs page for its paths.' }
        : { rule: 'There is no such pet.', help: 'See Pets for the known ids.' }
    case 405:
      return { rule: 'The path has no such method.', help: 'The response’s Allow header names the ones it has.' }
    case 429:
      return { rule: 'The rate limit is used up.', help: 'Wait as Retry-After says.' }
    default:
      return status < 400
        ? { rule: 'Answered as the contract says.' }
        : { rule: 'Answered by the sandbox itself.', help: 'The response’s message says why.' }
  }
}

function waitIn({ response }: Exchange): string {
  const wait = response.headers['retry-after']
  if (wait === undefined) return ''
  return /^\d+$/.test(wait) ? ` (${wait} s)` : ` (${wait})`
}

function waitOf(exchange: Exchange): string {
  const wait = waitIn(exchange)
  return wait === '' ? '' : ` It said to wait${wait}.`
}
