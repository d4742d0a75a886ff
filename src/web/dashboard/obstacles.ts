import type { KeyView, StormView } from '../../control/views.js'
import { parseDuration } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import type { LoggedEvent } from '../../exchanges/space-event.js'
import { banLeft, minuteAt, type WindowNow, windowAt } from './quota-now.js'
import { instantText } from './texts.js'

/** What refuses requests of a key now. The only source of when a client can go on. */
export interface Obstacle {
  readonly reason: 'ban' | 'quota-minute' | 'quota-day' | 'storm'
  /** `banned`, `storm 30 %` */
  readonly text: string
  /** By the space's clock, in milliseconds; infinite for a storm that has to be stopped. */
  readonly until: number
  /** It refuses all requests, not only some. */
  readonly isWhole: boolean
}

/** The last to end first. @param key undefined for an unknown one */
export function obstaclesOf(key: KeyView | undefined, storm: StormView | null, now: number): readonly Obstacle[] {
  const spent = (reason: 'quota-minute' | 'quota-day', window: WindowNow | undefined) => ({
    ...{ reason, text: `${reason.slice(6)} quota used up`, isWhole: true },
    until: now + (window?.remaining === 0 ? window.leftMs : 0),
  })
  const rate = storm?.rate ?? 0
  const all: readonly Obstacle[] = [
    { reason: 'ban', text: 'banned', until: now + (key === undefined ? 0 : banLeft(key, now)), isWhole: true },
    spent('quota-minute', key && minuteAt(key, now)),
    spent('quota-day', key?.day ? windowAt(key.day, now) : undefined),
    {
      reason: 'storm',
      text: `storm ${Number((100 * rate).toFixed(2))} %`,
      until: endOfStorm(storm, now),
      isWhole: rate === 1,
    },
  ]
  return all.filter(({ until }) => until > now).toSorted((a, b) => b.until - a.until)
}

/** Since the start of a period of a storm, its length, and the time from period to period. */
function phaseOf(storm: StormView | null, now: number): readonly [elapsed: number, lasts: number, period: number] {
  const [lasts = 0, period = 1] = [storm?.for, storm?.every].map(
    (text) => parseDuration(text ?? '') ?? Number.POSITIVE_INFINITY,
  )
  return [(now - Date.parse(storm?.startedAt ?? '')) % period, lasts, period]
}

/** Now, between the periods of a storm and after its only one. */
function endOfStorm(storm: StormView | null, now: number): number {
  const [elapsed, lasts] = phaseOf(storm, now)
  return elapsed >= 0 ? now + lasts - elapsed : now
}

/** When a storm begins again; undefined unless it is between two of its periods. */
export function nextStorm(storm: StormView | null, now: number): number | undefined {
  const [elapsed, lasts, period] = phaseOf(storm, now)
  return elapsed >= lasts && period < Number.POSITIVE_INFINITY ? now + period - elapsed : undefined
}

/** `banned until 12:05:00 UTC` */
export function obstacleText({ text, until }: Obstacle, now: number): string {
  return until === Number.POSITIVE_INFINITY ? `${text} until it is stopped` : `${text} until ${instantText(until, now)}`
}

/** A ban of a key in the log of changes. */
export interface LoggedBan {
  readonly key: string
  readonly afterId: number
  readonly at: number
  readonly until: number
  /** Number of early requests that led to it; undefined for one by hand. */
  readonly early: number | undefined
  readonly isLifted: boolean
}

/** The newest first. @param events newest first */
export function bansIn(
  events: readonly LoggedEvent[],
  keys: readonly Pick<KeyView, 'key' | 'ban'>[],
  now: number,
): readonly LoggedBan[] {
  return events.flatMap(({ key, at, until, afterId, early }, index) => {
    if (key === undefined || until === undefined) return []
    const view = keys.find((pick) => pick.key === key)
    // A later ban is another one, a ban that has ended cannot be lifted, and an undo brings one back.
    const next = events.slice(0, index).findLast((event) => event.key === key)
    const isLifted =
      next?.until === undefined &&
      (Date.parse(until) > now
        ? view !== undefined && view.ban?.until !== until
        : next !== undefined && Date.parse(next.at) < Date.parse(until))
    return [{ key, afterId, at: Date.parse(at), until: Date.parse(until), early, isLifted }]
  })
}

/** The ban that refused an exchange; undefined if it began with a scenario, or longer ago than the log of changes. */
export function banOf({ key, id }: Exchange, bans: readonly LoggedBan[]): LoggedBan | undefined {
  return bans.find((ban) => ban.key === key && ban.afterId < id)
}
