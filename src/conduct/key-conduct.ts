import { bringsBan } from '../domain/ban.js'
import type { Caller, PlanName } from '../domain/keys.js'
import type { HandlerResult } from '../domain/messages.js'
import type { Limits } from '../domain/quota.js'
import { type FindingDraft, sourceOf } from './finding-drafts.js'
import type { Group } from './findings.js'
import type { JudgedRequest } from './judged-request.js'
import { type Plain, toPlain } from './plain.js'
import { lacksBackoff } from './retries.js'
import { beginRequest, endWaits, mostAtOnce, noteTry, openSenders, runningWaits, type Senders } from './senders.js'
import { fingerprintOf, type GivenResponse, isServed, type RunningWaits, type Sent } from './waits.js'
import { openTraffic, type Traffic } from './what-if.js'

/** Limit per key. Beyond it, the sender that was idle longest is dropped. */
const MAX_NAMED_SENDERS = 100

export type KeyCaller = Caller & { readonly kind: 'key' }

/** Identifies a key by its label only, because the key may be secret. */
export interface KeyIdentity {
  /** The label of a key, or the account name of an unknown token. */
  readonly name: string
  readonly isStranger: boolean
  readonly label: string
  readonly plan: PlanName
  /** Always limited or banned, so it is excluded from the comparison of plans. */
  readonly isAlwaysRefused: boolean
}

export interface KeyConduct {
  readonly identity: KeyIdentity
  readonly traffic: Traffic
  /** By name; empty for all senders without a name. */
  readonly senders: Map<string, Senders>
  /** Cache for drafts that are the same object for all requests of an operation. */
  readonly groups: WeakMap<FindingDraft, Group>
}

export type SavedKeyConduct = Plain<Pick<KeyConduct, 'identity' | 'senders'> & { traffic: Omit<Traffic, 'plans'> }>

interface Verdict {
  readonly drafts: readonly FindingDraft[]
  readonly isEarly: boolean
}

const NO_VERDICT: Verdict = { drafts: [], isEarly: false }

export function openKeyConduct(
  { name, label, apiKey: { plan = 'free', always }, isStranger }: KeyCaller,
  plans: readonly Limits[],
): KeyConduct {
  const identity = { name, isStranger, label, plan, isAlwaysRefused: always !== undefined }
  return { identity, traffic: openTraffic(plans), senders: new Map(), groups: new WeakMap() }
}

export function saveKeyConduct({ identity, traffic: { plans: _, ...traffic }, senders }: KeyConduct): SavedKeyConduct {
  return toPlain({ identity, traffic, senders })
}

export function restoreKeyConduct(saved: SavedKeyConduct, plans: readonly Limits[]): KeyConduct {
  const { identity, traffic, senders } = structuredClone(saved)
  return {
    identity,
    traffic: { ...traffic, plans },
    senders: new Map(senders.map(([name, one]) => [name, openSenders(one)])),
    groups: new WeakMap(),
  }
}

export function senderOf({ caller }: JudgedRequest): string {
  return caller.kind === 'key' ? caller.sender : ''
}

