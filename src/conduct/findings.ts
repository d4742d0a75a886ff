import { MAX_SENDERS } from '../domain/settings.js'
import { type EpochMs, SECOND_MS } from '../domain/time.js'
import type { ConductRule, Finding, Otherwise } from './conduct-view.js'
import type { Disobeyed, FindingDraft } from './finding-drafts.js'
import { toPlain } from './plain.js'

/** Per rule. Further groups are counted together, to bound memory. */
const GROUPS_A_RULE = 200
const EXCHANGES_A_GROUP = 20
const LONGEST_TEXT = 200

interface Occurrence extends FindingDraft {
  readonly key: string
  readonly sender: string
  readonly operation: string | null
  readonly request: Finding['request']
}

/** Occurrences with the same rule, key, sender and detail. */
export interface Group extends Pick<Occurrence, 'rule' | 'key' | 'sender' | 'operation' | 'request'> {
  /** Unique within the rule. */
  readonly name: string
  message: string
  count: number
  readonly exchanges: number[]
  readonly firstAt: EpochMs
  lastAt: EpochMs
  /** The largest `senders` of its occurrences; 0 if it does not matter. */
  senders: number
  tries: number
  isShared: boolean
  /** Of the first occurrence. */
  readonly disobeyed: Disobeyed | null
  isMixed: boolean
}

export class Findings {
  readonly #rules = new Map<ConductRule, Map<string, Group>>()

  add(occurrence: Occurrence, exchange: number, at: EpochMs): Group {
    const group = groupFor(this.#groups(occurrence.rule), occurrence, at)
    group.message = group.name === REST ? REST_MESSAGE : shortened(occurrence.message)
    group.senders = Math.max(group.senders, occurrence.senders ?? 0)
    group.tries = Math.max(group.tries, occurrence.tries ?? 0)
    group.isShared ||= occurrence.isShared === true
    group.isMixed ||= !isSameRequest(group.request, occurrence.request)
    countAgain(group, exchange, at)
    return group
  }

  /** In the order of the rules, then by first occurrence. */
  of<Rule extends ConductRule>(rules: readonly Rule[]): readonly Finding<Rule>[] {
    return rules.flatMap((rule) => [...(this.#rules.get(rule)?.values() ?? [])].map((group) => viewOf(rule, group)))
  }

  save(): readonly Group[] {
    return [...this.#rules.values()].flatMap((groups) => [...groups.values()].map(toPlain))
  }

  restore(saved: readonly Group[]): void {
    this.#rules.clear()
    for (const group of saved) this.#groups(group.rule).set(group.name, toPlain(group))
  }

  #groups(rule: ConductRule): Map<string, Group> {
    const groups = this.#rules.get(rule) ?? new Map<string, Group>()
    this.#rules.set(rule, groups)
    return groups
  }
}

export function countAgain(group: Group, exchange: number, at: EpochMs): void {
  group.count++
  group.lastAt = at
  if (group.exchanges.length < EXCHANGES_A_GROUP) group.exchanges.push(exchange)
}

function viewOf<Rule extends ConductRule>(rule: Rule, group: Group): Finding<Rule> {
  const { key, sender, operation, count, exchanges, firstAt, lastAt, request, disobeyed } = group
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
    exchanges: [...exchanges],
    firstAt: new Date(firstAt).toISOString(),
    lastAt: new Date(lastAt).toISOString(),
    ...otherwise(group),
  }
}

function otherwise({ rule, sender, senders }: Group): { readonly otherwise?: Otherwise } {
  if (sender !== '' || senders === 0 || senders > MAX_SENDERS) return {}
  return { otherwise: { senders, rule: rule === 'early-retry-likely' && senders === 1 ? 'early-retry' : null } }
}

export function isSameRequest(one: Finding['request'], other: Finding['request']): boolean {
  return one.path === other.path && one.query === other.query && one.method === other.method
}

const REST = 'others'
const REST_MESSAGE = 'Further occurrences; only their number is recorded.'

function groupFor(groups: Map<string, Group>, occurrence: Occurrence, at: EpochMs): Group {
  const { rule, key, sender, operation, detail, request, disobeyed = null } = occurrence
  const name = `${key}\n${sender}\n${operation ?? ''}\n${shortened(detail)}`
  const known = groups.get(name)
  if (known !== undefined) return known
  const isFull = groups.size >= GROUPS_A_RULE
  const rest = isFull ? groups.get(REST) : undefined
  if (rest !== undefined) return rest
  const group: Group = {
    rule,
    ...(isFull ? { name: REST, key: REST, sender: '', operation: null } : { name, key, sender, operation }),
    message: '',
    request: { ...request, path: shortened(request.path), query: shortened(request.query) },
    disobeyed,
    isShared: false,
    isMixed: false,
    tries: 0,
    count: 0,
    exchanges: [],
    firstAt: at,
    lastAt: at,
    senders: 0,
  }
  groups.set(group.name, group)
  return group
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text
}

/** The violation, its evidence and advice, understandable without the sandbox. */
function textOf({
  rule,
  sender,
  operation,
  count,
  request,
  disobeyed,
  senders,
  tries,
  isShared,
  isMixed,
}: Group): string {
  const [done, advice] = WORDS[rule] ?? []
  if (disobeyed === null || done === undefined) return ''
  const { method, path, query } = request
  const target = `${method} ${path}${query === '' ? '' : `?${query}`}`
  const what = isMixed && operation !== null ? `${target} (and other requests of ${operation})` : target
  const { exchange, at, status, retryAfter, laterMs, isHeldBack } = disobeyed
  const time = new Date(at).toISOString().slice(11, 23)
  const wait = retryAfter === null ? 'without Retry-After' : `with Retry-After: ${retryAfter}`
  const response = status === 0 ? 'broken' : `${status} ${wait}`
  const later = laterMs < SECOND_MS / 10 ? `${Math.ceil(laterMs)} ms` : `${(laterMs / SECOND_MS).toFixed(1)} s`
  return [
    `${what} ${done(count === 1 ? '' : ` ${count} times`, tries)}.`,
    `Response ${exchange} (${time}) was ${response}; the next request came ${later} later.`,
    advice,
    ...(isHeldBack
      ? [
          "Browsers delay a GET while the same one is in flight (React's StrictMode sends two): count such a page as two senders.",
        ]
      : []),
    ...(sender === '' && isShared && senders > 1 && senders <= MAX_SENDERS
      ? [`Requests of this key overlapped: if ${senders} clients share it, use --senders ${senders}.`]
      : []),
  ].join(' ')
}

type Words = readonly [done: (times: string, tries: number) => string, advice: string]

const BACK_OFF = 'Wait before each retry, longer each time.'

const WORDS: { readonly [Rule in ConductRule]?: Words } = {
  'early-retry': [(times) => `was retried${times} too early`, 'Wait as long as Retry-After says.'],
  'early-retry-likely': [
    (times) => `was probably retried${times} too early`,
    'Wait as long as Retry-After says. Name the senders of the key to identify the client.',
  ],
  'no-backoff': [(_, tries) => `was retried ${tries} times in a row without a pause`, BACK_OFF],
  'no-backoff-likely': [(_, tries) => `was probably retried ${tries} times in a row without a pause`, BACK_OFF],
  'weak-backoff': [(times) => `was retried${times} at intervals that do not grow`, BACK_OFF],
  'request-while-banned': [(times) => `was sent${times} while its key was banned`, 'Wait until the ban is over.'],
  'request-while-limited': [
    (times) => `was sent${times} while its key had to wait`,
    'Do not use the key until the wait is over.',
  ],
}
