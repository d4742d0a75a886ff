import { LAST_INSTANT } from '../domain/clock.js'
import type { AnswerEnd } from '../domain/ending.js'
import type { WireFault } from '../domain/faults.js'
import type { HandlerResult, ServiceRequest } from '../domain/messages.js'
import { readRetryAfter } from '../domain/retry-after.js'
import type { EpochMs } from '../domain/time.js'
import { digestOf } from '../system/digest.js'
import type { Arrival } from './judged-request.js'
import type { NamedWait } from './waits.js'

/** What an answer tells its client about coming back, once it has been received. */
export type News =
  | { readonly kind: 'wait'; readonly wait: NamedWait }
  /** Neither yes nor when: a 429 or 5xx without Retry-After, or an answer broken on the way. */
  | { readonly kind: 'failure'; readonly fingerprint: string; readonly from: EpochMs; readonly isBroken: boolean }

/** Faults that their client sees as a failure of the connection. One that hangs shows nothing. */
const BREAKING: readonly (WireFault | undefined)[] = ['connection-reset', 'empty-response', 'malformed-chunk']

/** Whether there may be news in an answer; most have none. */
export function mayTell({ status, reason, retryAt, fault }: HandlerResult): boolean {
  return status === 429 || status >= 500 || retryAt !== undefined || fault !== undefined || reason === 'ban'
}

/** @returns undefined for an answer that tells nothing */
export function newsOf(answer: HandlerResult, { now, wall }: Arrival, fingerprint: string): News | undefined {
  const { status, fault } = answer
  if (fault === 'hang') return undefined
  if (BREAKING.includes(fault)) return { kind: 'failure', fingerprint, from: now, isBroken: true }
  const until = retryInstant(answer, now)
  if (until !== undefined) {
    return {
      kind: 'wait',
      wait: { fingerprint, kind: kindOf(answer), from: now, until, wallUntil: wall + until - now },
    }
  }
  if (status !== 429 && status < 500) return undefined
  return { kind: 'failure', fingerprint, from: now, isBroken: false }
}

/** When the request came that is answered with it. */
export function beganAt(news: News): EpochMs {
  return news.kind === 'wait' ? news.wait.from : news.from
}

/** Whether an answer that ended so has told its client. A broken one shows that it is. */
export function isReceived(news: News, how: AnswerEnd): boolean {
  return how === 'sent' || (how === 'cut' && news.kind === 'failure' && news.isBroken)
}

/** Whether a request got what it asked for, or at least to know why not: then what failed before is forgotten. */
export function isServed({ status, reason, retryAt, fault }: HandlerResult): boolean {
  if (fault !== undefined && (fault === 'hang' || BREAKING.includes(fault))) return false
  return status !== 429 && status < 500 && reason !== 'ban' && retryAt === undefined
}

/** A target up to this length is its own fingerprint. */
const LONGEST_TARGET = 200

/** Identifies repeats of a request by method, path, query and body. */
export function fingerprintOf({ method, target, body }: ServiceRequest): string {
  const head = `${method} ${target}`
  if (body === undefined && head.length <= LONGEST_TARGET) return head
  return digestOf(`${head}\n`, body ?? '')
}

/** When an answer told its client to come back; undefined if it did not. */
function retryInstant({ headers = [], retryAt }: HandlerResult, now: EpochMs): EpochMs | undefined {
  const index = headers.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === 'retry-after')
  if (index === -1) return undefined
  if (retryAt !== undefined) return retryAt
  // Only an answer of a fuller contract has no instant of its own.
  const wait = readRetryAfter(String(headers[index + 1]), undefined, now)
  return wait === undefined ? undefined : Math.min(now + wait, LAST_INSTANT)
}

/** A refusal for want of quota concerns the whole key; a forced one is only a rehearsal. */
function kindOf({ status, reason }: HandlerResult): NamedWait['kind'] {
  if (reason === 'ban') return 'ban'
  return status === 429 && reason !== 'forced' ? 'limit' : 'request'
}
