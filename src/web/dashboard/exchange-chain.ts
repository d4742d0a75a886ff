import type { Conduct, Finding } from '../../conduct/conduct-view.js'
import { readRetryAfter } from '../../domain/time.js'
import { clientOf } from '../../exchanges/client-name.js'
import { addressOf } from '../../exchanges/exchange-filter.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { retryAt } from './explain-exchange.js'

/** Equal requests after one another, the oldest first. */
export interface ChainLink {
  readonly first: Exchange
  readonly lastId: number
  readonly count: number
}

/** What led to an exchange: the response that its client ignored, and the requests inside the wait. */
export interface Chain {
  /** Null if the response only asks to wait. */
  readonly finding: Finding | null
  readonly start: {
    readonly exchange: number
    readonly at: number
    /** 0 for a broken or lost response. */
    readonly status: number
    readonly retryAfter: string | null
  }
  readonly links: readonly ChainLink[]
  readonly requests: number
  /** The first moment to ask again; undefined without Retry-After. */
  readonly until: number | undefined
}

/** @param exchanges newest first @returns undefined if nothing led to it, and it asks for no wait */
export function chainOf(
  exchange: Exchange,
  conduct: Conduct | undefined,
  exchanges: readonly Exchange[],
): Chain | undefined {
  const finding = findingOf(exchange, conduct)
  const ignored = finding?.disobeyed ?? null
  const ownWait = retryAt(exchange)
  if (ignored === null && ownWait === undefined) return undefined
  const start =
    ignored === null
      ? {
          exchange: exchange.id,
          at: Date.parse(exchange.at),
          status: exchange.status ?? 0,
          retryAfter: exchange.response.headers['retry-after'] ?? null,
        }
      : { ...ignored, at: Date.parse(ignored.at) }
  const wait = readRetryAfter(start.retryAfter ?? undefined, undefined, start.at)
  const until = wait === undefined ? undefined : start.at + wait
  const client = clientOf(exchange)
  const inside = exchanges.filter((one) => {
    if (one.id <= start.exchange || clientOf(one) !== client) return false
    return until === undefined ? finding?.exchanges.includes(one.id) : Date.parse(one.at) < until
  })
  return { finding: finding ?? null, start, links: linksOf(inside), requests: inside.length, until }
}

/** The finding that an exchange belongs to, also beyond the first exchanges that it names. */
export function findingOf(exchange: Exchange, conduct: Conduct | undefined): Finding | undefined {
  const { id, key, sender = '', operation, at, reason } = exchange
  const all = [...(conduct?.violations ?? []), ...(conduct?.warnings ?? []), ...(conduct?.notes ?? [])]
  const own = all.filter((finding) => finding.key === key && finding.sender === sender)
  return (
    all.find(({ exchanges }) => exchanges.includes(id)) ??
    all.find(({ disobeyed }) => disobeyed?.exchange === id) ??
    own.find(
      (finding) =>
        finding.disobeyed !== null &&
        finding.operation === operation &&
        finding.firstAt <= at &&
        at <= finding.lastAt &&
        finding.disobeyed.exchange < id,
    ) ??
    (reason === 'ban' ? own.findLast(({ disobeyed }) => disobeyed !== null && disobeyed.exchange < id) : undefined)
  )
}

/** @param exchanges newest first */
function linksOf(exchanges: readonly Exchange[]): readonly ChainLink[] {
  const links: ChainLink[] = []
  const nameOf = ({ method, status, reason, ...exchange }: Exchange) =>
    [method, addressOf(exchange), status, reason].join(' ')
  for (const exchange of exchanges.toReversed()) {
    const last = links.at(-1)
    if (last !== undefined && nameOf(last.first) === nameOf(exchange))
      links[links.length - 1] = { ...last, lastId: exchange.id, count: last.count + 1 }
    else links.push({ first: exchange, lastId: exchange.id, count: 1 })
  }
  return links
}
