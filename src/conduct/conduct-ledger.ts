import type { KeyCaller } from '../domain/keys.js'
import {
  type Ending,
  type ExchangeRef,
  type HandlerResult,
  isBrowserProbe,
  isOwnRequest,
  isPublic,
} from '../domain/messages.js'
import { type Limits, NO_LIMITS } from '../domain/quota.js'
import { redactQuery } from '../domain/redaction.js'
import { isProxied } from '../domain/request-headers.js'
import type { EpochMs } from '../domain/time.js'
import type { ConductRule } from './conduct-view.js'
import { type FindingDraft, findingDrafts } from './finding-drafts.js'
import { countAgain, Findings, type Group, isSameRequest } from './findings.js'
import type { JudgedRequest } from './judged-request.js'
import {
  countSenders,
  judgeTiming,
  type KeyConduct,
  type KeyIdentity,
  mostAtOnce,
  noteArrival,
  openKeyConduct,
  senderOf,
  sendersIfEarly,
  sendersNamed,
} from './key-conduct.js'
import { findExcused, isLost, judgeWrites, readWrite, type StoredWrite } from './lost-writes.js'
import { fromPlain, type Plain, toPlain } from './plain.js'
import type { Repeats } from './repeats.js'
import {
  delayResponse,
  endRequest,
  forgetResponse,
  MAX_LOST_WRITES,
  moveClock,
  put,
  receive,
  type Senders,
} from './senders.js'
import { type Context, fingerprintOf, isReceived, type RefusalNotice, readNotice, userAgentOf } from './waits.js'
import { countRequest, forgetFutureTraffic } from './what-if.js'

/** Accounts of unknown tokens (--any-key). Beyond the limit, the oldest is dropped. */
const MAX_UNKNOWN_TOKENS = 1000

/** Open requests. Beyond the limit, the oldest is dropped, and its response is ignored. */
const MAX_OPEN_REQUESTS = 10_000

interface Open {
  readonly position: number
  readonly account: KeyConduct
  readonly sender: string
  readonly fingerprint: string
  notice: RefusalNotice | null
  readonly write: StoredWrite | null
  /** Lost writes that may be repeated once this response is received. */
  readonly excused: readonly string[]
  readonly isProxied: boolean
  readonly context: Context
}

export interface SavedConduct {
  readonly requests: number
  /** `Parts` */
  readonly parts: Plain
}

interface Parts {
  readonly reached: number
  readonly findings: Findings['rules']
  readonly keys: Map<string, KeyConduct>
  readonly strangers: Map<string, KeyConduct>
  readonly open: readonly (Omit<Open, 'account'> & Pick<KeyIdentity, 'name' | 'isStranger'>)[]
}

/** Judges how clients keep the service's rules, independently of the log. Its size is bounded. */
export class ConductLedger {
  findings = new Findings()
  readonly #plans: readonly Limits[]
  #keys = new Map<string, KeyConduct>()
  #strangers = new Map<string, KeyConduct>()
  /** Cache for drafts that are the same object for all requests of an operation. */
  #groups = new WeakMap<KeyConduct, WeakMap<FindingDraft, Group>>()
  /** By position. Not a map: where entries come and go, V8 promotes its tables with all that they held. */
  #open: Open[] = []
  requests = 0
  reached = 0
  /** Set by whoever wants to know them. */
  repeats: Repeats | undefined

  /** @param plans limits of the plans, smallest first */
  constructor(plans: readonly Limits[]) {
    this.#plans = plans
  }

  /** Removes the findings of a rule. @returns how often it was broken */
  excuse(rule: ConductRule): number {
    const groups = this.findings.rules.get(rule)
    this.findings.rules.delete(rule)
    this.#groups = new WeakMap()
    return [...(groups?.values() ?? [])].reduce((sum, { count }) => sum + count, 0)
  }

  get mostSenders(): number {
    return Math.max(1, ...this.keys().map(mostAtOnce))
  }

