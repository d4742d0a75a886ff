import { ConductLedger } from '../conduct/conduct-ledger.js'
import { type Finding, VIOLATIONS, type ViolationRule, WARNINGS, type WarningRule } from '../conduct/conduct-view.js'
import { mayTell } from '../conduct/news.js'
import type { Contract, Operation } from '../contract/contract.js'
import type { Caller } from '../domain/callers.js'
import type { Ending } from '../domain/ending.js'
import type { HandlerResult, Readings, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import { NO_LIMITS } from '../domain/quota.js'
import { REASONS } from '../domain/reasons.js'
import { SETTINGS } from '../domain/settings.js'
import type { EpochMs } from '../domain/time.js'
import type { TrafficRecord } from './traffic-record.js'

/** How the keys' own limits and bans stand in it: as in a sandbox that was told nothing. */
export const BAN_RULES = {
  banAfter: SETTINGS.banAfter.default,
  banDuration: SETTINGS.banDuration.default,
  retryAfter: SETTINGS.retryAfter.default,
} as const

/** Answers whose end is waited for; the one that ends first is forgotten, and tells nothing. */
const MOST_PENDING = 10_000
/** Targets that are read once. */
const MOST_REMEMBERED = 2000
/** Nobody is told anything by it, and nothing is remarked on it: for answers of which only the status is known. */
const UNTOLD: HandlerResult = { status: 409, body: '' }

/** What a target means, whoever asks. */
interface Meaning {
  readonly route: ServiceRoute
  readonly readings: Readings | undefined
  /** What the service says to it, if it is against the contract. */
  readonly refusal: HandlerResult | undefined
}

/** How clients behaved towards the answers that they really got. */
export interface JudgedConduct {
  readonly violations: readonly Finding<ViolationRule>[]
  readonly warnings: readonly Finding<WarningRule>[]
}

/** What a judge has to know. */
export interface JudgeOptions {
  readonly contract: Contract
  readonly basePath: string
  /** How many senders may share a key, 1 to 100. */
  readonly senders: number
}

/**
 * Judges the clients of one space, as conduct does in a sandbox, by the answers that they really got.
 *
 * @source docs/conduct.md, "The rules"
 */
export class Judge {
  readonly #options: JudgeOptions
  readonly #ledger = new ConductLedger([])
  readonly #space
  readonly #meanings = new Map<string, Meaning>()
  /** Ends of answers that tell something, by their time. */
  #endings: Ending[] = []
  #position = 0
  /** Ordinal of the last end. */
  #ended = 0

  constructor(options: JudgeOptions) {
    this.#options = options
    const { senders, basePath } = options
    this.#space = { settings: { ...BAN_RULES, rateLimit: true }, senders, shared: { basePath } }
  }

  /** Judges a request, in the order of time. */
  judge(record: TrafficRecord, at: EpochMs, caller: Caller): void {
    this.#hear(at)
    const position = ++this.#position
    const request = requestOf(record, this.#ended)
    const { route, readings, refusal } = this.#meaningOf(record, request)
    const answer = answerTo(record, refusal)
    const judged = {
      request,
      path: record.path,
      route,
      caller,
      // A service that refuses does not look at what it refuses.
      readings: isRefusal(record.status) ? undefined : readings,
      handler: true,
      space: this.#space,
      now: at,
      wall: at,
      connection: 0,
      heardUpTo: this.#ended,
    }
    this.#ledger.judge(judged, answer, { id: record.place, position })
    if (caller.kind === 'key' && mayTell(answer)) this.#expect(record, Math.floor(at + record.durationMs), position)
  }

  /** Time has gone back. */
  forgetFuture(now: EpochMs): void {
    this.#ledger.forgetFuture(now)
    this.#endings = []
  }

  report(): JudgedConduct {
    const { findings } = this.#ledger
    return { violations: findings.of(VIOLATIONS), warnings: findings.of(WARNINGS) }
  }

  #expect({ status, own }: TrafficRecord, at: EpochMs, position: number): void {
    const how = own?.ended ?? (status === 0 ? 'left' : 'sent')
    const ending: Ending = { position, how, at, wall: at, endedAt: 0, connection: 0 }
    let place = this.#endings.length
    while (place > 0 && (this.#endings[place - 1]?.at ?? 0) > at) place--
    this.#endings.splice(place, 0, ending)
    if (this.#endings.length > MOST_PENDING) this.#endings.shift()
  }

  /** Tells what had ended by then. */
  #hear(now: EpochMs): void {
    while (this.#endings.length > 0 && (this.#endings[0]?.at ?? now) <= now) {
      const ending = this.#endings.shift()
      if (ending !== undefined) this.#ledger.ended({ ...ending, endedAt: ++this.#ended })
    }
  }

  #meaningOf(record: TrafficRecord, request: ServiceRequest): Meaning {
    const name = `${request.method} ${request.target}`
    const known = this.#meanings.get(name)
    if (known !== undefined) return known
    const { contract, basePath } = this.#options
    const route: ServiceRoute = contract.route(request.method, record.path.slice(basePath.length))
    if (route.kind !== 'operation') return this.#remember(name, { route, readings: undefined, refusal: undefined })
    const { operation, captured } = route
    const path = operation.readPath(captured)
    const query = operation.readQuery(record.query)
    // Whether a body that nobody knows keeps the contract, nobody knows.
    const bytes = request.body instanceof Uint8Array ? request.body : undefined
    const body = operation.takesBody && record.body !== undefined ? operation.readBody(bytes) : undefined
    const readings: Readings = { path, query, body }
    const meaning = { route, readings, refusal: refusalOf(operation, readings) }
    return operation.takesBody ? meaning : this.#remember(name, meaning)
  }

  #remember(name: string, meaning: Meaning): Meaning {
    if (this.#meanings.size >= MOST_REMEMBERED) this.#meanings.clear()
    this.#meanings.set(name, meaning)
    return meaning
  }
}

/** A caller with a key, of which nothing is known but its name. */
export function keyCaller(name: string, label: string): Caller & { readonly kind: 'key' } {
  return {
    kind: 'key',
    label,
    name,
    apiKey: { key: label },
    isStranger: false,
    isOpen: true,
    account: { usage: {}, bans: { early: [] } },
    limits: NO_LIMITS,
  }
}

const NOBODY: Omit<Caller & { readonly kind: 'address' }, 'problem' | 'label'> = {
  kind: 'address',
  isOpen: false,
  account: { usage: {}, bans: { early: [] } },
  limits: NO_LIMITS,
}
const WITHOUT_KEY: Caller = { ...NOBODY, label: 'none', problem: 'missing_api_key' }
const WITH_WRONG_KEY: Caller = { ...NOBODY, label: 'unknown', problem: 'invalid_api_key' }

/** Who sent a request that was answered with 401. */
export function unauthenticatedCaller({ own, headers }: TrafficRecord): Caller {
  if (own !== undefined) return own.key === 'none' ? WITHOUT_KEY : WITH_WRONG_KEY
  return headers?.authorization === undefined ? WITHOUT_KEY : WITH_WRONG_KEY
}

function requestOf({ method, path, query, headers = {}, body }: TrafficRecord, heardUpTo: number): ServiceRequest {
  return {
    method,
    target: query === '' ? path : `${path}?${query}`,
    headers,
    rawHeaders: [],
    body: body === undefined || body === '' ? undefined : Buffer.from(body),
    address: '',
    connection: 0,
    heardUpTo,
  }
}

/** What the service says to what breaks the contract. */
function refusalOf({ id }: Operation, { path, query, body }: Readings): HandlerResult | undefined {
  if (path.violations.length > 0) return { status: 404, body: '' }
  const violations = [...query.violations, ...(body?.violations ?? [])]
  if (violations.length === 0) return undefined
  const message = `${id}: ${violations.map((violation) => violation.message).join('; ')}.`
  return { status: 400, body: JSON.stringify({ message }) }
}

/** Whether a status says nothing about the request itself. */
function isRefusal(status: number): boolean {
  return status === 429 || status >= 500 || status === 0 || status === 401 || status === 403
}

/** What a client was told: an answer that it got, or what the contract says to its request, whatever another service did with it. */
function answerTo(record: TrafficRecord, refusal: HandlerResult | undefined): HandlerResult {
  const { status, answer, own } = record
  const isRefused = isRefusal(status)
  if (refusal !== undefined && !isRefused) return refusal
  const reason = REASONS.find((known) => known === own?.reason)
  if (answer === undefined) return isRefused ? UNTOLD : { status, body: '', ...(reason && { reason }) }
  // Without an answer nothing was told, and a browser does not say why there is none.
  if (status === 0) return UNTOLD
  const retryAfter = answer.headers['retry-after']
  return {
    status,
    body: answer.body,
    ...(retryAfter === undefined ? {} : { headers: ['Retry-After', retryAfter] }),
    ...(reason && { reason }),
  }
}
