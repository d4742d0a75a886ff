import type { Conduct, Finding } from '../../conduct/conduct-view.js'
import { readRetryAfter } from '../../domain/time.js'
import { clientOf } from '../../exchanges/client-name.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import type { LoggedEvent } from '../../exchanges/space-event.js'
import { allFindings, type EarlyRequest } from './early-requests.js'
import { banBefore, retryAt } from './explain-exchange.js'

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
  /** Ids of the requests inside the wait, the oldest first. */
  readonly early: readonly number[]
  /** The ban that began within the wait, if it is not lifted. */
  readonly ban: { readonly at: number; readonly text: string; readonly until: number } | undefined
  /** Ids of the requests after it. */
  readonly banned: readonly number[]
  /** The end of the wait; undefined without Retry-After. */
  readonly until: number | undefined
}

/** What the page knows beside the exchange. */
export interface ChainFacts {
  readonly conduct: Conduct | undefined
  /** Newest first. */
  readonly exchanges: readonly Exchange[]
  readonly early: ReadonlyMap<number, EarlyRequest>
  /** Newest first. */
  readonly events: readonly LoggedEvent[]
  /** When the ban of the key ends: ISO 8601; null without a ban. */
  readonly bannedUntil: string | null
}

/** @returns undefined if nothing led to it, and it asks for no wait */
export function chainOf(
  exchange: Exchange,
  { conduct, exchanges, early, events, bannedUntil }: ChainFacts,
): Chain | undefined {
  const finding = findingOf(exchange, conduct, early)
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
  const told = exchanges.find(({ id }) => id === start.exchange)
  const own = told?.reason === 'ban' ? Date.parse(banBefore(told, events)?.until ?? '') : Number.NaN
  const until = own || (told && retryAt(told)) || (wait === undefined ? undefined : start.at + wait)
  const event = events.find(
    ({ at, text, until: end }) =>
      end !== undefined &&
      text.startsWith(`Key ${exchange.key} is banned until `) &&
      told?.reason !== 'ban' &&
      Date.parse(at) >= start.at &&
      Date.parse(at) < (until ?? 0) &&
      (end === bannedUntil || Date.parse(end) < Date.parse(exchange.at)),
  )
  const [, text = 'by hand'] = /: (.*)\.$/.exec(event?.text ?? '') ?? []
  const ban = event && { at: Date.parse(event.at), text, until: Date.parse(event.until ?? '') }
  const client = clientOf(exchange)
  const end = Math.max(until ?? Number.POSITIVE_INFINITY, ban?.until ?? 0)
  const inside = exchanges
    .filter(
      (one) => one.id > start.exchange && clientOf(one) === client && early.has(one.id) && Date.parse(one.at) < end,
    )
    .filter((one) => until !== undefined || early.get(one.id)?.finding === finding)
    .toReversed()
  const isBanned = ({ id, reason }: Exchange) => reason === 'ban' && id > (event?.afterId ?? Number.POSITIVE_INFINITY)
  const ids = (all: readonly Exchange[]) => all.map(({ id }) => id)
  return {
    finding: finding ?? null,
    start,
    early: ids(inside.filter((one) => !isBanned(one))),
    ban,
    banned: ids(inside.filter(isBanned)),
    until,
  }
}

/** The finding that an exchange belongs to, also beyond the first exchanges that it names. */
export function findingOf(
  { id }: Exchange,
  conduct: Conduct | undefined,
  early: ReadonlyMap<number, EarlyRequest>,
): Finding | undefined {
  const all = allFindings(conduct)
  return (
    all.find(({ exchanges }) => exchanges.includes(id)) ??
    all.find(({ disobeyed }) => disobeyed?.exchange === id) ??
    early.get(id)?.finding
  )
}
