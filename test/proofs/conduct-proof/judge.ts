import type { Wired, WiredResponse } from './capture.js'

/** Either verdict is right this close to the end of a wait: it counts from the request or the response, and timers vary. */
const MARGIN_MS = 100
/** Limit of "at once" in docs/conduct.md. Either verdict is right within the margin. */
const AT_ONCE_MS = 100
const AT_ONCE_MARGIN_MS = 25
const MOST_AT_ONCE = 3

/** The expected verdict, from the captured packets. Requests are numbered from 1. */
export interface Truth {
  readonly requests: number
  /** Requests sent after their sender received a response with a wait, and before the wait ended. */
  readonly early: readonly number[]
  /** Requests for which either verdict is right. */
  readonly either: readonly number[]
  /** The longest series of retries at once after failures without a wait: lower and upper bound. */
  readonly atOnce: { readonly least: number; readonly most: number }
  readonly refused: number
}

/** @param wired all requests to the sandbox, including its control plane */
export function judge(wired: readonly Wired[]): Truth {
  // By id. Preflights have no id.
  const requests = wired.filter(({ method, target }) => target.startsWith('/v1/') && method !== 'OPTIONS')
  const verbs = wired.filter(({ method, target }) => target.startsWith('/__sandbox/') && method !== 'GET')
  const early: number[] = []
  const either: number[] = []
  requests.forEach((request, index) => {
    const verdicts = requests.flatMap((before) => {
      if (before === request || before.response === undefined || !isSameSender(before, request)) return []
      if (!isBan(before.response) && identityOf(before) !== identityOf(request)) return []
      return [isEarly(request, before, before.response, { verbs, requests })]
    })
    if (verdicts.includes(true)) early.push(index + 1)
    else if (verdicts.includes(undefined)) either.push(index + 1)
  })
  return {
    requests: requests.length,
    early,
    either,
    atOnce: {
      least: longestRun(requests, AT_ONCE_MS - AT_ONCE_MARGIN_MS, true),
      most: longestRun(requests, AT_ONCE_MS + AT_ONCE_MARGIN_MS, false),
    },
    refused: requests.filter(({ response }) => (response?.status ?? 500) >= 400).length,
  }
}

/** @returns undefined where neither is wrong */
function isEarly(
  request: Wired,
  before: Wired,
  told: WiredResponse,
  { verbs, requests }: { readonly verbs: readonly Wired[]; readonly requests: readonly Wired[] },
): boolean | undefined {
  const wait = waitOf(told)
  if (wait === undefined || told.isDelivered === 'no' || request.sentAt <= told.deliveredAt) return false
  if (request.sentAt >= told.deliveredAt + wait + MARGIN_MS) return false
  // Issued together, but held back by a library or the system until the response was there: the wire cannot tell.
  if (isSameTurn(before, request)) return undefined
  // Whatever is done by hand may end a wait; it did if the request was served.
  const isEnded = verbs.some(
    ({ sentAt, response }) => sentAt < request.sentAt && (response?.deliveredAt ?? sentAt) > told.deliveredAt,
  )
  if (isEnded) return isServed(request) ? false : undefined
  if (told.isDelivered === 'unread' || request.sentAt >= before.sentAt + wait - MARGIN_MS) return undefined
  if (requests.some((other) => isPipelined(request, other))) return undefined
  const reason = told.headers.get('x-sandbox-reason')
  if (reason === 'storm' || reason === 'fault') return true
  // A quota or a ban ends up to a second before its Retry-After, which is rounded up; while it refuses it has not ended.
  if (request.sentAt < before.sentAt + wait - SECOND_MS - MARGIN_MS) return true
  const isOver = requests.some((other) => isServed(other) && isBetween(other, told.deliveredAt, request.sentAt))
  if (isOver) return undefined
  const refusedLater = requests.some(
    (other) =>
      other.response !== undefined &&
      other.response.headers.get('x-sandbox-reason') === reason &&
      (waitOf(other.response) ?? 0) <= wait &&
      isBetween(other, request.sentAt + MARGIN_MS, before.sentAt + wait),
  )
  return refusedLater ? true : undefined
}

/**
 * Sent on a connection whose response to an earlier request was still to come: a busy sandbox reads both at once, and
 * cannot tell which of them was sent before an earlier response arrived.
 */
function isPipelined(request: Wired, other: Wired): boolean {
  const isBefore = other.connection === request.connection && other.sentAt < request.sentAt
  return isBefore && (other.response?.deliveredAt ?? Number.POSITIVE_INFINITY) > request.sentAt
}

const SECOND_MS = 1000
const isServed = ({ response }: Wired) => (response?.status ?? 500) < 400
const isBetween = ({ sentAt }: Wired, from: number, to: number) => sentAt > from && sentAt < to

/**
 * The longest series of requests, each at once after a failure of the same request that names no wait.
 * @param least a request that overlaps the one before ends a series
 */
