import type { Conduct, Finding } from '../../conduct/conduct-view.js'
import { HOUR_MS, SECOND_MS } from '../../domain/time.js'
import { clientName, clientOf } from '../../exchanges/client-name.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { retryAt } from './explain-exchange.js'
import { NO_OUTCOMES, type Outcome, type OutcomeCounts, outcomeOf } from './texts.js'

/** A client of the log, and what it did over the range of the lanes. */
export interface Lane {
  /** As the filter names it. */
  readonly client: string
  readonly name: string
  readonly key: string
  readonly requests: number
  readonly counts: OutcomeCounts
  /** Shares of the range, each once. */
  readonly marks: Readonly<Record<Outcome, readonly number[]>>
  /** Times that it was told to wait, as shares of the range; they do not overlap. */
  readonly waits: readonly (readonly [from: number, to: number])[]
  /** Violations first, then warnings; the most frequent first. */
  readonly findings: readonly Finding[]
  readonly violations: number
}

export interface Lanes {
  readonly from: number
  readonly to: number
  readonly lanes: readonly Lane[]
}

const MIN_RANGE_MS = 10 * SECOND_MS
/** The clock may have jumped by years, and all marks would be at the ends of the range. */
const MAX_DISTANCE_MS = HOUR_MS
/** Marks of a lane: more would overlap. */
const RESOLUTION = 400

/**
 * Fits the range to the exchanges within an hour of the newest; a wait at the end takes at most half of it.
 *
 * @param exchanges newest first
 */
export function lanesOf(exchanges: readonly Exchange[], conduct: Conduct | undefined): Lanes {
  const newest = Date.parse(exchanges[0]?.at ?? '')
  const near = exchanges.filter(({ at }) => Math.abs(Date.parse(at) - newest) <= MAX_DISTANCE_MS)
  const times = near.map(({ at }) => Date.parse(at))
  const from = times.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY)
  const last = times.reduce((one, other) => Math.max(one, other), 0)
  const lastWait = near.reduce((latest, exchange) => Math.max(latest, retryAt(exchange) ?? 0), last)
  const to = Math.max(last, Math.min(lastWait, last + Math.max(last - from, MIN_RANGE_MS)), from + 1)
  const byClient = new Map<string, Exchange[]>()
  for (const exchange of exchanges.toReversed()) {
    const client = clientOf(exchange)
    const sent = byClient.get(client) ?? []
    byClient.set(client, sent)
    sent.push(exchange)
  }
  const found = [...(conduct?.violations ?? []), ...(conduct?.warnings ?? [])]
  const lanes = [...byClient].map(([client, sent]) => {
    const findings = found.filter((finding) => concerns(finding, sent, exchanges))
    return laneOf(client, sent, findings, conduct?.violations ?? [], (at) => (at - from) / (to - from))
  })
  return { from, to, lanes: lanes.sort((one, other) => Math.sign(other.violations) - Math.sign(one.violations)) }
}

/** The waits that exchanges came too early for, as their clients were told them, by id. @param exchanges newest first */
export function insideWaits(exchanges: readonly Exchange[]): ReadonlyMap<number, string> {
  const waits = new Map<string, { readonly until: number; readonly told: string }>()
  const inside = new Map<number, string>()
  for (const exchange of exchanges.toReversed()) {
    const client = clientOf(exchange)
    const wait = waits.get(client)
    if (wait !== undefined && Date.parse(exchange.at) < wait.until) inside.set(exchange.id, wait.told)
    const until = retryAt(exchange)
    if (until === undefined || until <= (wait?.until ?? 0)) continue
    const told = exchange.response.headers['retry-after'] ?? ''
    waits.set(client, { until, told: /^\d+$/.test(told) ? `${told} s` : told })
  }
  return inside
}

/** A finding names key and sender: without a sender, its exchanges tell clients apart. */
function concerns({ key, sender, exchanges: ids }: Finding, sent: readonly Exchange[], all: readonly Exchange[]) {
  const [first] = sent
  if (first?.key !== key || (first.sender ?? '') !== sender) return false
  const isKnown = (list: readonly Exchange[]) => list.some(({ id }) => ids.includes(id))
  return isKnown(sent) || !isKnown(all)
}

/** @param sent oldest first, at least one */
function laneOf(
  client: string,
  sent: readonly Exchange[],
  findings: readonly Finding[],
  violations: readonly Finding[],
  share: (at: number) => number,
): Lane {
  const [first] = sent
  const counts = { ...NO_OUTCOMES }
  const marks: Record<Outcome, Set<number>> = {
    answered: new Set(),
    refused: new Set(),
    limited: new Set(),
    failed: new Set(),
    cut: new Set(),
  }
  const waits: [from: number, to: number][] = []
  for (const exchange of sent) {
    const at = Date.parse(exchange.at)
    const isShown = share(at) >= 0 && share(at) <= 1
    if (exchange.ended !== null) {
      const outcome = outcomeOf(exchange)
      counts[outcome]++
      if (isShown) marks[outcome].add(Math.round(share(at) * RESOLUTION) / RESOLUTION)
    }
    const until = retryAt(exchange)
    if (until === undefined || !isShown) continue
    const [start, end] = [share(at), Math.min(1, share(until))]
    const before = waits.at(-1)
    if (before !== undefined && start <= before[1]) before[1] = Math.max(before[1], end)
    else waits.push([start, end])
  }
  const isViolation = (finding: Finding) => violations.includes(finding)
  const sorted = findings.toSorted(
    (one, other) => Number(isViolation(other)) - Number(isViolation(one)) || other.count - one.count,
  )
  return {
    client,
    name: first === undefined ? client : clientName(first),
    key: first?.key ?? '',
    requests: sent.length,
    counts,
    marks: Object.fromEntries(Object.entries(marks).map(([name, shares]) => [name, [...shares]])) as never,
    waits,
    findings: sorted,
    violations: sorted.filter(isViolation).reduce((sum, { count }) => sum + count, 0),
  }
}
