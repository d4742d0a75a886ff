import type { Conduct, Finding } from '../../conduct/conduct-view.js'
import { readRetryAfter } from '../../domain/time.js'
import { clientName, clientOf } from '../../exchanges/client-name.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { retryAt } from './explain-exchange.js'
import { findingOf } from './findings.js'
import { banOf, type LoggedBan } from './obstacles.js'

/** A response that a client ignored. */
export interface Told {
  readonly exchange: number
  readonly at: number
  /** Real time of its end; minus infinity if the page no longer has it. */
  readonly endedAt: number
  /** 0 for a broken or lost response. */
  readonly status: number
  readonly retryAfter: string | null
  /** Another client, which got it. */
  readonly teller: string | undefined
  /** The end of the wait; undefined without Retry-After. */
  readonly until: number | undefined
  /** The ban that began within the wait, if it is not lifted. */
  readonly ban: LoggedBan | undefined
}

/** What led to an exchange: the response that its client ignored, and the requests inside the wait. */
export interface Chain {
  readonly finding: Finding | undefined
  readonly start: Told
  /** What the exchange itself ignored; undefined if the page does not know it. */
  readonly ignored: Told | undefined
  /** The requests inside the wait, the oldest first. */
  readonly early: readonly Exchange[]
  /** Those after the ban. */
  readonly banned: readonly Exchange[]
}

/**
 * @param exchanges newest first
 * @param bans newest first
 * @returns undefined if nothing led to it, and it asks for no wait
 */
export function chainOf(
  exchange: Exchange,
  conduct: Conduct | undefined,
  exchanges: readonly Exchange[],
  bans: readonly LoggedBan[],
): Chain | undefined {
  const client = clientOf(exchange)
  const finding = findingOf(exchange, conduct)
  const byId = new Map(exchanges.map((item) => [item.id, item]))
  function toldOf(id: number): Told | undefined {
    const told = byId.get(id)
    const { disobeyed = null } = finding ?? {}
    const facts =
      told !== undefined
        ? { status: told.status ?? 0, retryAfter: told.response.headers['retry-after'] ?? null, at: told.at }
        : disobeyed?.exchange === id
          ? disobeyed
          : undefined
    if (facts === undefined) return undefined
    const at = Date.parse(facts.at)
    const wait = readRetryAfter(facts.retryAfter ?? undefined, undefined, at)
    const own = told?.reason === 'ban' ? banOf(told, bans)?.until : undefined
    const until = own ?? (told && retryAt(told)) ?? (wait === undefined ? undefined : at + wait)
    return {
      ...{ exchange: id, at, status: facts.status, retryAfter: facts.retryAfter, until },
      endedAt: told === undefined ? Number.NEGATIVE_INFINITY : Date.parse(told.receivedAt) + told.durationMs,
      teller: told === undefined || clientOf(told) === client ? undefined : clientName(told),
      ban: bans.find(
        (ban) =>
          ban.key === exchange.key &&
          !ban.isLifted &&
          told?.reason !== 'ban' &&
          ban.at >= at &&
          ban.at < (until ?? 0) &&
          ban.afterId >= id,
      ),
    }
  }
  // The response that each request leads back to, over the responses that its client ignored within its wait.
  const roots = new Map<number, number>()
  for (const item of exchanges.toReversed()) {
    if (item.disobeyed === undefined || clientOf(item) !== client) continue
    const before = item.disobeyed.exchange
    const root = roots.get(before) ?? before
    const { until = Number.POSITIVE_INFINITY, ban } = toldOf(root) ?? {}
    roots.set(item.id, Date.parse(item.at) < Math.max(until, ban?.until ?? 0) ? root : before)
  }
  const root = roots.get(exchange.id) ?? exchange.id
  const start = toldOf(root)
  const inside = exchanges.filter(({ id }) => roots.get(id) === root).toReversed()
  if (start === undefined || (inside.length === 0 && byId.has(root) && start.until === undefined)) return undefined
  const { ban } = start
  const isBanned = ({ id, reason }: Exchange) => reason === 'ban' && id > (ban?.afterId ?? Number.POSITIVE_INFINITY)
  return {
    finding,
    start,
    ignored: exchange.disobeyed && toldOf(exchange.disobeyed.exchange),
    early: inside.filter((item) => !isBanned(item)),
    banned: inside.filter(isBanned),
  }
}

/** Milliseconds from a response to a request that ignored it. */
export function laterBy({ id, at, receivedAt }: Exchange, told: Told, finding: Finding | undefined): number {
  if (finding?.exchanges[0] === id && finding.disobeyed?.exchange === told.exchange) return finding.disobeyed.laterMs
  return Math.max(0, Date.parse(at) - told.at, Math.round(Date.parse(receivedAt) - told.endedAt))
}
