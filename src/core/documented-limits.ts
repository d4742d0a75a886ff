import type { LimitHeader } from '../contract/contract-data.js'
import type { HandlerResult } from '../domain/messages.js'
import { isUnlimited, type WindowView } from '../domain/quota.js'
import { ceilSeconds, type EpochMs, httpDate, isoText, SECOND_MS } from '../domain/time.js'
import type { RequestContext } from './request-context.js'

/** The headers of a response, and the limits as the contract documents them, in place of values made from its schemas. */
export function pushDocumentedLimits(
  headers: string[],
  { now, caller }: Pick<RequestContext, 'now' | 'caller'>,
  shown: WindowView,
  { headers: given = [], retryAt }: HandlerResult,
  documented: readonly LimitHeader[],
): void {
  const names = new Set(documented.map(({ name }) => name.toLowerCase()))
  for (let i = 0; i < given.length; i += 2)
    if (!names.has(String(given[i]).toLowerCase())) headers.push(String(given[i]), String(given[i + 1]))
  for (const { name, shows, form, isOwn } of documented) {
    const at = shows === 'retry' ? retryAt : shown.resetAt
    if ((isOwn && !isUnlimited(caller.limits)) || at === undefined) continue
    const same = headers.findIndex((item, index) => index % 2 === 0 && item.toLowerCase() === name.toLowerCase())
    const text = shows === 'limit' || shows === 'remaining' ? String(shown[shows]) : INSTANTS[form](at, now)
    if (same === -1) headers.push(name, text)
    else headers[same + 1] = text
  }
}

const INSTANTS: Readonly<Record<LimitHeader['form'], (at: EpochMs, now: EpochMs) => string>> = {
  wait: (at, now) => String(ceilSeconds(at - now)),
  'wait-ms': (at, now) => String(Math.max(0, at - now)),
  epoch: (at) => String(ceilSeconds(at)),
  'epoch-ms': (at) => String(ceilSeconds(at) * SECOND_MS),
  'http-date': (at) => httpDate(ceilSeconds(at) * SECOND_MS),
  'iso-date': (at) => isoText(ceilSeconds(at) * SECOND_MS),
  duration: (at, now) => `PT${ceilSeconds(at - now)}S`,
}