function longestRun(requests: readonly Wired[], atOnceMs: number, least: boolean): number {
  const runs = new Map<string, { count: number; failures: (number | undefined)[]; last?: Wired }>()
  let longest = 0
  for (const request of requests) {
    const name = `${senderOf(request)} ${identityOf(request)}`
    const run = runs.get(name) ?? { count: 0, failures: [] }
    runs.set(name, run)
    const isAtOnce = (failedAt: number | undefined) =>
      failedAt !== undefined && request.sentAt > failedAt && request.sentAt - failedAt <= atOnceMs
    // A request sent in parallel with another is not a retry of it.
    const isTogether = run.last !== undefined && isSameTurn(run.last, request)
    const isNext = least ? !isTogether && isAtOnce(run.failures.at(-1)) : run.failures.some(isAtOnce)
    run.count = isNext ? run.count + 1 : 0
    longest = Math.max(longest, run.count)
    run.last = request
    run.failures.push(failedAt(request))
  }
  return longest
}

/** Time at which the client received a failure without a wait. */
function failedAt({ response, brokenAt }: Wired): number | undefined {
  if (response === undefined) return brokenAt
  const isFailure = (response.status === 429 || response.status >= 500) && waitOf(response) === undefined
  return isFailure && response.isDelivered !== 'no' ? response.deliveredAt : undefined
}

function waitOf({ headers }: WiredResponse): number | undefined {
  const text = headers.get('retry-after')
  if (text === undefined) return undefined
  return /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.parse(headers.get('date') ?? '')
}

const isBan = ({ headers }: WiredResponse) => headers.get('x-sandbox-reason') === 'ban'
const identityOf = ({ method, target, body }: Wired) => `${method} ${target} ${body}`
/** The sender, by a header that the sandbox ignores. */
const senderOf = ({ headers }: Wired) => headers.get('x-sender') ?? ''
const isSameSender = (one: Wired, other: Wired) => senderOf(one) === senderOf(other)
/** Sent in parallel, by a header that the sandbox ignores. */
const isSameTurn = (one: Wired, other: Wired) =>
  one.headers.has('x-turn') && one.headers.get('x-turn') === other.headers.get('x-turn')

/** The verdict of GET /conduct or a report. */
export interface Said {
  readonly requests: number
  readonly violations: readonly Finding[]
  readonly warnings: readonly Finding[]
}

interface Finding {
  readonly rule: string
  readonly message: string
  readonly count: number
  readonly exchanges: readonly number[]
}

const EARLY = ['early-retry', 'request-while-banned']

/**
 * @returns differences from the packets. `FALSE` accuses wrongly, `MISSED` and `LATE` miss a violation.
 *
 * @param isCounted several senders without names: the sandbox cannot tell which of them was early
 */
export function compare(
  truth: Truth,
  { violations, warnings }: Said,
  client: { readonly firstId: number; readonly isCounted: boolean; readonly isBackingOff: boolean },
): string[] {
  const { firstId, isCounted, isBackingOff } = client
  const differences: string[] = []
  const numbers = (rules: readonly string[], among: readonly Finding[]) => {
    const found = among.filter(({ rule }) => rules.includes(rule))
    return [...new Set(found.flatMap(({ exchanges }) => exchanges.map((id) => id - firstId + 1)))]
  }
  const said = numbers(EARLY, violations)
  const likely = numbers(['early-retry-likely'], warnings)
  const accused = said.filter((number) => !truth.early.includes(number) && !truth.either.includes(number))
  // Only their number counts for senders without names.
  const wrong = isCounted && said.length <= truth.early.length + truth.either.length ? [] : accused
  const missed = truth.early.filter((number) => !said.includes(number) && !likely.includes(number))
  const only = truth.early.filter((number) => !said.includes(number) && likely.includes(number))
  if (wrong.length > 0) differences.push(`FALSE early: ${wrong}`)
  if (missed.length > 0 && (!isCounted || said.length === 0))
    differences.push(
      missed.length === truth.early.length ? `MISSED early: ${missed}` : `LATE: ${missed} of ${truth.early}`,
    )
  if (only.length > 0 && !isCounted) differences.push(`only likely: ${only}`)
  const has = (rule: string) => [...violations, ...warnings].some((finding) => finding.rule === rule)
  const hasBackoff = has('no-backoff') || has('no-backoff-likely')
  if (has('no-backoff') && truth.atOnce.most <= MOST_AT_ONCE)
    differences.push(`FALSE no-backoff (${truth.atOnce.most} at once)`)
  if (!hasBackoff && truth.atOnce.least > MOST_AT_ONCE)
    differences.push(`MISSED no-backoff (${truth.atOnce.least} at once)`)
  if (has('no-backoff-likely') && truth.atOnce.most <= MOST_AT_ONCE) differences.push('warned: no-backoff-likely')
  if (has('early-retry-likely') && truth.early.length + truth.either.length === 0)
    differences.push('warned: early-retry-likely')
  if (has('weak-backoff') && isBackingOff) differences.push('warned: weak-backoff')
  return differences
}
