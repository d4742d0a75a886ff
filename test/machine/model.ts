/**
 * The rules of docs/specification.md and docs/behaviour.md for quotas, bans and the clock, written independently:
 * plain, slow, and without code of the sandbox.
 */

/** What the rules read of a space's switches. */
export interface Switches {
  readonly plan: string
  readonly limits: Used | undefined
  readonly rateLimit: boolean
  readonly banAfter: number | 'never'
  readonly banDuration: number
  readonly banStatus: number
  readonly retryAfter: 'seconds' | 'http-date' | 'none'
}

/** The parts of a response that these rules decide. */
interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** Requests of a key in its open windows. */
export interface Used {
  readonly perMinute?: number
  readonly perDay?: number
}

interface Stretch {
  readonly from: number
  readonly until: number
}

interface Window {
  openedAt: number
  used: number
}

interface Account {
  minute: Window | undefined
  day: Window | undefined
  ban: Stretch | undefined
}

interface State {
  /** Undefined while the clock runs. */
  frozenAt: number | undefined
  ahead: number
  switches: Switches
  /** Plans of keys other than `sandbox` that were moved. */
  plans: Map<string, string>
  accounts: Map<string, Account>
  storm:
    | { readonly for: number; readonly every: number | undefined; readonly wait: number; readonly at: number }
    | undefined
}

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')

/** docs/specification.md, "Rate limits"; Enterprise as docs/behaviour.md has it. */
const PLAN_LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  free: [60, 1000],
  pro: [300, 10_000],
  business: [1000, 100_000],
  enterprise: [10_000, 1_000_000],
}

const PLAN_OF_KEY: Readonly<Record<string, string>> = {
  'sandbox-free': 'free',
  'sandbox-pro': 'pro',
  'sandbox-business': 'business',
  'sandbox-enterprise': 'enterprise',
  'sandbox-limited': 'free',
  'sandbox-banned': 'free',
}

const SWITCHES: Switches = {
  plan: 'free',
  limits: undefined,
  rateLimit: true,
  banAfter: 10,
  banDuration: 5 * MINUTE,
  banStatus: 429,
  retryAfter: 'seconds',
}

/** A space as the documents describe it. */
export class ModelSpace {
  #state: State = start()
  #saved: State | undefined

  now(wall: number): number {
    return this.#state.frozenAt ?? wall + this.#state.ahead
  }

  // What whoever steers it does. False stands for a refusal.

  reset(): void {
    this.#state = start()
  }

  change(switches: Partial<Switches>): void {
    this.#state.switches = { ...this.#state.switches, ...switches }
  }

  /** The clock's own verbs go forward only. */
  setClock(wall: number, to: number | undefined, frozen: boolean | undefined): boolean {
    const now = to ?? this.now(wall)
    if (now < this.now(wall) || now > LAST_INSTANT) return false
    this.#turnTo(wall, now, frozen ?? this.#state.frozenAt !== undefined)
    return true
  }

  realTime(wall: number): void {
    this.#turnTo(wall, wall, false)
  }

  /** A scenario may set the clock back. It is rejected as a whole if it bans a key that is never banned. */
  apply(
    wall: number,
    to: number | undefined,
    used: Readonly<Record<string, Used>>,
    bans: Readonly<Record<string, number>>,
  ): boolean {
    if (Object.hasOwn(bans, 'sandbox-limited')) return false
    if (to !== undefined) this.#turnTo(wall, to, this.#state.frozenAt !== undefined)
    const now = this.now(wall)
    for (const [key, { perMinute, perDay }] of Object.entries(used)) {
      const account = this.#account(key)
      if (perMinute !== undefined) account.minute = { openedAt: now, used: perMinute }
      if (perDay !== undefined) account.day = { openedAt: now, used: perDay }
    }
    for (const [key, duration] of Object.entries(bans)) this.#ban(key, now, duration)
    return true
  }

