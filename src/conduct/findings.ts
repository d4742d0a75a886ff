import type { EpochMs } from '../domain/time.js'
import type { ConductRule, Finding } from './conduct-view.js'
import type { Disobeyed, FindingDraft } from './finding-drafts.js'

/** Per rule. Further groups are counted together, to bound memory. */
const GROUPS_A_RULE = 200
const EXCHANGES_A_GROUP = 20
const USER_AGENTS_A_GROUP = 200
const LONGEST_TEXT = 200

interface Occurrence extends FindingDraft {
  readonly key: string
  readonly sender: string
  readonly operation: string | null
  readonly request: Finding['request']
  readonly userAgent: string
}

/** Occurrences with the same rule, key, sender and detail. */
export interface Group extends Pick<Occurrence, 'rule' | 'key' | 'sender' | 'operation' | 'request'> {
  /** Unique within the rule. */
  readonly name: string
  message: string
  count: number
  readonly exchanges: number[]
  /** With their numbers of occurrences. */
  readonly userAgents: Map<string, number>
  readonly firstAt: EpochMs
  lastAt: EpochMs
  /** The largest `senders` of its occurrences; 0 if it does not matter. */
  senders: number
  tries: number
  /** The sum of its occurrences. */
  sharing: number
  /** Of the first occurrence. */
  readonly disobeyed: Disobeyed | null
  isMixed: boolean
}

export class Findings {
  readonly rules: Map<ConductRule, Map<string, Group>>

  constructor(rules: Findings['rules'] = new Map()) {
    this.rules = rules
  }

  add(occurrence: Occurrence, exchange: number, at: EpochMs): Group {
    const group = groupFor(this.#groups(occurrence.rule), occurrence, at)
    group.message = group.name === REST ? REST_MESSAGE : shortened(occurrence.message)
    group.senders = Math.max(group.senders, occurrence.senders ?? 0)
    group.tries = Math.max(group.tries, occurrence.tries ?? 0)
    group.sharing += occurrence.sharing ?? 0
    group.isMixed ||= !isSameRequest(group.request, occurrence.request)
    countAgain(group, exchange, at, occurrence.userAgent)
    return group
  }

  /** By rule and first occurrence. */
  get groups(): readonly Group[] {
    return [...this.rules.values()].flatMap((groups) => [...groups.values()])
  }

  #groups(rule: ConductRule): Map<string, Group> {
    const groups = this.rules.get(rule) ?? new Map<string, Group>()
    this.rules.set(rule, groups)
    return groups
  }
}

export function countAgain(group: Group, exchange: number, at: EpochMs, userAgent: string): void {
  group.count++
  group.lastAt = at
  if (group.exchanges.length < EXCHANGES_A_GROUP) group.exchanges.push(exchange)
  const { userAgents } = group
  const known = userAgents.get(userAgent)
  if (known !== undefined || userAgents.size < USER_AGENTS_A_GROUP) userAgents.set(userAgent, (known ?? 0) + 1)
}

export function isSameRequest(a: Finding['request'], b: Finding['request']): boolean {
  return a.path === b.path && a.query === b.query && a.method === b.method
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
    sharing: 0,
    isMixed: false,
    tries: 0,
    count: 0,
    exchanges: [],
    userAgents: new Map(),
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
