import { type Ending, type ExchangeRef, type HandlerResult, isBrowsersOwn } from '../domain/messages.js'
import { type Limits, NO_LIMITS } from '../domain/quota.js'
import { redactQuery } from '../domain/redaction.js'
import type { EpochMs } from '../domain/time.js'
import { type FindingDraft, findingDrafts } from './finding-drafts.js'
import { countAgain, Findings, type Group, isSameRequest } from './findings.js'
import type { JudgedRequest } from './judged-request.js'
import {
  countSenders,
  isBanDue,
  judgeTiming,
  type KeyCaller,
  type KeyConduct,
  type KeyIdentity,
  openKeyConduct,
  restoreKeyConduct,
  type SavedKeyConduct,
  saveKeyConduct,
  senderOf,
  sendersNamed,
  unnamedAtOnce,
} from './key-conduct.js'
import { isLost, judgeWrites, readWrite, type StoredWrite } from './lost-writes.js'
import {
  endRequest,
  endWaits,
  forgetResponse,
  MAX_LOST_WRITES,
  moveClock,
  put,
  receive,
  type Senders,
  type WaitFilter,
} from './senders.js'
import { fingerprintOf, isReceived, type RefusalNotice, readNotice } from './waits.js'
import { countRequest, forgetFutureTraffic } from './what-if.js'

/** Accounts of unknown tokens (--any-key). Beyond the limit, the oldest is dropped. */
const MAX_UNKNOWN_TOKENS = 1000

/** Open requests. Beyond the limit, the oldest is dropped, and its response is ignored. */
const MAX_OPEN_REQUESTS = 10_000

const ALL_WAITS: WaitFilter = () => true

interface Open {
  readonly position: number
  readonly account: KeyConduct
  readonly sender: string
  readonly fingerprint: string
  notice: RefusalNotice | undefined
  readonly write: StoredWrite | undefined
}

export interface SavedConduct {
  readonly requests: number
  readonly reached: number
  readonly findings: readonly Group[]
  readonly keys: readonly SavedKeyConduct[]
  readonly open: readonly (Pick<KeyIdentity, 'name' | 'isStranger'> &
    Pick<Open, 'position' | 'sender' | 'fingerprint'> & {
      readonly news: RefusalNotice | null
      readonly write?: StoredWrite | null
    })[]
}

/** Judges how clients keep the service's rules, independently of the log. Its size is bounded. */
export class ConductLedger {
  readonly findings = new Findings()
  readonly #plans: readonly Limits[]
  readonly #hide: (text: string) => string
  readonly #keys = new Map<string, KeyConduct>()
  readonly #strangers = new Map<string, KeyConduct>()
  /** By position. Not a map: where entries come and go, V8 promotes its tables with all that they held. */
  readonly #open: Open[] = []
  requests = 0
  reached = 0

  /** @param plans limits of the plans, smallest first @param hide hides secrets in findings */
  constructor(plans: readonly Limits[], hide = (text: string) => text) {
    this.#plans = plans
    this.#hide = hide
  }

  get mostSenders(): number {
    return Math.max(1, ...this.keys().map(unnamedAtOnce))
  }