  ban(wall: number, key: string, duration = this.#state.switches.banDuration): boolean {
    if (key === 'sandbox-limited') return false
    this.#ban(key, this.now(wall), duration)
    return true
  }

  unban(key: string): void {
    this.#account(key).ban = undefined
  }

  movePlan(key: string, plan: string): void {
    if (key === 'sandbox') this.change({ plan })
    else this.#state.plans.set(key, plan)
  }

  startStorm(wall: number, length: number, every: number | undefined, wait: number): void {
    this.#state.storm = { for: length, every, wait, at: this.now(wall) }
  }

  save(wall: number): void {
    const now = this.now(wall)
    // By the clock that it shows: a snapshot has no real time.
    this.#saved = structuredClone({ ...this.#state, ahead: now })
  }

  restore(wall: number): boolean {
    if (this.#saved === undefined) return false
    const saved = structuredClone(this.#saved)
    const before = this.now(wall)
    const now = saved.frozenAt ?? saved.ahead
    this.#state = { ...saved, ahead: now - wall }
    if (now < before) this.#forget(now)
    this.#state.storm = saved.storm
    return true
  }

  #turnTo(wall: number, to: number, frozen: boolean): void {
    const before = this.now(wall)
    this.#state.frozenAt = frozen ? to : undefined
    this.#state.ahead = to - wall
    if (to < before) this.#forget(to)
  }

  /** "Whatever began in the time that is undone is then over for good: a window, a ban, a wait, a storm." */
  #forget(now: number): void {
    const had = (one: { readonly from: number } | undefined) => one !== undefined && one.from <= now
    for (const account of this.#state.accounts.values()) {
      if (account.minute !== undefined && account.minute.openedAt > now) account.minute = undefined
      if (account.day !== undefined && account.day.openedAt > now) account.day = undefined
      if (!had(account.ban)) account.ban = undefined
    }
    if (this.#state.storm !== undefined && this.#state.storm.at > now) this.#state.storm = undefined
  }

  // Its response.

  /**
   * A request and its response.
   *
   * @param key  undefined for none
   * @param good the status of one that nothing objects to
   */
  request(wall: number, key: string | undefined, address: string, good: number): Told {
    const { switches } = this.#state
    const now = this.now(wall)
    const isCaller = key !== undefined && (key === 'sandbox' || key in PLAN_OF_KEY)
    const limits = this.#limits(isCaller ? key : undefined)
    const account = this.#account(isCaller ? key : `address ${address}`)
    const isLimited = key === 'sandbox-limited'

    const shown = () => this.#shown(account, limits, now, isLimited)
    if (key === 'sandbox-banned')
      return this.#refusal(switches.banStatus, 'ban', now + switches.banDuration, now, shown())
    if (isCaller) {
      if (account.ban !== undefined && account.ban.from <= now && now < account.ban.until)
        return this.#refusal(switches.banStatus, 'ban', account.ban.until, now, shown())
      const wait = this.#stormWait(now)
      if (wait !== undefined) return this.#refusal(429, 'storm', now + wait, now, shown())
    }
    if (isLimited) {
      account.minute = { openedAt: openOf(account.minute, MINUTE, now)?.openedAt ?? now, used: limits[0] }
      const until = account.minute.openedAt + MINUTE
      return this.#refusal(429, 'quota-minute', until, now, { limit: limits[0], remaining: 0, resetAt: until })
    }
    const status = isCaller ? good : 401
    if (!switches.rateLimit) return this.#response(status, now, this.#seen(undefined, limits, now))
    const spent = this.#seen(account, limits, now)
    if (spent.remaining === 0) return this.#refusal(429, `quota-${spent.window}`, spent.resetAt, now, spent)
    account.minute = chargedWindow(account.minute, MINUTE, now)
    account.day = chargedWindow(account.day, DAY, now)
    return this.#response(status, now, this.#seen(account, limits, now))
  }

  #account(name: string): Account {
    const known = this.#state.accounts.get(name)
    if (known !== undefined) return known
    const account: Account = { minute: undefined, day: undefined, ban: undefined }
    this.#state.accounts.set(name, account)
    return account
  }