  /** In the order of their first request; unknown tokens last. */
  keys(): readonly KeyConduct[] {
    return [...this.#keys.values(), ...this.#strangers.values()]
  }

  count({ caller, request, space, now, wall }: JudgedRequest): void {
    if (caller.kind !== 'key' || isOwnRequest(request)) return
    const { settings } = space.state
    const account = this.#accountOf(caller)
    if (account.isAlwaysRefused) return
    const limits = settings.rateLimit ? caller.limits : NO_LIMITS
    const senders = countSenders(account, settings.senders, { now, wall })
    countRequest(account.traffic, settings, this.#plans, limits, senders, now, wall)
  }

  /** A request has arrived, and has not changed the space yet. */
  arrived(judged: JudgedRequest): void {
    if (isOwnRequest(judged.request)) return
    const senders = this.#known(judged)?.senders.get(senderOf(judged))
    if (senders !== undefined) noteArrival(senders, judged)
  }

  /** @returns see `sendersIfEarly` in key-conduct.ts */
  sendersIfEarly(judged: JudgedRequest): number | undefined {
    const account = isOwnRequest(judged.request) ? undefined : this.#known(judged)
    return account && sendersIfEarly(account, judged)
  }

  /**
   * Judges one exchange, in the order of arrival. Waits in its response begin when that has been sent.
   * @param at id of the exchange, and position of its request
   * @returns the earlier response that the request ignored; undefined without one
   */
  judge(
    judged: JudgedRequest,
    response: HandlerResult,
    { id, position }: Pick<ExchangeRef, 'id' | 'position'>,
  ): { readonly rule: ConductRule; readonly exchange: number } | undefined {
    const { caller, now, request, route, path, query } = judged
    if (isBrowserProbe(request) || isOwnRequest(request)) return undefined
    this.requests++
    this.repeats?.judge(judged, response, fingerprintOf(judged), id, position)
    const account = caller.kind === 'key' ? this.#accountOf(caller) : undefined
    const sender = senderOf(judged)
    if (route.kind === 'operation' && (account !== undefined || isPublic(route))) this.reached++
    let ignoring: FindingDraft | undefined
    if (account !== undefined) {
      const fingerprint = fingerprintOf(judged)
      const senders = sendersNamed(account, sender)
      const { lostWrites } = senders
      const verdict = judgeTiming(account, senders, judged, response, fingerprint, position)
      const writes = lostWrites.size > 0 ? judgeWrites(lostWrites, judged, fingerprint) : []
      for (const draft of writes.length === 0 ? verdict.drafts : [...verdict.drafts, ...writes]) {
        this.#find(judged, id, draft)
        ignoring ??= draft
      }
      const notice = readNotice(response, judged, fingerprint, id) ?? null
      const write = readWrite(judged, response, id, notice) ?? null
      this.#open.push({
        position,
        account,
        sender,
        fingerprint,
        notice,
        write,
        excused: lostWrites.size > 0 ? findExcused(lostWrites, judged, response) : [],
        isProxied: isProxied(request.headers),
        context: verdict.context,
      })
      const [oldest] = this.#open
      if (oldest !== undefined && this.#open.length > MAX_OPEN_REQUESTS) this.#close(0, oldest)
    }
    // Drafts that apply to all requests of an operation are the same object each time.
    for (const draft of findingDrafts(judged, response)) {
      const groups = sender === '' && account !== undefined ? this.#groupsOf(account) : undefined
      const group = groups?.get(draft)
      if (
        group !== undefined &&
        (group.isMixed || isSameRequest(group.request, { method: request.method, path, query }))
      )
        countAgain(group, id, now, userAgentOf(judged))
      else {
        const found = this.#find(judged, id, draft)
        groups?.set(draft, found)
      }
    }
    return ignoring?.disobeyed && { rule: ignoring.rule, exchange: ignoring.disobeyed.exchange }
  }

  ended(ending: Ending): void {
    this.repeats?.ended(ending)
    const index = placeOf(this.#open, ending.position)
    const open = this.#open[index]
    if (open?.position !== ending.position) return
    const { position, fingerprint, notice, write, context } = open
    const senders = this.#close(index, open)
    if (open.isProxied) delayResponse(senders, fingerprint, ending.endedAt)
    if (ending.how === 'sent') for (const name of open.excused) senders.lostWrites.delete(name)
    if (write !== null && isLost(write, ending))
      put(senders.lostWrites, fingerprint, { ...write, ...ending }, MAX_LOST_WRITES)
    if (notice === null || !isReceived(notice, ending.how)) return
    const isShared = context.isShared || senders.latest > position
    receive(senders, notice, ending, { ...context, isShared })
  }

  /** Requests under way: how they end is not told any more. */
  forgetOpen(): void {
    for (const { account, sender, fingerprint } of this.#open.splice(0))
      endRequest(sendersNamed(account, sender), fingerprint)
  }

  /** @param position of a request whose response was sent, but not received */
  unread(position: number): void {
    for (const { senders } of this.keys()) for (const sender of senders.values()) forgetResponse(sender, position)
  }

  /** The space's clock was moved. Waits that are over do not come back. Findings stay. */
  clockMoved(before: EpochMs, now: EpochMs, wall: EpochMs): void {
    for (const { senders, traffic } of this.keys()) {
      for (const sender of senders.values()) moveClock(sender, before, now, wall)
      if (now < before) forgetFutureTraffic(traffic, before, now, wall)
    }
    for (const open of this.#open) if (open.notice !== null && open.notice.from > now) open.notice = null
  }

  save(): SavedConduct {
    const open = this.#open.flatMap(({ account, ...request }) => {
      const { name, isStranger } = account
      // Skips accounts of unknown tokens that were dropped, even if another has the same name.
      return this.#accounts(isStranger).get(name) === account ? [{ ...request, name, isStranger }] : []
    })
    const { requests, reached } = this
    const accounts = { keys: this.#keys, strangers: this.#strangers }
    return { requests, parts: toPlain({ reached, findings: this.findings.rules, ...accounts, open } satisfies Parts) }
  }

  restore({ requests, parts }: SavedConduct): void {
    const { reached, findings, keys, strangers, open } = fromPlain(parts) as Parts
    this.requests = requests
    this.reached = reached
    this.findings = new Findings(findings)
    this.#keys = keys
    this.#strangers = strangers
    this.#open = open.flatMap(({ name, isStranger, ...request }) => {
      const account = this.#accounts(isStranger).get(name)
      return account === undefined ? [] : [{ ...request, account }]
    })
  }

  #close(index: number, { account, sender, fingerprint }: Open): Senders {
    this.#open.splice(index, 1)
    const senders = sendersNamed(account, sender)
    endRequest(senders, fingerprint)
    return senders
  }

