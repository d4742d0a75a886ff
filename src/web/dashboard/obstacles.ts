import type { KeyView, StormView } from '../../control/views.js'
import { parseDuration } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import type { LoggedEvent } from '../../exchanges/space-event.js'
import { banLeft, minuteAt, windowAt } from './quota-now.js'
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
  const spent = (reason: 'quota-minute' | 'quota-day', { remaining, leftMs }: { remaining: number; leftMs: number }) =>
    remaining > 0 || leftMs === 0
      ? []
      : [{ reason, text: `${reason.slice(6)} quota used up`, until: now + leftMs, isWhole: true }]
  const ban = key === undefined ? 0 : banLeft(key, now)
  const minute = key && minuteAt(key, now)
  const stormEnd = storm === null ? undefined : endOfStorm(storm, now)
  const all: readonly Obstacle[] = [
    ...(ban === 0 ? [] : [{ reason: 'ban', text: 'banned', until: now + ban, isWhole: true } as const]),
    ...(minute === undefined ? [] : spent('quota-minute', minute)),
    ...(key?.day ? spent('quota-day', windowAt(key.day, now)) : []),
    ...(storm === null || stormEnd === undefined
      ? []
      : [
          {
            reason: 'storm',
            text: `storm ${Number((100 * storm.rate).toFixed(2))} %`,
            until: stormEnd,
            isWhole: storm.rate === 1,
          } as const,
        ]),
  ]
  return all.toSorted((a, b) => b.until - a.until)
}

/** Undefined between the periods of a storm, and after its only one. */
function endOfStorm({ startedAt, for: length, every }: StormView, now: number): number | undefined {
  const [lasts, period] = [length, every].map((text) => parseDuration(text ?? '') ?? Number.POSITIVE_INFINITY)
  const elapsed = (now - Date.parse(startedAt)) % (period ?? 1)
  const left = (lasts ?? 0) - elapsed
  return elapsed >= 0 && left > 0 ? now + left : undefined
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
    const isLifted =
      Date.parse(until) > now
        ? view !== undefined && view.ban?.until !== until
        : events.slice(0, index).some((event) => event.verb === 'keys.unban' && event.key === key)
    return [{ key, afterId, at: Date.parse(at), until: Date.parse(until), early, isLifted }]
  })
}

/** The ban that refused an exchange; undefined if it began with a scenario, or longer ago than the log of changes. */
export function banOf({ key, id }: Exchange, bans: readonly LoggedBan[]): LoggedBan | undefined {
  return bans.find((ban) => ban.key === key && ban.afterId < id)
}