  #limits(key: string | undefined): readonly [number, number] {
    const { switches, plans } = this.#state
    const plan = key === 'sandbox' ? switches.plan : ((key && (plans.get(key) ?? PLAN_OF_KEY[key])) ?? 'free')
    const [perMinute, perDay] = PLAN_LIMITS[plan] ?? [0, 0]
    if (key !== 'sandbox') return [perMinute, perDay]
    return [switches.limits?.perMinute ?? perMinute, switches.limits?.perDay ?? perDay]
  }

  #ban(key: string, now: number, duration: number): void {
    this.#account(key).ban = { from: now, until: now + duration }
  }

  #stormWait(now: number): number | undefined {
    const { storm } = this.#state
    if (storm === undefined || now < storm.at) return undefined
    const since = storm.every === undefined ? now - storm.at : (now - storm.at) % storm.every
    return since < storm.for ? storm.wait : undefined
  }

  /** The quota headers of a response that was not charged. */
  #shown(account: Account, limits: readonly [number, number], now: number, isLimited: boolean): Seen {
    if (isLimited) {
      const minute = { openedAt: openOf(account.minute, MINUTE, now)?.openedAt ?? now, used: limits[0] }
      return this.#seen({ ...account, minute }, limits, now)
    }
    return this.#seen(this.#state.switches.rateLimit ? account : undefined, limits, now)
  }

  /** "Whichever has fewer requests left; the minute, if both have the same. Once both are spent, whichever resets later." */
  #seen(account: Account | undefined, [perMinute, perDay]: readonly [number, number], now: number): Seen {
    const minute = seenWindow('minute', account?.minute, MINUTE, perMinute, now)
    const day = seenWindow('day', account?.day, DAY, perDay, now)
    if (minute.remaining === 0 && day.remaining === 0) return day.resetAt > minute.resetAt ? day : minute
    return day.remaining < minute.remaining ? day : minute
  }

  #response(status: number, now: number, seen: Omit<Seen, 'window'>, retryAfter?: string, reason?: string): Told {
    const headers = {
      'X-RateLimit-Limit': String(seen.limit),
      'X-RateLimit-Remaining': String(seen.remaining),
      'X-RateLimit-Reset': String(Math.ceil(seen.resetAt / 1000)),
      Date: new Date(now).toUTCString(),
      'Retry-After': retryAfter,
      'X-Sandbox-Reason': reason,
    }
    return { status, headers }
  }

  #refusal(status: number, reason: string, until: number, now: number, seen: Omit<Seen, 'window'>): Told {
    const forms = {
      seconds: String(Math.ceil((until - now) / 1000)),
      'http-date': new Date(Math.ceil(until / 1000) * 1000).toUTCString(),
      none: undefined,
    }
    return this.#response(status, now, seen, forms[this.#state.switches.retryAfter], reason)
  }
}

interface Seen {
  readonly window: 'minute' | 'day'
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

function start(): State {
  const [plans, accounts] = [new Map(), new Map()]
  return { frozenAt: undefined, ahead: 0, switches: SWITCHES, plans, accounts, storm: undefined }
}

function openOf(window: Window | undefined, length: number, now: number): Window | undefined {
  return window !== undefined && window.openedAt <= now && now < window.openedAt + length ? window : undefined
}

function chargedWindow(window: Window | undefined, length: number, now: number): Window {
  const open = openOf(window, length, now)
  return { openedAt: open?.openedAt ?? now, used: (open?.used ?? 0) + 1 }
}

function seenWindow(
  name: Seen['window'],
  window: Window | undefined,
  length: number,
  limit: number,
  now: number,
): Seen {
  const open = openOf(window, length, now)
  const remaining = Math.max(0, limit - (open?.used ?? 0))
  return { window: name, limit, remaining, resetAt: (open?.openedAt ?? now) + length }
}
