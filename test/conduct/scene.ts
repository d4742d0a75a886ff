import { ConductLedger } from '../../src/conduct/conduct-ledger.js'
import { type ConductRule, VIOLATIONS, WARNINGS } from '../../src/conduct/conduct-view.js'
import { viewFindings } from '../../src/conduct/finding-views.js'
import type { JudgedRequest } from '../../src/conduct/judged-request.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { NO_BAN_RECORD } from '../../src/domain/ban.js'
import type { HandlerResult, ResponseOutcome } from '../../src/domain/messages.js'
import { serviceRequest } from '../support/service-request.js'

export const NOON = Date.parse('2026-03-01T12:00:00Z')

/** Default: GET /pets, without any received response. */
interface Sent {
  readonly path?: string
  readonly key?: string
  /** An unknown token. */
  readonly isStranger?: boolean
  readonly connection?: number
  readonly deliveredUpTo?: number
  readonly sentUpTo?: number
  readonly sender?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Number of requests under way. */
export function openIn(ledger: ConductLedger): number {
  return Object(ledger.save().parts).open.length
}

const LIMITS = { perMinute: 60, perDay: 1000 }

/** A ledger with a position and two clocks. */
export class Scene {
  ledger = new ConductLedger([LIMITS])
  senders: number | undefined
  /** The space's clock, and real time. */
  now = NOON
  wall = NOON
  position = 0
  #connections = new Map<number, number>()

  constructor(senders?: number) {
    this.senders = senders
  }

  pass(byClock: number, realTime = byClock): void {
    this.now += byClock
    this.wall += realTime
  }

  /** Takes over the clocks and connections of another scene. */
  continueFrom(other: Scene): void {
    this.now = other.now
    this.wall = other.wall
    this.position = other.position
    this.#connections = new Map(other.#connections)
  }

  /** @returns the position of the request */
  sends(response: HandlerResult, sent: Sent = {}): number {
    const position = ++this.position
    this.#connections.set(position, sent.connection ?? 0)
    this.ledger.judge(this.judged(sent), response, { id: position, position })
    return position
  }

  ends(position: number, how: ResponseOutcome = 'sent', slackMs = 0): void {
    this.ledger.ended({
      position,
      how,
      at: this.now,
      wall: this.wall,
      endedAt: ++this.position,
      connection: this.#connections.get(position) ?? 0,
      slackMs,
    })
  }

  /** A request whose sender has received all earlier responses, and its response. */
  exchanges(response: HandlerResult, sent: Sent = {}): void {
    this.ends(this.sends(response, { deliveredUpTo: this.position, ...sent }))
  }

  /** Number of findings by rule. */
  get broken(): Partial<Record<ConductRule, number>> {
    const counts: Partial<Record<ConductRule, number>> = {}
    for (const { rule, count } of viewFindings(this.ledger.findings, [...VIOLATIONS, ...WARNINGS]))
      counts[rule] = (counts[rule] ?? 0) + count
    return counts
  }

  get violations(): readonly ConductRule[] {
    return viewFindings(this.ledger.findings, VIOLATIONS).map(({ rule }) => rule)
  }

  judged({
    path = '/pets',
    key = 'sandbox',
    isStranger = false,
    connection = 0,
    deliveredUpTo = 0,
    sentUpTo = deliveredUpTo,
    sender = '',
    headers = {},
  }: Sent = {}): JudgedRequest {
    const [route = path, search = ''] = path.split('?')
    const { now, wall, senders } = this
    const found = packagedContract().route('GET', route)
    const request = serviceRequest({
      target: `/v1${path}`,
      headers: { authorization: `Bearer ${key}`, ...headers },
      connection,
      deliveredUpTo,
      sentUpTo,
    })
    const rules = { banAfter: 10, banDuration: 300_000, retryAfter: 'seconds', rateLimit: true } as const
    return {
      request,
      path: route,
      query: search,
      route: found,
      caller: {
        kind: 'key',
        label: isStranger ? 'unknown' : key,
        name: isStranger ? `token:${key}` : key,
        apiKey: { key: isStranger ? 'unknown' : key },
        isStranger,
        sender,
        isPublic: !isStranger,
        account: { kind: 'key', name: key },
        limits: LIMITS,
      },
      readings: {
        path: { values: {}, violations: [], unknown: [] },
        query:
          found.kind === 'operation' ? found.operation.readQuery(search) : { values: {}, violations: [], unknown: [] },
        body: undefined,
      },
      handler: 'a handler',
      space: {
        state: {
          settings: { ...rules, ...(senders === undefined ? {} : { senders }) },
          storm: undefined,
          faults: [],
          accounts: { view: () => ({ usage: {}, bans: NO_BAN_RECORD, early: [] }) },
        },
        shared: { basePath: '/v1' },
        requests: 0,
        hasRecord: () => true,
      },
      now,
      wall,
    }
  }

  get served(): HandlerResult {
    return { status: 200, body: '[]' }
  }

  refusal(wait: number, reason: HandlerResult['reason'] = 'quota-minute', status = 429): HandlerResult {
    return {
      status,
      body: '',
      headers: ['Retry-After', String(Math.ceil(wait / 1000))],
      retryAt: this.now + wait,
      ...(reason === undefined ? {} : { reason }),
    }
  }

  get failure(): HandlerResult {
    return { status: 503, body: '' }
  }
}
