import { fixOfCode, fixRefusal } from '../../advice/fixes.js'
import { secondsText } from '../../conduct/verdict-words.js'
import { counted } from '../../domain/numbers.js'
import { withoutOperation } from '../../domain/problems.js'
import { formatSpan, readRetryAfter } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { endText, errorIn } from '../format.js'
import { banOf, type LoggedBan, type Obstacle, obstacleText } from './obstacles.js'
import { instantText } from './texts.js'

export interface Facts {
  readonly plan?: string | null | undefined
  readonly always?: 'limited' | 'banned' | 'revoked' | null | undefined
  readonly latency?: string | null | undefined
  readonly bans?: readonly LoggedBan[]
  /** By the space's clock. Default: that of the exchange. */
  readonly now?: number
  /** What refuses requests of its key now; undefined if unknown. */
  readonly obstacles?: readonly Obstacle[]
  /** Ids of the fault rules that are not used up; undefined if unknown. */
  readonly rules?: readonly string[]
}

export interface Explanation {
  /** A few words for a row of the list; empty for a response as usual. */
  readonly cause: string
  readonly rule: string
  readonly help?: string
}

export function explainExchange(exchange: Exchange, facts: Facts = {}): Explanation {
  const { created, status, ended } = exchange
  const explanation = explain(exchange, facts)
  const hasArrived = ended === null || (ended === 'sent' && status !== null && status < 300)
  if (created === undefined || hasArrived) return explanation
  return {
    ...explanation,
    help: `The record was stored as ${created}, but its response never arrived. A retry creates a second one: read first.`,
  }
}

function explain(exchange: Exchange, facts: Facts): Explanation {
  const { reason, ended, durationMs, status } = exchange
  const why = reason === null ? byStatus(exchange, facts) : withFix(exchange, facts, BY_REASON[reason](exchange, facts))
  const because = reason === null ? '' : ` ${why.rule}`
  switch (ended) {
    case null:
      return inProgress(exchange, why, facts)
    case 'left':
      return {
        cause: `client left${status === null ? '' : ' mid-body'}`,
        rule: `The client left after ${formatSpan(durationMs)}, ${status === null ? 'before the response' : `during the body of its ${status}`}.${because}`,
        help: 'Increase the timeout of the client, or remove the delay (latency, a fault).',
      }
    case 'cut':
      if (reason !== null || status === null) return why
      return {
        cause: 'cut off mid-body',
        rule: `The client got a ${status} and a part of its body, after ${formatSpan(durationMs)}.`,
      }
    case 'unknown':
      return {
        cause: 'end unknown',
        rule: `It is unknown whether the client received the response: its replica is gone, or had already returned a 503.${because}`,
        help: 'The request was executed. A client that received nothing, or a 503, will retry.',
      }
    default:
      return why
  }
}

/** Prefers the help that follows from the exchange itself. */
function withFix(
  exchange: Exchange,
  { always, obstacles, now = 0 }: Facts,
  { help, ...why }: Explanation,
): Explanation {
  const { reason } = exchange
  const isRefused = reason === 'ban' || reason === 'storm' || reason?.startsWith('quota') === true
  const isAlwaysRefused = always != null && isRefused && reason !== 'storm'
  if (isRefused && !isAlwaysRefused && obstacles?.every((obstacle) => obstacle.reason !== reason)) {
    const [other] = obstacles
    return { ...why, help: `This is over. ${other === undefined ? 'Retry.' : `Now: ${obstacleText(other, now)}.`}` }
  }
  // A ban outlasts the wait that it began in.
  const last = isRefused ? obstacles?.find(({ isWhole }) => isWhole) : undefined
  const fix = help ?? fixRefusal({ reason: last?.reason ?? reason, isAlwaysRefused })?.fix
  return { ...why, ...(fix !== undefined && { help: asText(fix) }) }
}

/** Without Markdown. */
function asText(markdown: string): string {
  return markdown.replaceAll('`', '').replace(/\[(.*?)\]\(.*?\)/g, '$1')
}

function inProgress({ reason, fault, operation }: Exchange, why: Explanation, { latency }: Facts): Explanation {
  if (reason !== null && fault !== null) return why
  const parts = latency?.split(',') ?? []
  const part =
    parts.find((value) => value.startsWith(`${operation}=`)) ?? parts.find((value) => /^(?:\*=|[^=]*$)/.test(value))
  const delay = part === undefined ? '' : `: latency ${part.slice(part.indexOf('=') + 1)}`
  return { cause: `waiting${delay}`, rule: `Waiting${delay}. No response yet.` }
}

type Explain = (exchange: Exchange, facts: Facts) => Explanation

const BY_REASON: Readonly<Record<NonNullable<Exchange['reason']>, Explain>> = {
  'quota-minute': (exchange, facts) => spent('minute', exchange, facts),
  'quota-day': (exchange, facts) => spent('day', exchange, facts),
  ban: explainBan,
  storm: (exchange) => ({
    cause: 'storm',
    rule: `A storm refused the request: the service sheds load, independent of quotas.${waitSentence(exchange)}`,
  }),
  forced: ({ status }) => ({
    cause: `forced ${status ?? ''}`.trim(),
    rule: `The request forced ${status ?? 'this'} with the header Prefer: code=….`,
  }),
  fault: explainFault,
  sunset: () => ({
    cause: 'operation removed',
    rule: 'The operation has been removed: the clock is past its removal date, or sunset is set to "after".',
  }),
  unavailable: () => ({
    cause: 'log unreachable',
    rule: 'The shared log of the replicas could not be reached.',
  }),
  brownout: () => ({
    cause: 'brownout',
    rule: 'A brownout: the deprecated operation is removed for the first 5 minutes of every half hour.',
  }),
  mock: ({ operation }) => ({
    cause: 'mocked',
    rule: `The operation ${operation ?? ''} is mocked: its responses are built from the contract’s examples and schemas, and it keeps no records.`,
  }),
  replay: () => ({
    cause: 'replayed',
    rule: 'An earlier request had the same Idempotency-Key, so this is its response again. Nothing was done twice.',
  }),
  upstream: ({ status, response }) => {
    // Responses of the real service do not have this header.
    if (response.headers['x-sandbox-reason'] !== 'upstream')
      return {
        cause: 'upstream',
        rule: 'The response is from the real service behind the sandbox.',
        help: 'See its documentation. Clock and plans of the sandbox do not affect it.',
      }
    return status === 403
      ? { cause: 'write refused', rule: 'The sandbox sends no writes to the real service.' }
      : { cause: 'upstream failed', rule: 'The real service did not send a valid response.' }
  },
}

