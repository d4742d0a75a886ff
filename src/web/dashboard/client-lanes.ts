import { type Conduct, type Finding, VIOLATIONS } from '../../conduct/conduct-view.js'
import { OWN_CLIENT } from '../../domain/keys.js'
import { clientName, clientOf } from '../../exchanges/client-name.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { retryAt } from './explain-exchange.js'
import { allFindings, countOf, hasIgnored } from './findings.js'
import { NO_OUTCOMES, OUTCOMES, type Outcome, type OutcomeCounts, outcomeOf } from './texts.js'
import { type TimeAxis, timeAxis } from './time-axis.js'

/** A client of the log, and what it did over the range of the lanes. */
export interface Lane {
  /** As the filter names it. */
  readonly client: string
  readonly name: string
  readonly key: string
  /** A person, whose requests are not judged. */
  readonly isOwn: boolean
  readonly requests: number
  readonly counts: OutcomeCounts
  /** Shares of the range, each once. */
  readonly marks: Readonly<Record<Outcome, Set<number>>>
  /** Times that it was told to wait, as shares of the range; they do not overlap. */
  readonly waits: readonly (readonly [from: number, to: number])[]
  /** Of the last wait that is no ban or quota, in milliseconds by the space's clock; 0 without one. */
  readonly waitEnd: number
  /** Violations first, then warnings; the most frequent first. */
  readonly findings: readonly Finding[]
  readonly violations: number
  /** Another client, which was told that their key has to wait. */
  readonly sharesWith: string | undefined
}

/** Marks of a lane: more would overlap. */
const RESOLUTION = 400

/**
 * @param exchanges newest first, at least one
 * @param real the present in real time, if the clock may have been moved after the newest
 */
export function lanesOf(
  exchanges: readonly Exchange[],
  conduct: Conduct | undefined,
  now: number,
  real?: number,
): { readonly axis: TimeAxis; readonly lanes: readonly Lane[] } {
  const axis = timeAxis(exchanges, now, real)
  const byClient = new Map<string, Exchange[]>()
  for (const exchange of exchanges.toReversed()) {
    const client = clientOf(exchange)
    const sent = byClient.get(client) ?? []
    byClient.set(client, sent)
    sent.push(exchange)
  }
  const byId = new Map(exchanges.map((exchange) => [exchange.id, exchange]))
  const found = allFindings(conduct).filter(({ rule }) => rule !== 'ignored-parameter')
  const lanes = [...byClient].map(([client, sent]) => {
    const blamed: Finding[] = []
    let sharesWith: string | undefined
    for (const finding of found) {
      const count = sent[0] === undefined ? 0 : countOf(finding, sent[0])
      if (count === 0) continue
      const tellers = sent.flatMap((exchange) => {
        const teller = hasIgnored(exchange, finding) ? byId.get(exchange.disobeyed?.exchange ?? 0) : undefined
        return teller ?? []
      })
      const [other] = tellers
      if (other !== undefined && tellers.every((teller) => clientOf(teller) !== client)) sharesWith = clientName(other)
      else blamed.push({ ...finding, count, exchanges: ownOf(finding, sent) })
    }
    return laneOf(client, sent, blamed, sharesWith, axis)
  })
  return { axis, lanes }
}

/** Its exchanges in a finding; all of them, if none is in the log any more. */
function ownOf({ exchanges }: Finding, sent: readonly Exchange[]): readonly number[] {
  const ids = new Set(sent.map(({ id }) => id))
  const own = exchanges.filter((id) => ids.has(id))
  return own.length === 0 ? exchanges : own
}

/** The worst first. Lanes move when a verdict changes or its count doubles, and not while they are held. */
export function orderLanes(lanes: readonly Lane[], before: readonly string[], isHeld: boolean): readonly Lane[] {
  const place = (lane: Lane) => (before.includes(lane.client) ? before.indexOf(lane.client) : before.length)
  const level = ({ isOwn, violations, findings }: Lane) =>
    violations > 0 ? 2 + Math.floor(Math.log2(violations)) : isOwn ? -1 : Math.min(1, findings.length)
  return lanes.toSorted((a, b) => (isHeld ? 0 : level(b) - level(a)) || place(a) - place(b))
}

/** @param sent oldest first, at least one */
function laneOf(
  client: string,
  sent: readonly Exchange[],
  findings: readonly Finding[],
  sharesWith: string | undefined,
  axis: TimeAxis,
): Lane {
  const [first] = sent
  const counts = { ...NO_OUTCOMES }
  const marks = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, new Set()])) as Lane['marks']
  const waits: [from: number, to: number][] = []
  let waitEnd = 0
  let refusedKey: string | undefined
  for (const exchange of sent) {
    const share = axis.place(exchange)
    if (exchange.ended !== null) {
      const outcome = outcomeOf(exchange)
      counts[outcome]++
      if (share !== undefined) marks[outcome].add(Math.round(share * RESOLUTION) / RESOLUTION)
    }
    const until = retryAt(exchange)
    const isWhole = /^(?:ban|quota)/.test(exchange.reason ?? '')
    if (!isWhole) waitEnd = Math.max(waitEnd, until ?? 0)
    const before = waits.at(-1)
    // A ban or quota refuses all requests of its key: one that gets through is after its end.
    const passes = exchange.reason !== 'forced' && outcomeOf(exchange) === 'answered'
    if (isWhole) refusedKey = exchange.key
    else if (passes && exchange.key === refusedKey) {
      if (before !== undefined && share !== undefined) before[1] = Math.min(before[1], share)
      refusedKey = undefined
    }
    if (until === undefined || share === undefined) continue
    const end = axis.placeEnd(exchange, until)
    if (before !== undefined && share <= before[1]) before[1] = Math.max(before[1], end)
    else waits.push([share, end])
  }
  const isViolation = ({ rule }: Finding) => VIOLATIONS.some((violation) => violation === rule)
  const sorted = findings.toSorted((a, b) => Number(isViolation(b)) - Number(isViolation(a)) || b.count - a.count)
  return {
    client,
    name: first === undefined ? client : clientName(first),
    key: first?.key ?? '',
    isOwn: client === OWN_CLIENT,
    requests: sent.length,
    counts,
    marks,
    waits,
    waitEnd,
    findings: sorted,
    violations: sorted.filter(isViolation).reduce((sum, { count }) => sum + count, 0),
    sharesWith,
  }
}