/** @returns undefined if the number of senders is estimated from their requests */
function statedSenders(judged: JudgedRequest): number | undefined {
  return senderOf(judged) === '' ? judged.space.settings.senders : 1
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

export function unnamedAtOnce({ senders }: KeyConduct): number {
  const unnamed = senders.get('')
  return unnamed === undefined ? 1 : mostAtOnce(unnamed)
}

/** @param stated number of senders without a name @returns the number of senders that share the key */
export function countSenders({ senders }: KeyConduct, stated: number | undefined): number {
  const unnamed = senders.get('')
  if (unnamed === undefined) return Math.max(1, senders.size)
  return senders.size - 1 + (stated ?? unnamed.peak)
}

/** Without waits and failures, a request cannot be too early. */
function isRefused({ waits, retries }: Senders): boolean {
  return waits.length > 0 || retries.size > 0
}

export function isBanDue(account: KeyConduct, judged: JudgedRequest, banAfter: number): boolean {
  const senders = account.senders.get(senderOf(judged))
  if (senders === undefined || !isRefused(senders)) return false
  const { limits, hasFirst } = runningWaits(senders, fingerprintOf(judged), judged)
  const count = statedSenders(judged) ?? senders.peak
  return limits.known >= count && bringsBan(senders.early, hasFirst, banAfter * count, judged.now, judged.wall)
}

/** Judges whether a request was too early, by the responses that its sender had received. */
export function judgeTiming(
  account: KeyConduct,
  senders: Senders,
  judged: JudgedRequest,
  response: HandlerResult,
  fingerprint: string,
): Verdict {
  beginRequest(senders, fingerprint)
  if (!isRefused(senders)) return NO_VERDICT
  const stated = statedSenders(judged)
  const { own, limits, bans } = runningWaits(senders, fingerprint, judged)
  const same = stated ?? senders.peaks.get(fingerprint) ?? 1
  const all = stated ?? senders.peak
  const retry = noteTry(senders, fingerprint, same, judged)
  if (isServed(response)) senders.retries.delete(fingerprint)

  const drafts: FindingDraft[] = []
  const add = (
    rule: FindingDraft['rule'],
    response: GivenResponse,
    { at, wall }: Sent,
    rest: Pick<FindingDraft, 'senders' | 'tries'> = {},
  ) => {
    const laterMs = Math.max(0, judged.now - at, judged.wall - wall)
    drafts.push({
      rule,
      detail: judged.route.kind === 'operation' ? '' : sourceOf(judged),
      message: '',
      isShared: senders.peak > 1,
      disobeyed: { ...response, at, laterMs, isHeldBack: rule === 'early-retry' && isHeldBack(judged) },
      ...rest,
    })
  }
  const addWaits = (rule: FindingDraft['rule'], { latest }: RunningWaits, excusedBy: number) => {
    if (latest !== undefined) add(rule, latest.response, latest.sent, { senders: excusedBy })
  }

  const possible = own.known + own.unknown
  if (own.known >= same) addWaits('early-retry', own, own.known + 1)
  else if (possible >= same) addWaits('early-retry-likely', own, possible + 1)
  else if (stated === undefined && own.known > 0 && isMoreThanBefore(senders, own.known, judged))
    addWaits('early-retry-likely', own, 1)
  if (response.reason === 'ban') {
    if (bans.known >= all) addWaits('request-while-banned', bans, bans.known + 1)
  } else if (possible === 0 && limits.known >= all && response.reason !== 'forced')
    addWaits('request-while-limited', limits, limits.known + 1)

  if (retry !== undefined) {
    const { failure, instant: tries, unproven, excusedBy, isWeak } = retry
    if (lacksBackoff(tries, same)) {
      const rule = lacksBackoff(tries - unproven, same) ? 'no-backoff' : 'no-backoff-likely'
      add(rule, failure.response, failure, { senders: excusedBy, tries })
    } else if (isWeak) add('weak-backoff', failure.response, failure)
  }
  // The wait of a ban replaces earlier ones: a client that keeps it is not early afterwards.
  if (response.reason === 'ban')
    for (const one of account.senders.values()) endWaits(one, ({ kind }) => kind === 'limit')
  return { drafts, isEarly: limits.known >= all }
}

/** Whether more senders than ever before had a running wait. With several senders, some of them usually wait. */
function isMoreThanBefore({ mostWaits }: Senders, waiting: number, { route }: JudgedRequest): boolean {
  const operation = route.kind === 'operation' ? route.operation.id : ''
  if (waiting <= (mostWaits.get(operation) ?? 0)) return false
  mostWaits.set(operation, waiting)
  return true
}

/** Browsers (Sec-Fetch-Site) delay a GET while the same one is in flight, as with React's StrictMode. */
function isHeldBack({ request: { method, headers } }: JudgedRequest): boolean {
  return method === 'GET' && headers['sec-fetch-site'] !== undefined
}
