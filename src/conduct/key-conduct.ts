import { LAST_INSTANT } from '../domain/clock.js'
import type { ApiKey } from '../domain/keys.js'
import { type HandlerResult, leavesNoStatus, type ServiceRequest } from '../domain/messages.js'
import type { Limits } from '../domain/quota.js'
import { readRetryAfter } from '../domain/retry-after.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import { digestOf } from '../system/digest.js'
import type { Group } from './findings.js'
import type { JudgedRequest } from './judged-request.js'
import type { Arrival, Moment } from './knowledge.js'
import { type Remark, whatWasSent } from './remarks.js'
import {
  type Coming,
  forgetFuture,
  knewOfBan,
  lacksBackoff,
  newSenders,
  noteAnswer,
  noteFailure,
  noteWait,
  oweNothing,
  passCalmly,
  receive,
  type Senders,
  tellOfBan,
} from './senders.js'
import { countRequest, forgetFutureTraffic, openTraffic, type Traffic } from './what-if.js'

const NOTHING: readonly Remark[] = []

/** A target up to this length is its own fingerprint. */
const LONGEST_TARGET = 200

/** The conduct of one key: the waits its senders owe, and what each plan would do with its traffic. */
export class KeyConduct {
  readonly apiKey: ApiKey
  readonly traffic: Traffic
  /** Where remarks on single exchanges are counted, so that what comes with every request need not be looked up by its words. */
  readonly findings = new WeakMap<Remark, Group>()
  readonly #senders: Senders = newSenders()

  constructor(apiKey: ApiKey, plans: readonly Limits[]) {
    this.apiKey = apiKey
    this.traffic = openTraffic(plans)
  }

  /** Counts a request that asks for quota. */
  count({ space, now }: JudgedRequest): void {
    // A key that is always limited or banned says nothing about plans.
    if (this.apiKey.always === undefined) countRequest(this.traffic, space.settings, now)
  }

  /** The clock has gone back to an instant. */
  forgetFuture(now: EpochMs): void {
    forgetFuture(this.#senders, now)
    forgetFutureTraffic(this.traffic, now)
  }

  /** Judges whether a request came when it was allowed to, in the light of what its key was answered before, and notes what its answer asks for. */
  judge(judged: JudgedRequest, answer: HandlerResult, startedAt: number, dueAt: number): readonly Remark[] {
    const { now, request } = judged
    const senders = this.#senders
    if (!isFailure(answer) && answer.reason !== 'ban' && oweNothing(senders) && answer.retryAt === undefined) {
      passCalmly(senders, startedAt, 0, dueAt)
      return NOTHING
    }
    const arrival: Arrival = { at: now, monotonic: startedAt, heardUntil: 0 }
    const fingerprint = fingerprintOf(request)
    const coming = receive(senders, fingerprint, arrival)
    const sentAt: Moment = { at: now + dueAt - startedAt, monotonic: dueAt }
    const remarks = this.#remarks(judged, answer, coming, arrival)
    const until = retryInstant(answer, now)
    if (answer.reason === 'ban') tellOfBan(senders, banOf(judged), sentAt)
    if (until !== undefined) {
      noteWait(senders, { ...sentAt, fingerprint, from: now, until, isLimit: isLimit(answer) })
    } else if (isFailure(answer)) noteFailure(senders, fingerprint, coming, sentAt)
    else if (answer.reason !== 'ban') noteAnswer(senders, coming, dueAt)
    return remarks
  }

  #remarks(judged: JudgedRequest, answer: HandlerResult, coming: Coming, arrival: Arrival): readonly Remark[] {
    const what = whatWasSent(judged)
    // Requests of one operation are reported together.
    const detail = judged.route.kind === 'operation' ? '' : what
    const remarks: Remark[] = []
    if (coming.kind === 'early') {
      const left = lengthOf(coming.wait.until - arrival.at)
      remarks.push({
        rule: 'early-retry',
        detail,
        message: `${what} was sent again ${left} before its Retry-After had passed.`,
      })
    }
    if (lacksBackoff(coming)) {
      const { gap, tries } = coming.try
      const message = `${what} was tried again after ${lengthOf(gap)}: try ${tries} without a longer wait than before.`
      remarks.push({ rule: 'no-backoff', detail, message })
    }
    if (answer.reason === 'ban') {
      if (coming.kind !== 'free' && knewOfBan(this.#senders, banOf(judged), arrival)) {
        const message = `${what} was sent although its key had been told that it is banned.`
        remarks.push({ rule: 'request-while-banned', detail, message })
      }
    } else if (coming.kind === 'while-limited' && answer.reason !== 'forced') {
      const left = lengthOf(coming.wait.until - arrival.at)
      const message = `${what} was sent although its key had been told to wait another ${left}.`
      remarks.push({ rule: 'request-while-limited', detail, message })
    }
    return remarks
  }
}

/** Identifies repeats of a request by method, path, query and body. */
function fingerprintOf({ method, target, body }: ServiceRequest): string {
  const head = `${method} ${target}`
  if (body === undefined && head.length <= LONGEST_TARGET) return head
  return digestOf(`${head}\n`, body ?? '')
}

/** When a response told its client to come back; undefined if it did not. */
function retryInstant({ headers = [], retryAt }: HandlerResult, now: EpochMs): EpochMs | undefined {
  const index = headers.findIndex((item, at) => at % 2 === 0 && item.toLowerCase() === 'retry-after')
  if (index === -1) return undefined
  if (retryAt !== undefined) return retryAt
  // Only an answer of a fuller contract has no instant of its own.
  const wait = readRetryAfter(String(headers[index + 1]), undefined, now)
  return wait === undefined ? undefined : Math.min(now + wait, LAST_INSTANT)
}

/** A 429 or 5xx that the client saw; a fault on the wire shows nothing. */
function isFailure(answer: HandlerResult): boolean {
  return (answer.status === 429 || answer.status >= 500) && !leavesNoStatus(answer)
}

/** A refusal for want of quota concerns the whole key; a forced one is only a rehearsal. */
function isLimit({ status, reason }: HandlerResult): boolean {
  return status === 429 && reason !== 'forced' && reason !== 'ban'
}

/** The ban in force; undefined for a key that is always banned, which counts as one endless ban. */
function banOf({ caller }: JudgedRequest) {
  return caller.account.bans.ban
}

/** In seconds, or in milliseconds below a tenth of one. */
function lengthOf(duration: DurationMs): string {
  return duration < SECOND_MS / 10 ? `${Math.ceil(duration)} ms` : `${(duration / SECOND_MS).toFixed(1)} s`
}