function spent(window: 'minute' | 'day', exchange: Exchange, { plan, always, now = 0 }: Facts): Explanation {
  const { 'x-ratelimit-limit': limit, 'x-ratelimit-reset': header } = exchange.response.headers
  const cause = `${limit === undefined ? window : `${limit}/${window === 'minute' ? 'min' : 'day'}`} quota used up`
  if (always === 'limited') return { cause, rule: `The quota of the key ${exchange.key} is always used up.` }
  const whose =
    plan === undefined
      ? 'of a caller without a valid key'
      : `of the key ${exchange.key}${plan === null ? '' : ` on the plan ${plan}`}`
  const reset = Number(header) * 1000
  const [is, resets] = reset > 0 && reset <= now ? ['was', 'was reset'] : ['is', 'resets']
  const until = reset > 0 ? ` The window ${resets} at ${instantText(reset, Date.parse(exchange.at))}.` : ''
  return {
    cause,
    rule: `The quota ${whose}${limit === undefined ? '' : `, ${counted(Number(limit), 'request')} a ${window},`} ${is} used up.${until}`,
  }
}

function explainBan(exchange: Exchange, { always, bans = [], now = 0 }: Facts): Explanation {
  const { key, at } = exchange
  if (always === 'banned') return { cause: 'always banned', rule: `The key ${key} is always banned.` }
  const ban = banOf(exchange, bans)
  const why =
    ban === undefined
      ? ''
      : ban.early === undefined
        ? ' It was banned manually.'
        : ` It sent ${counted(ban.early, 'request')} before Retry-After had passed.`
  if (ban?.isLifted)
    return { cause: 'banned, lifted since', rule: `The key ${key} was banned.${why} The ban has been lifted.` }
  const until = ban?.until ?? retryAt(exchange)
  if (until === undefined) return { cause: 'banned', rule: `The key ${key} is banned.${why}` }
  return {
    cause: `banned until ${endText(until)}`,
    rule: `The key ${key} ${until <= now ? 'was' : 'is'} banned until ${instantText(until, Date.parse(at))}.${why}`,
  }
}

function explainFault({ status, fault, rule, ruleId, ended, durationMs }: Exchange, { rules }: Facts): Explanation {
  const by = rule === undefined ? 'A fault rule' : `The fault rule ${rule}`
  const part = `${status ?? 'a status'} and a part of its body`
  const did =
    fault === 'hang'
      ? 'never sends the response.'
      : ended === null
        ? fault === 'slow-body'
          ? 'sends the body over 10 seconds. The client has the status already.'
          : `breaks this response: ${fault ?? 'a status'}.`
        : status === null
          ? 'broke the connection, so the client got no response.'
          : ended === 'cut'
            ? `cut the response off. The client got ${part} after ${formatSpan(durationMs)}.`
            : `broke this response, status ${status}.`
  return {
    cause: `fault ${rule ?? fault ?? ''}`.trim(),
    rule: `${by} ${did}`,
    ...(rules !== undefined &&
      !rules.includes(ruleId ?? '') && {
        help: 'The rule is used up or removed. Retry if the operation is idempotent.',
      }),
  }
}

function byStatus({ status, operation, key, response }: Exchange, { always }: Facts): Explanation {
  if (status === null) return { cause: 'no response', rule: 'The client got no response.' }
  if (status < 400) return { cause: '', rule: 'The response follows the contract.' }
  const { code, message } = errorIn(response.body)
  const said = withoutOperation(operation, message)
  const fix = fixOfCode(code)
  return {
    ...(status === 401
      ? explainKey(key, always)
      : {
          cause: said.replace(/\.$/, ''),
          rule: said === '' ? `The sandbox returned ${status}.` : said.replace(/(?<![.!?])$/, '.'),
        }),
    ...(fix !== undefined && { help: asText(fix) }),
  }
}

function explainKey(key: string, always: Facts['always']): Explanation {
  if (key === 'none') return { cause: 'no API key', rule: 'The request has no API key.' }
  if (always === 'revoked') return { cause: 'revoked key', rule: `The key ${key} is revoked.` }
  return { cause: 'unknown key', rule: 'The sandbox does not know this API key.' }
}

/** The end of the wait that a response asked for; for a quota its reset, as Retry-After is rounded up. */
export function retryAt({ at, reason, response: { headers } }: Exchange): number | undefined {
  const wait = readRetryAfter(headers['retry-after'], headers.date, Date.parse(at))
  if (wait === undefined) return undefined
  const end = Date.parse(at) + wait
  const reset = Number(headers['x-ratelimit-reset']) * 1000
  return reason?.startsWith('quota') && end - reset < 1000 ? Math.min(end, reset) : end
}

function waitSentence({ response }: Exchange): string {
  const wait = response.headers['retry-after']
  return wait === undefined ? '' : ` It asks to wait (${secondsText(wait)}).`
}
