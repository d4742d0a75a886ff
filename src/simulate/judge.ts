import { ConductLedger } from '../conduct/conduct-ledger.js'
import { type Finding, VIOLATIONS, type ViolationRule, WARNINGS, type WarningRule } from '../conduct/conduct-view.js'
import { viewFindings } from '../conduct/finding-views.js'
import type { Contract, Operation } from '../contract/contract.js'
import type { Caller } from '../domain/keys.js'
import type { Ending, HandlerResult, Readings, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import { REASONS } from '../domain/problems.js'
import { NO_LIMITS } from '../domain/quota.js'
import { SETTINGS } from '../domain/settings.js'
import type { EpochMs } from '../domain/time.js'
import type { TrafficRecord } from './traffic-record.js'

export const BAN_RULES = {
  banAfter: SETTINGS.banAfter.default,
  banDuration: SETTINGS.banDuration.default,
  retryAfter: SETTINGS.retryAfter.default,
} as const

/** Responses whose end is pending; beyond, the earliest is forgotten. */
const MAX_PENDING = 10_000
/** Replaces a response whose headers are unknown: it asks for no wait, and causes no finding. */
const UNKNOWN_RESPONSE: HandlerResult = { status: 409, body: '' }

export interface JudgedConduct {
  readonly violations: readonly Finding<ViolationRule>[]
  readonly warnings: readonly Finding<WarningRule>[]
}

export interface JudgeOptions {
  readonly contract: Contract
  readonly basePath: string
  readonly senders: number | undefined
}

/** Judges one space as its conduct does, by the responses in the input. @source docs/conduct.md, "The rules" */
export class Judge {
  readonly #options: JudgeOptions
  readonly #ledger = new ConductLedger([])
  readonly #space
  #endings: Omit<Ending, 'endedAt'>[] = []
  #position = 0
  #ended = 0

  constructor(options: JudgeOptions) {
    const { senders, basePath } = options
    this.#options = options
    this.#space = {
      settings: { ...BAN_RULES, rateLimit: true, ...(senders !== undefined && { senders }) },
      shared: { basePath },
    }
  }

  judge(record: TrafficRecord, at: EpochMs, caller: Caller): void {
    const due = this.#endings.findIndex((ending) => ending.at > at)
    const ended = this.#endings.splice(0, due === -1 ? this.#endings.length : due)
    for (const ending of ended) this.#ledger.ended({ ...ending, endedAt: ++this.#ended })
    const position = ++this.#position
    const { method, path, query, headers = {}, body, status, own, durationMs, place } = record
    const request: ServiceRequest = {
      method,
      target: query === '' ? path : `${path}?${query}`,
      headers,
      rawHeaders: [],
      body: body === undefined || body === '' ? undefined : Buffer.from(body),
      address: '',
      connection: 0,
      deliveredUpTo: this.#ended,
    }
    const route = this.#options.contract.route(method, path.slice(this.#options.basePath.length))
    const readings = readingsOf(route, record, request)
    const judged = {
      request,
      path,
      query,
      route,
      caller,
      // A service does not read a request that it refuses.
      readings: isRefusal(status) ? undefined : readings,
      handler: true,
      space: this.#space,
      now: at,
      wall: at,
    }
    const response = responseTo(
      record,
      route.kind === 'operation' ? contractError(route.operation, readings) : undefined,
    )
    this.#ledger.judge(judged, response, { id: place, position })
    if (caller.kind !== 'key') return
    const end = Math.floor(at + durationMs)
    const how = own?.ended ?? (status === 0 ? 'left' : 'sent')
    const index = this.#endings.findLastIndex((ending) => ending.at <= end) + 1
    this.#endings.splice(index, 0, { position, how, at: end, wall: end, connection: 0 })
    if (this.#endings.length > MAX_PENDING) this.#endings.shift()
  }

  forgetFuture(now: EpochMs): void {
    this.#ledger.moveClock(Number.POSITIVE_INFINITY, now, now)
    this.#endings = []
  }

  report(): JudgedConduct {
    const { findings } = this.#ledger
    return { violations: viewFindings(findings, VIOLATIONS), warnings: viewFindings(findings, WARNINGS) }
  }
}

const NO_ACCOUNT = { account: { usage: {}, bans: {} }, limits: NO_LIMITS }

export function keyCaller(name: string, label: string): Caller & { readonly kind: 'key' } {
  const apiKey = { key: label }
  return { ...NO_ACCOUNT, kind: 'key', label, name, apiKey, isStranger: false, sender: '', isOpen: true }
}

export function unauthenticatedCaller({ own, headers }: TrafficRecord): Caller {
  const isMissing = own === undefined ? headers?.authorization === undefined : own.key === 'none'
  return isMissing
    ? { ...NO_ACCOUNT, kind: 'address', isOpen: false, label: 'none', problem: 'missing_api_key' }
    : { ...NO_ACCOUNT, kind: 'address', isOpen: false, label: 'unknown', problem: 'invalid_api_key' }
}

function readingsOf(route: ServiceRoute, record: TrafficRecord, { body }: ServiceRequest): Readings | undefined {
  if (route.kind !== 'operation') return undefined
  const { operation, captured } = route
  // An unknown body is not held against the contract.
  const isKnown = operation.takesBody && record.body !== undefined
  return {
    path: operation.readPath(captured),
    query: operation.readQuery(record.query),
    body: isKnown ? operation.readBody(body instanceof Uint8Array ? body : undefined) : undefined,
  }
}

function contractError({ id }: Operation, readings: Readings | undefined): HandlerResult | undefined {
  if (readings === undefined) return undefined
  const { path, query, body } = readings
  if (path.violations.length > 0) return { status: 404, body: '' }
  const violations = [...query.violations, ...(body?.violations ?? [])]
  if (violations.length === 0) return undefined
  const message = `${id}: ${violations.map((violation) => violation.message).join('; ')}.`
  return { status: 400, body: JSON.stringify({ message }) }
}

function isRefusal(status: number): boolean {
  return status === 429 || status >= 500 || status === 0 || status === 401 || status === 403
}

/** What a client got; the contract's own response to a bad request, even if another service took it. */
function responseTo({ status, response, own }: TrafficRecord, error: HandlerResult | undefined): HandlerResult {
  if (error !== undefined && !isRefusal(status)) return error
  // A browser gives no reason for a missing response.
  if (status === 0 || (response === undefined && isRefusal(status))) return UNKNOWN_RESPONSE
  const reason = REASONS.find((known) => known === own?.reason)
  const retryAfter = response?.headers['retry-after']
  return {
    status,
    body: response?.body ?? '',
    ...(retryAfter !== undefined && { headers: ['Retry-After', retryAfter] }),
    ...(reason && { reason }),
  }
}
