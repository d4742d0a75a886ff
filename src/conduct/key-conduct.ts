import type { KeyCaller } from '../domain/keys.js'
import type { HandlerResult } from '../domain/messages.js'
import type { DurationMs } from '../domain/time.js'
import { type FindingDraft, sourceOf } from './finding-drafts.js'
import type { JudgedRequest, Now } from './judged-request.js'
import { lacksBackoff } from './retries.js'
import {
  ALL,
  beginRequest,
  countAtOnce,
  countParallel,
  dropWithoutReason,
  endRetries,
  findReady,
  noteDelayed,
  noteTry,
  openSenders,
  type Ready,
  type Senders,
  settleWaits,
  takeReady,
} from './senders.js'
import {
  type Context,
  elapsed,
  fingerprintOf,
  type GivenResponse,
  isServed,
  orderOf,
  type RunningWaits,
  runningWaits,
  type Sent,
  type Wait,
} from './waits.js'
import { openTraffic, type Traffic } from './what-if.js'

/** Limit per key. Beyond it, the sender that was idle longest is dropped. */
const MAX_NAMED_SENDERS = 100

/** Identifies a key by its label only, because the key may be secret. */
export interface KeyIdentity {
  /** The label of a key, or the account name of an unknown token. */
  readonly name: string
  readonly isStranger: boolean
  readonly label: string
  /** That the key starts with. */
  readonly plan?: string
  /** Always limited or banned, so it is excluded from the comparison of plans. */
  readonly isAlwaysRefused: boolean
}

/** Plain data and maps. */
export interface KeyConduct extends KeyIdentity {
  readonly traffic: Traffic
  /** By name; empty for all senders without a name. */
  readonly senders: Map<string, Senders>
}

interface Verdict {
  readonly drafts: readonly FindingDraft[]
  readonly context: Context
}

const NO_VERDICT: Verdict = { drafts: [], context: { isShared: false, inLoop: 0 } }
const PARALLEL: Verdict = { ...NO_VERDICT, context: { isShared: true, inLoop: 0 } }

export function openKeyConduct(caller: KeyCaller): KeyConduct {
  const { name, label, isStranger } = caller
  const { plan, always } = caller.apiKey
  const identity: KeyIdentity = {
    name,
    isStranger,
    label,
    isAlwaysRefused: always !== undefined,
    ...(plan !== undefined && { plan }),
  }
  return { ...identity, traffic: openTraffic(), senders: new Map() }
}

export function senderOf({ caller }: JudgedRequest): string {
  return caller.kind === 'key' ? caller.sender : ''
}

/** @returns undefined if the number of senders is estimated from their requests */
function statedSenders(judged: JudgedRequest): number | undefined {
  return senderOf(judged) === '' ? judged.space.state.settings.senders : 1
}

export function sendersNamed({ senders }: KeyConduct, name: string): Senders {
  const known = senders.get(name)
  if (known !== undefined) return known
  const opened = openSenders()
  senders.set(name, opened)
  if (senders.size > MAX_NAMED_SENDERS) {
    const oldest = [...senders.keys()].find((other) => other !== '')
    if (oldest !== undefined) senders.delete(oldest)
  }
  return opened
}

export function mostAtOnce({ senders }: KeyConduct): number {
  return senders.get('')?.most ?? 1
}

/** @param stated number of senders without a name @returns the number of senders that share the key */
export function countSenders({ senders }: KeyConduct, stated: number | undefined, now: Now): number {
  const unnamed = senders.get('')
  if (unnamed === undefined) return Math.max(1, senders.size)
  return senders.size - 1 + (stated ?? countParallel(unnamed, ALL, now))
}

/** Without waits and failures, a request cannot be too early. */
function hasRefusals({ waits, ready, retries }: Senders): boolean {
  return waits.length > 0 || ready.length > 0 || retries.size > 0
}

/** What a request shows as soon as it has arrived. */
export function noteArrival(senders: Senders, judged: JudgedRequest): void {
  dropWithoutReason(senders, judged)
  if (!hasRefusals(senders)) return
  const fingerprint = fingerprintOf(judged)
  noteDelayed(senders, fingerprint, 1, judged)
  settleWaits(senders, fingerprint, judged)
}

/**
 * A request is early if its sender has ignored waits that apply to all requests of the key. Waits of a real service do
 * not lead to a ban.
 * @returns the number of senders that an early request may have come from, otherwise undefined
 */
export function sendersIfEarly(account: KeyConduct, judged: JudgedRequest): number | undefined {
  const senders = account.senders.get(senderOf(judged))
  if (senders === undefined || !hasRefusals(senders)) return undefined
  const fingerprint = fingerprintOf(judged)
  const limits = runningWaits(senders.waits, fingerprint, judged).limits.after.filter(
    ({ reason }) => reason !== 'upstream',
  )
  const count = statedSenders(judged) ?? countParallel(senders, ALL, judged)
  return limits.length < count || findReady(senders, fingerprint)?.isShared ? undefined : count
}

/** Within this time after the first refusal, parallel requests may have been on their way: no reason to warn. */
const BURST_MS: DurationMs = 100

/** A loop sends its next request this soon after a refusal. */
const LOOP_MS: DurationMs = 50

/** More than this many in direct succession are one sender in a loop. */
const MAX_IN_LOOP = 3

/** Clients that wait come back this soon after their wait. */
const PUNCTUAL_MS: DurationMs = 150

const NO_REFUSAL = { position: 0, endedAt: 0, connection: 0, at: 0, wall: 0, isShared: false, inLoop: 0 }

