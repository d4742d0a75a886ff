import type { Conduct, Finding } from '../../conduct/conduct-view.js'
import { clientOf } from '../../exchanges/client-name.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { retryAt } from './explain-exchange.js'

/** A request that conduct found to be too early. */
export interface EarlyRequest {
  readonly finding: Finding
  /** The wait that its own client was told, `58 s`; undefined if another client with the same key was told. */
  readonly told: string | undefined
}

export function allFindings(conduct: Conduct | undefined): readonly Finding[] {
  return [...(conduct?.violations ?? []), ...(conduct?.warnings ?? []), ...(conduct?.notes ?? [])]
}

/**
 * By id. A finding names its first exchanges; further ones are those that began within a wait, after the end of the
 * response that asked for it.
 *
 * @param exchanges newest first
 */
export function earlyRequests(
  exchanges: readonly Exchange[],
  conduct: Conduct | undefined,
): ReadonlyMap<number, EarlyRequest> {
  const findings = allFindings(conduct).filter(({ disobeyed }) => disobeyed !== null)
  const named = new Map(findings.flatMap((finding) => finding.exchanges.map((id) => [id, finding] as const)))
  const longer = findings.filter(({ count, exchanges: ids }) => count > ids.length)
  const waits = new Map<string, { readonly from: number; readonly until: number; readonly told: string }[]>()
  const early = new Map<number, EarlyRequest>()
  for (const exchange of exchanges.toReversed()) {
    const { id, key, sender = '', operation, at, receivedAt, durationMs, response } = exchange
    const client = clientOf(exchange)
    const told = waits
      .get(client)
      ?.findLast(({ from, until }) => from <= Date.parse(receivedAt) && Date.parse(at) < until)
    const finding =
      named.get(id) ??
      (told &&
        longer.find(
          (one) =>
            one.key === key &&
            one.sender === sender &&
            one.operation === operation &&
            id > Math.max(...one.exchanges) &&
            at <= one.lastAt,
        ))
    if (finding !== undefined) early.set(id, { finding, told: told?.told })
    const until = retryAt(exchange)
    if (until === undefined) continue
    const wait = response.headers['retry-after'] ?? ''
    const text = /^\d+$/.test(wait) ? `${wait} s` : wait
    const known = (waits.get(client) ?? []).filter((one) => one.until > Date.parse(at)).slice(-MAX_WAITS)
    waits.set(client, [...known, { from: Date.parse(receivedAt) + durationMs, until, told: text }])
  }
  return early
}

/** Of a client. */
const MAX_WAITS = 20