  /** In the order of their first request; unknown tokens last. */
  keys(): readonly KeyConduct[] {
    return [...this.#keys.values(), ...this.#strangers.values()]
  }

  count({ caller, space: { settings }, now, wall }: JudgedRequest): void {
    if (caller.kind !== 'key') return
    const account = this.#accountOf(caller)
    if (account.identity.isAlwaysRefused) return
    const limits = settings.rateLimit ? caller.limits : NO_LIMITS
    countRequest(account.traffic, settings, limits, countSenders(account, settings.senders), now, wall)
  }

  /** Whether a request bans its key, because its sender has ignored too many waits. */
  bringsBan(judged: JudgedRequest, banAfter: number): boolean {
    const { caller } = judged
    const account = caller.kind === 'key' ? this.#accounts(caller.isStranger).get(caller.name) : undefined
    return account !== undefined && isBanDue(account, judged, banAfter)
  }

  /**
   * Judges one exchange, in the order of arrival. Waits in its response begin when that has been sent.
   * @param at id of the exchange, and position of its request
   */
  judge(judged: JudgedRequest, response: HandlerResult, { id, position }: Pick<ExchangeRef, 'id' | 'position'>): void {
    const { caller, now, request, route, path, query } = judged
    if (isBrowsersOwn(request)) return
    this.requests++
    const account = caller.kind === 'key' ? this.#accountOf(caller) : undefined
    const sender = senderOf(judged)
    if (account !== undefined) {
      if (route.kind === 'operation') this.reached++
      const fingerprint = fingerprintOf(judged)
      const senders = sendersNamed(account, sender)
      const { lostWrites } = senders
      const { drafts, isEarly } = judgeTiming(account, senders, judged, response, fingerprint)
      for (const draft of drafts) this.#find(judged, id, draft)
      if (lostWrites.size > 0)
        for (const draft of judgeWrites(lostWrites, judged, response, fingerprint)) this.#find(judged, id, draft)
      const notice = readNotice(response, judged, fingerprint, id, isEarly)
      const write = readWrite(judged, response, id, notice)
      this.#open.push({ position, account, sender, fingerprint, notice, write })
      const [oldest] = this.#open
      if (oldest !== undefined && this.#open.length > MAX_OPEN_REQUESTS) this.#close(0, oldest)
    }
    // Drafts that apply to all requests of an operation are the same object each time.
    const groups = sender === '' ? account?.groups : undefined
    for (const draft of findingDrafts(judged, response)) {
      const group = groups?.get(draft)
      if (
        group !== undefined &&
        (group.isMixed || isSameRequest(group.request, { method: request.method, path, query }))
      )
        countAgain(group, id, now)
      else {
        const found = this.#find(judged, id, draft)
        groups?.set(draft, found)
      }
    }
  }

  ended(ending: Ending): void {
    const index = placeOf(this.#open, ending.position)
    const open = this.#open[index]
    if (open?.position !== ending.position) return
    const { fingerprint, notice, write } = open
    const senders = this.#close(index, open)
    if (notice !== undefined && isReceived(notice, ending.how)) receive(senders, notice, ending)
    if (write !== undefined && isLost(write, ending))
      put(senders.lostWrites, fingerprint, { ...write, ...ending }, MAX_LOST_WRITES)
  }

  /** @param position of a request whose response was sent, but not received */
  unread(position: number): void {
    for (const { senders } of this.keys()) for (const one of senders.values()) forgetResponse(one, position)
  }

  /**
   * Ends waits, also those in responses not yet sent. Call it for everything that ends a wait, so that clients are not
   * blamed for ignoring it.
   * @param which default: all
   * @param key   name of a key; default: all
   */
  endWaits(which: WaitFilter = ALL_WAITS, key?: string): void {
    const isConcerned = ({ identity }: KeyConduct) => key === undefined || identity.name === key
    for (const account of this.keys())
      if (isConcerned(account))
        for (const one of account.senders.values()) {
          endWaits(one, which)
          if (which === ALL_WAITS) one.lostWrites.clear()
        }
    this.#dropNotices((notice, account) => notice.kind === 'wait' && which(notice.wait) && isConcerned(account))
  }

  /** Waits that are over after a move of the clock do not come back. Findings stay. */
  moveClock(before: EpochMs, now: EpochMs, wall: EpochMs): void {
    for (const { senders, traffic } of this.keys()) {
      for (const one of senders.values()) moveClock(one, before, now, wall)
      if (now < before) forgetFutureTraffic(traffic, before, now, wall)
    }
    this.#dropNotices((notice) => (notice.kind === 'wait' ? notice.wait : notice).from > now)
  }

  clear(): void {
    this.restore({ requests: 0, reached: 0, findings: [], keys: [], open: [] })
  }

  save(): SavedConduct {
    return {
      requests: this.requests,
      reached: this.reached,
      findings: this.findings.save(),
      keys: this.keys().map(saveKeyConduct),
      open: this.#open.flatMap(({ position, account, sender, fingerprint, notice = null, write = null }) => {
        const { name, isStranger } = account.identity
        // Skips accounts of unknown tokens that were dropped, even if another has the same name.
        if (this.#accounts(isStranger).get(name) !== account) return []
        return [{ position, name, isStranger, sender, fingerprint, news: notice, write }]
      }),
    }
  }

  restore({ requests, reached, findings, keys, open }: SavedConduct): void {
    this.requests = requests
    this.reached = reached
    this.findings.restore(findings)
    this.#keys.clear()
    this.#strangers.clear()
    this.#open.length = 0
    for (const saved of keys)
      this.#accounts(saved.identity.isStranger).set(saved.identity.name, restoreKeyConduct(saved, this.#plans))
    for (const { position, name, isStranger, sender, fingerprint, news, write } of open) {
      const account = this.#accounts(isStranger).get(name)
      if (account !== undefined)
        this.#open.push({
          position,
          account,
          sender,
          fingerprint,
          notice: news ?? undefined,
          write: write ?? undefined,
        })
    }
  }

  #dropNotices(which: (notice: RefusalNotice, account: KeyConduct) => boolean): void {
    for (const open of this.#open)
      if (open.notice !== undefined && which(open.notice, open.account)) open.notice = undefined
  }

  #close(index: number, { account, sender, fingerprint }: Open): Senders {
    this.#open.splice(index, 1)
    const senders = sendersNamed(account, sender)
    endRequest(senders, fingerprint)
    return senders
  }

  #find(judged: JudgedRequest, id: number, draft: FindingDraft): Group {
    const { caller, route, now, request, path, query } = judged
    return this.findings.add(
      {
        ...draft,
        key: caller.label,
        sender: senderOf(judged),
        operation: route.kind === 'operation' ? route.operation.id : null,
        detail: this.#hide(draft.detail),
        message: this.#hide(draft.message),
        request: {
          method: request.method,
          path: this.#hide(redactQuery(path)),
          query: this.#hide(redactQuery(query)),
        },
      },
      id,
      now,
    )
  }

  #accounts(isStranger: boolean): Map<string, KeyConduct> {
    return isStranger ? this.#strangers : this.#keys
  }

  #accountOf(caller: KeyCaller): KeyConduct {
    const { name, isStranger } = caller
    const accounts = this.#accounts(isStranger)
    const known = accounts.get(name)
    if (known !== undefined) return known
    const opened = openKeyConduct(caller, this.#plans)
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
