import type { Conduct, Finding } from '../../conduct/conduct-view.js'
import { readRetryAfter } from '../../domain/time.js'
import { clientName, clientOf } from '../../exchanges/client-name.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { retryAt } from './explain-exchange.js'
import { findingOf } from './findings.js'
import { banOf, type LoggedBan } from './obstacles.js'

/** What led to an exchange: the response that its client ignored, and the requests inside the wait. */
export interface Chain {
  readonly finding: Finding | undefined
  readonly start: {
    readonly exchange: number
    readonly at: number
    /** Real time of its end; minus infinity if the page no longer has it. */
    readonly endedAt: number
    /** 0 for a broken or lost response. */
    readonly status: number
    readonly retryAfter: string | null
  }
  /** Another client, which was told to wait. */
  readonly teller: string | undefined
  /** Ids of the requests inside the wait, the oldest first. */
  readonly early: readonly number[]
  /** The ban that began within the wait, if it is not lifted. */
  readonly ban: LoggedBan | undefined
  /** Ids of the requests after it. */
  readonly banned: readonly number[]
  /** The end of the wait; undefined without Retry-After. */
  readonly until: number | undefined
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
  // The response that each request leads back to, over the responses that its client ignored.
  const roots = new Map<number, number>()
  for (const item of exchanges.toReversed())
    if (item.disobeyed !== undefined && clientOf(item) === client)
      roots.set(item.id, roots.get(item.disobeyed.exchange) ?? item.disobeyed.exchange)
  const finding = findingOf(exchange, conduct)
  const root = roots.get(exchange.id) ?? exchange.id
  const told = exchanges.find(({ id }) => id === root)
  const { disobeyed = null } = finding ?? {}
  const start =
    told !== undefined
      ? { exchange: root, status: told.status ?? 0, retryAfter: told.response.headers['retry-after'] ?? null }
      : disobeyed?.exchange === root
        ? disobeyed
        : undefined
  const at = Date.parse(told?.at ?? disobeyed?.at ?? '')
  const inside = exchanges.filter(({ id }) => roots.get(id) === root).toReversed()
  if (start === undefined || (inside.length === 0 && told !== undefined && retryAt(told) === undefined))
    return undefined
  const wait = readRetryAfter(start.retryAfter ?? undefined, undefined, at)
  const own = told?.reason === 'ban' ? banOf(told, bans)?.until : undefined
  const until = own ?? (told && retryAt(told)) ?? (wait === undefined ? undefined : at + wait)
  const ban = bans.find(
    (loggedBan) =>
      loggedBan.key === exchange.key &&
      !loggedBan.isLifted &&
      told?.reason !== 'ban' &&
      loggedBan.at >= at &&
      loggedBan.at < (until ?? 0) &&
      loggedBan.afterId >= root,
  )
  const isBanned = ({ id, reason }: Exchange) => reason === 'ban' && id > (ban?.afterId ?? Number.POSITIVE_INFINITY)
  const ids = (all: readonly Exchange[]) => all.map(({ id }) => id)
  return {
    finding,
    start: {
      ...start,
      at,
      endedAt: told === undefined ? Number.NEGATIVE_INFINITY : Date.parse(told.receivedAt) + told.durationMs,
    },
    teller: told === undefined || clientOf(told) === client ? undefined : clientName(told),
    early: ids(inside.filter((item) => !isBanned(item))),
    ban,
    banned: ids(inside.filter(isBanned)),
    until,
  }
}