/** Judges whether a request was too early, by the responses that its sender had received. */
export function judgeTiming(
  account: KeyConduct,
  senders: Senders,
  judged: JudgedRequest,
  response: HandlerResult,
  fingerprint: string,
  position: number,
): Verdict {
  const isParallel = beginRequest(senders, fingerprint, position, judged)
  if (!hasRefusals(senders)) return isParallel ? PARALLEL : NO_VERDICT
  const stated = statedSenders(judged)
  const { own, limits, bans } = settleWaits(senders, fingerprint, judged)
  const inLoop = isParallel ? 0 : countLoop(senders, own, fingerprint, judged)
  const seen = stated ?? countAtOnce(senders, fingerprint, judged)
  const same = stated ?? (inLoop > MAX_IN_LOOP ? 1 : countParallel(senders, fingerprint, judged))
  const all = stated ?? countParallel(senders, ALL, judged)
  const ready = takeReady(senders, fingerprint)
  const retry = ready?.isShared ? undefined : noteTry(senders, fingerprint, same, judged)
  // Each of several parallel requests may be repeated after its own response.
  const isReady = ready?.isShared === true || retry?.isShared === true
  if (isServed(response)) endRetries(senders, fingerprint)

  const drafts: FindingDraft[] = []
  const add = (
    rule: FindingDraft['rule'],
    response: GivenResponse,
    sent: Sent,
    rest: Pick<FindingDraft, 'senders' | 'tries' | 'sharing'> = {},
  ) => {
    const laterMs = Math.max(0, elapsed(sent, judged))
    drafts.push({
      rule,
      detail: judged.route.kind === 'operation' ? '' : sourceOf(judged),
      message: '',
      disobeyed: { ...response, at: sent.at, laterMs, isHeldBack: rule === 'early-retry' && isHeldBack(judged) },
      ...rest,
    })
  }
  const addWaits = (rule: FindingDraft['rule'], { after, unknown }: RunningWaits, senders: number, sharing = 0) => {
    const latest = after.at(-1) ?? unknown.at(-1)
    if (latest !== undefined) add(rule, latest.response, latest.sent, { senders, sharing })
  }

  const { connection } = judged.request
  const known = own.after.length
  const possible = known + own.unknown.length
  const here = own.after.findLast(({ sent }) => sent.connection === connection)
  const isEarly = limits.after.length >= all && !isReady
  const isAgain = !isReady && known >= same
  if (!isReady) {
    const isLikely = possible >= Math.min(seen, same) || (stated === undefined && here !== undefined)
    const isBurst = ![own.after[0], own.unknown[0]].some((first) => first && elapsed(first.sent, judged) > BURST_MS)
    const isOneSender = stated === undefined && same === 1
    if (isAgain) addWaits('early-retry', own, known + 1, isOneSender ? sharingOf(here, ready, judged) : 0)
    else if (isLikely && !isBurst) addWaits('early-retry-likely', own, possible + 1)
    if (response.reason === 'ban') {
      if (bans.after.length >= all) addWaits('request-while-banned', bans, bans.after.length + 1)
    } else if (isEarly && possible === 0 && response.reason !== 'forced')
      addWaits('request-while-limited', limits, limits.after.length + 1)
  }

  if (retry !== undefined) {
    const { failure, instant: tries, unproven, excusedBy, isWeak } = retry
    if (lacksBackoff(tries, same)) {
      const rule = lacksBackoff(tries - unproven, same) ? 'no-backoff' : 'no-backoff-likely'
      add(rule, failure.response, failure, { senders: excusedBy, tries })
    } else if (isWeak) add('weak-backoff', failure.response, failure)
  }
  // The wait of a ban replaces earlier ones: a client that keeps it is not early afterwards.
  if (response.reason === 'ban')
    for (const sender of account.senders.values()) sender.waits = sender.waits.filter(({ kind }) => kind !== 'limit')
  // A request takes the place of the one that it repeats.
  const repeated = !isAgain ? undefined : here?.isShared ? here : own.after.find((wait) => wait.isShared)
  if (repeated !== undefined) repeated.isShared = false
  const isShared = isParallel || isReady || repeated !== undefined
  return { drafts, context: { isShared, inLoop: isReady ? 0 : inLoop } }
}

/** A loop uses a connection of an earlier refusal, or a newer one. @returns see `Context` */
function countLoop({ retries }: Senders, own: RunningWaits, fingerprint: string, judged: JudgedRequest): number {
  const failures = retries.get(fingerprint)?.failures ?? []
  const refusals = [...own.after.map((wait) => ({ ...wait, ...wait.sent })), ...failures]
  const last = refusals.reduce<Sent & Context>((a, b) => (b.endedAt > a.endedAt ? b : a), NO_REFUSAL)
  const { connection } = judged.request
  if (orderOf(last, judged) !== 'after' || elapsed(last, judged) >= LOOP_MS) return 0
  const isSame = last.connection < connection || refusals.some((refusal) => refusal.connection === connection)
  return isSame ? last.inLoop + 1 : 0
}

/**
 * How much an early request suggests that several senders share the key; the sum counts. A request without a wait that is
 * over speaks against it. Senders that wait come back when a wait of their own is over, most clearly on its connection.
 * @param here a running wait of the same connection
 */
function sharingOf(here: Wait | undefined, ready: Ready | undefined, judged: JudgedRequest): number {
  const { connection } = judged.request
  if (here !== undefined && connection !== 0) return ONE_SENDER
  if (ready === undefined) return -2
  if (connection !== 0 && ready.connection === connection) return 3
  return elapsed(ready, judged) < PUNCTUAL_MS ? 1 : 0
}

/** Outweighs everything else. */
const ONE_SENDER = -1_000_000

/** Browsers (Sec-Fetch-Site) delay a GET while the same one is in flight, as with React's StrictMode. */
function isHeldBack({ request: { method, headers } }: JudgedRequest): boolean {
  return method === 'GET' && headers['sec-fetch-site'] !== undefined
}
