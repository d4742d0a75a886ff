import type { EpochMs } from '../domain/time.js'
import type { ConductRule, Finding } from './conduct-view.js'

/** Groups kept per rule; further ones are counted together, so that no client can exhaust memory. */
const GROUPS_A_RULE = 200
const EXCHANGES_A_GROUP = 20
const LONGEST_TEXT = 200

/** One breach of a rule by a client. */
export interface Occurrence {
  readonly rule: ConductRule
  readonly key: string
  readonly operation: string | undefined
  /** Distinguishes groups with the same rule and key: a parameter's name, a path. */
  readonly detail: string
  readonly message: string
}

/** Occurrences of one rule, key and detail, together. */
export interface Group {
  readonly occurrence: Occurrence
  /** The group that collects what found no room. */
  readonly isRest: boolean
  message: string
  count: number
  readonly exchanges: number[]
  readonly firstAt: EpochMs
  lastAt: EpochMs
}

/** Breaches of the rules, grouped by rule, key and detail. */
export class Findings {
  readonly #rules = new Map<ConductRule, Map<string, Group>>()

  /** @returns the group that it belongs to */
  add(occurrence: Occurrence, exchange: number, at: EpochMs): Group {
    const { rule } = occurrence
    const groups = this.#rules.get(rule) ?? new Map<string, Group>()
    this.#rules.set(rule, groups)
    const group = groupFor(groups, occurrence, at)
    group.message = group.isRest ? REST_MESSAGE : shortened(occurrence.message)
    countAgain(group, exchange, at)
    return group
  }

  /** The findings of some rules, in the rules' order, each rule's in the order of their first occurrence. */
  of<Rule extends ConductRule>(rules: readonly Rule[]): readonly Finding<Rule>[] {
    return rules.flatMap((rule) =>
      [...(this.#rules.get(rule)?.values() ?? [])].map(
        ({ occurrence, message, count, exchanges, firstAt, lastAt }): Finding<Rule> => ({
          rule,
          key: occurrence.key,
          operation: occurrence.operation ?? null,
          message,
          count,
          exchanges: [...exchanges],
          firstAt: new Date(firstAt).toISOString(),
          lastAt: new Date(lastAt).toISOString(),
        }),
      ),
    )
  }

  clear(): void {
    this.#rules.clear()
  }
}

/** Counts the same occurrence once more. */
export function countAgain(group: Group, exchange: number, at: EpochMs): void {
  group.count++
  group.lastAt = at
  if (group.exchanges.length < EXCHANGES_A_GROUP) group.exchanges.push(exchange)
}

/** Stands for the key, and the group's name, in the group of what found no room. */
const REST_KEY = 'others'
const REST_MESSAGE = 'More of the same kind; only their number is kept.'

function groupFor(groups: Map<string, Group>, occurrence: Occurrence, at: EpochMs): Group {
  const name = `${occurrence.key}\n${occurrence.operation ?? ''}\n${shortened(occurrence.detail)}`
  const known = groups.get(name)
  if (known !== undefined) return known
  const isFull = groups.size >= GROUPS_A_RULE
  const rest = isFull ? groups.get(REST_KEY) : undefined
  if (rest !== undefined) return rest
  const kept = isFull ? { ...occurrence, key: REST_KEY, operation: undefined } : occurrence
  const group: Group = {
    occurrence: kept,
    isRest: isFull,
    message: '',
    count: 0,
    exchanges: [],
    firstAt: at,
    lastAt: at,
  }
  groups.set(isFull ? REST_KEY : name, group)
  return group
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text
}