  #find(judged: JudgedRequest, id: number, draft: FindingDraft): Group {
    const { caller, route, now, request, path, query, hide = (text: string) => text } = judged
    return this.findings.add(
      {
        ...draft,
        key: caller.label,
        sender: senderOf(judged),
        operation: route.kind === 'operation' ? route.operation.id : null,
        detail: hide(draft.detail),
        message: hide(draft.message),
        userAgent: userAgentOf(judged),
        request: {
          method: request.method,
          path: hide(redactQuery(path)),
          query: hide(redactQuery(query)),
        },
      },
      id,
      now,
    )
  }

  #groupsOf(account: KeyConduct): WeakMap<FindingDraft, Group> {
    const known = this.#groups.get(account)
    if (known !== undefined) return known
    const groups = new WeakMap<FindingDraft, Group>()
    this.#groups.set(account, groups)
    return groups
  }

  #known({ caller }: JudgedRequest): KeyConduct | undefined {
    return caller.kind === 'key' ? this.#accounts(caller.isStranger).get(caller.name) : undefined
  }

  #accounts(isStranger: boolean): Map<string, KeyConduct> {
    return isStranger ? this.#strangers : this.#keys
  }

  #accountOf(caller: KeyCaller): KeyConduct {
    const { name, isStranger } = caller
    const accounts = this.#accounts(isStranger)
    const known = accounts.get(name)
    if (known !== undefined) return known
    const opened = openKeyConduct(caller)
    put(accounts, name, opened, isStranger ? MAX_UNKNOWN_TOKENS : Number.POSITIVE_INFINITY)
    return opened
  }
}

/** Index of the first request that is not before a position. */
function placeOf(open: readonly Open[], position: number): number {
  let low = 0
  let high = open.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((open[middle]?.position ?? position) < position) low = middle + 1
    else high = middle
  }
  return low
}
