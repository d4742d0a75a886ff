import { MAX_SENDERS } from '../domain/settings.js'
import { addressOf } from '../domain/space-address.js'
import { formatSpan } from '../domain/time.js'
import { productOf } from '../domain/user-agent.js'
import type { ConductRule, Finding, Otherwise } from './conduct-view.js'
import type { Findings, Group } from './findings.js'

/** In the order of the rules, and within a rule by first occurrence. */
export function viewFindings<Rule extends ConductRule>(
  findings: Findings,
  rules: readonly Rule[],
): readonly Finding<Rule>[] {
  const groups = findings.groups.map((group) => ({ ...group, rule: provenRule(group) }))
  return rules.flatMap((rule) => groups.filter((group) => group.rule === rule).map((group) => viewOf(rule, group)))
}

/** Only probable if its requests suggest that several senders share the key, each of which waits. */
function provenRule({ rule, sharing, senders }: Group): ConductRule {
  return rule === 'early-retry' && sharing > 0 && senders <= MAX_SENDERS ? 'early-retry-likely' : rule
}

function viewOf<Rule extends ConductRule>(rule: Rule, group: Group): Finding<Rule> {
  const { key, sender, operation, count, exchanges, userAgents, firstAt, lastAt, request, disobeyed } = group
  const counts = new Map<string, number>()
  for (const [userAgent, times] of userAgents) {
    const product = productOf(userAgent)
    if (product !== '') counts.set(product, (counts.get(product) ?? 0) + times)
  }
  return {
    rule,
    key,
    sender,
    operation,
    message: group.message === '' ? textOf(group) : group.message,
    request,
    disobeyed: disobeyed && {
      exchange: disobeyed.exchange,
      at: new Date(disobeyed.at).toISOString(),
      status: disobeyed.status,
      retryAfter: disobeyed.retryAfter,
      laterMs: Math.round(disobeyed.laterMs),
    },
    count,
    clients: [...counts.keys()],
    countByClient: Object.fromEntries(counts),
    exchanges: [...exchanges],
    firstAt: new Date(firstAt).toISOString(),
    lastAt: new Date(lastAt).toISOString(),
    ...otherwise(group),
  }
}

function otherwise({ sender, senders }: Group): { readonly otherwise?: Otherwise } {
  if (sender !== '' || senders === 0 || senders > MAX_SENDERS) return {}
  return { otherwise: { senders } }
}

/** What a client did, the evidence, and what to do: complete without the sandbox. */
function textOf({ rule, sender, operation, count, request, disobeyed, senders, tries, isMixed }: Group): string {
  const [done, advice] = WORDS[rule] ?? []
  if (disobeyed === null || done === undefined) return ''
  const target = `${request.method} ${addressOf(request)}`
  const what = isMixed && operation !== null ? `${target} (and other requests of ${operation})` : target
  const { exchange, at, status, retryAfter, laterMs, isHeldBack } = disobeyed
  const time = new Date(at).toISOString().slice(11, 23)
  const wait = retryAfter === null ? 'without Retry-After' : `with Retry-After: ${retryAfter}`
  const response = status === 0 ? (rule.startsWith('repeated-write') ? 'lost' : 'broken') : `${status} ${wait}`
  return [
    `${what} ${done(count === 1 ? '' : ` ${count} times`, tries)}.`,
    `Response ${exchange} (${time}) was ${response}; the next request came ${formatSpan(laterMs)} later.`,
    advice,
    ...(isHeldBack
      ? [
          "Browsers delay a GET while the same one is in flight (React's StrictMode sends two): count such a page as two senders.",
        ]
      : []),
    ...(sender === '' && senders > 1 && senders <= MAX_SENDERS ? [sharingAdvice(senders)] : []),
  ].join(' ')
}

/** A larger number is rather a loop of one client. */
const MAX_ADVISED_SENDERS = 10

/** @param senders the smallest number that explains a finding, from 2 */
export function sharingAdvice(senders: number): string {
  return senders <= MAX_ADVISED_SENDERS
    ? `If ${senders} clients share this key or a proxy is in between, use --senders ${senders}.`
    : 'If several clients share this key, name each of them, as in sandbox~+w1.'
}

type Words = readonly [done: (times: string, tries: number) => string, advice: string]

const WAIT = 'Wait as long as Retry-After says; pause queues until then.'

const BACK_OFF = 'Wait before each retry, longer each time.'

const READ_BACK = 'Read the collection before repeating a write whose response was lost.'

/** What a client does instead; undefined for rules about single requests, whose message says it. */
export function adviceOn(rule: ConductRule): string | undefined {
  return WORDS[rule]?.[1]
}

/** Of the rules about coming back. */
const WORDS: { readonly [Rule in ConductRule]?: Words } = {
  'early-retry': [(times) => `was retried too early${times}`, WAIT],
  'early-retry-likely': [(times) => `was probably retried too early${times}`, WAIT],
  'no-backoff': [(_, tries) => `was retried ${tries} times in a row without a pause`, BACK_OFF],
  'no-backoff-likely': [(_, tries) => `was probably retried ${tries} times in a row without a pause`, BACK_OFF],
  'repeated-write': [(times) => `was repeated${times} although it had been stored`, READ_BACK],
  'repeated-write-likely': [(times) => `was probably repeated${times} although it had been stored`, READ_BACK],
  'weak-backoff': [(times) => `was retried${times} at intervals that do not grow`, BACK_OFF],
  'request-while-banned': [(times) => `was sent${times} while its key was banned`, 'Wait until the ban is over.'],
  'request-while-limited': [
    (times) => `was sent${times} while its key had to wait`,
    'Do not use the key until the wait is over.',
  ],
}
