import { MOST_SENDERS } from '../domain/settings.js'
import type { EpochMs } from '../domain/time.js'
import type { ConductRule, Finding, Otherwise } from './conduct-view.js'

/** Groups kept per rule; further ones are counted together, so that no client can exhaust memory. */
const GROUPS_A_RULE = 200
const EXCHANGES_A_GROUP = 20
const LONGEST_TEXT = 200

/** One breach of a rule by a client. */
export interface Occurrence {
  readonly rule: ConductRule
  readonly key: string
  /** Null if the request matched no operation. */
  readonly operation: string | null
  /** Distinguishes groups with the same rule and key: a parameter's name, a path. */
  readonly detail: string
  readonly message: string
  /** The smallest number of senders with which it would be something else, or nothing; absent where they do not count. */
  readonly senders?: number | undefined
}

/** Occurrences of one rule, key and detail, together. */
export interface Group extends Pick<Occurrence, 'rule' | 'key' | 'operation'> {
  /** What it is found by, among those of its rule. */
  readonly name: string
  message: string
  count: number
  readonly exchanges: number[]
  readonly firstAt: EpochMs
  lastAt: EpochMs
  /** The largest of its occurrences' `senders`; 0 where they do not count. */
  senders: number
}

export type SavedGroup = Readonly<Group>

/** Breaches of the rules, grouped by rule, key and detail. */
export class Findings {
  readonly #rules = new Map<ConductRule, Map<string, Group>>()

  /** @returns the group that it belongs to */
  add(occurrence: Occurrence, exchange: number, at: EpochMs): Group {
    const group = groupFor(this.#groups(occurrence.rule), occurrence, at)
    group.message = group.name === REST ? REST_MESSAGE : shortened(occurrence.message)
    group.senders = Math.max(group.senders, occurrence.senders ?? 0)
    countAgain(group, exchange, at)
    return group
  }

  /** The findings of some rules, in the rules' order, each rule's in the order of their first occurrence. */
  of<Rule extends ConductRule>(rules: readonly Rule[]): readonly Finding<Rule>[] {
    return rules.flatMap((rule) =>
      [...(this.#rules.get(rule)?.values() ?? [])].map(
        ({ key, operation, message, count, exchanges, firstAt, lastAt, senders }): Finding<Rule> => ({
          rule,
          key,
          operation,
          message,
          count,
          exchanges: [...exchanges],
          firstAt: new Date(firstAt).toISOString(),
          lastAt: new Date(lastAt).toISOString(),
          ...otherwise(rule, senders),
        }),
      ),
    )
  }

  clear(): void {
    this.#rules.clear()
  }

  save(): readonly SavedGroup[] {
    return [...this.#rules.values()].flatMap((groups) => [...groups.values()].map(copyOf))
  }

  restore(saved: readonly SavedGroup[]): void {
    this.clear()
    for (const group of saved) this.#groups(group.rule).set(group.name, copyOf(group))
  }

  #groups(rule: ConductRule): Map<string, Group> {
    const groups = this.#rules.get(rule) ?? new Map<string, Group>()
    this.#rules.set(rule, groups)
    return groups
  }
}

function copyOf(group: SavedGroup): Group {
  return { ...group, exchanges: [...group.exchanges] }
}

/** Counts the same occurrence once more. */
export function countAgain(group: Group, exchange: number, at: EpochMs): void {
  group.count++
  group.lastAt = at
  if (group.exchanges.length < EXCHANGES_A_GROUP) group.exchanges.push(exchange)
}

/** What all occurrences of a group would be, had so many senders been stated. */
function otherwise(rule: ConductRule, senders: number): { readonly otherwise?: Otherwise } {
  if (senders === 0 || senders > MOST_SENDERS) return {}
  switch (rule) {
    case 'early-retry':
      return { otherwise: { senders, rule: 'early-retry-likely' } }
    case 'early-retry-likely':
      return { otherwise: { senders, rule: 'early-retry' } }
    default:
      return { otherwise: { senders, rule: null } }
  }
}

/** Name and key of the group of what found no room. */
const REST = 'others'
const REST_MESSAGE = 'More of the same kind; only their number is kept.'

function groupFor(groups: Map<string, Group>, occurrence: Occurrence, at: EpochMs): Group {
  const { rule, key, operation, detail } = occurrence
  const name = `${key}\n${operation ?? ''}\n${shortened(detail)}`
  const known = groups.get(name)
  if (known !== undefined) return known
  const isFull = groups.size >= GROUPS_A_RULE
  const rest = isFull ? groups.get(REST) : undefined
  if (rest !== undefined) return rest
  const group: Group = {
    rule,
    ...(isFull ? { name: REST, key: REST, operation: null } : { name, key, operation }),
    message: '',
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
