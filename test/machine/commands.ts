import type { VerbName } from '../../src/control/verb-map.js'
import type { Command } from '../../src/core/command.js'
import {
  type EndedExchange,
  type ExchangeRef,
  type Reply,
  type ResponseOutcome,
  type ServiceRequest,
  UNREADABLE,
} from '../../src/domain/messages.js'
import { serviceRequest } from '../support/service-request.js'
import { Chance } from './chance.js'
import { type Outcome, SECRET_KEY, START, type Step } from './machine.js'

function words(list: string): readonly string[] {
  return list.trim().split(/\s+/)
}

const KEYS = words(`
  sandbox sandbox sandbox-free sandbox-pro sandbox-business sandbox-enterprise sandbox-limited sandbox-banned
  sandbox-revoked ${SECRET_KEY.key} mine ours/and= a-token-that-nobody-knows
`)
/** Space marks of a key, including none and invalid ones. */
const SPACE_MARKS = [
  ...[...many('', 20), ...many('~a', 20), ...many('~a+w1', 4), ...many('~b', 8)],
  ...['~+w2', '~b+', '~+', '~a+b+c', '~c', '~d', '~e', '~..', '~Ünï', '~'],
]
const SCHEMES = [...many('Bearer ', 96), ...many('bEARER   ', 3), 'Basic ']
const JSON_TYPES = ['application/json; charset=UTF-8', 'APPLICATION/JSON; charset=İso-8859-9']
const BODY_TYPES = [...many('application/json', 47), ...JSON_TYPES, 'text/plain']
const SPACES = [...many('', 20), ...many('a', 20), ...many('b', 6), 'c', 'd', 'e', '..', 'nö']

const IDS = words('1 7 20 58 59 60 61 62 65 4503599627370496 9007199254740993 9223372036854775807')
const ODD_IDS = ['0', '-1', '01', '1.0', 'abc', '9223372036854775808', '%31', '%E2%82%AC', 'İ', '']
const STATUSES = ['available', 'pending', 'sold']
const MOCKED = ['/categories', '/pets/mine']

const BAD_QUERIES = [
  ...words('?limit=0 ?limit=101 ?limit=1&limit=2 ?limit= ?limit=٣ ?status=SOLD ?status=pendİng ?page=2 ?%'),
  `?secret=${SECRET_KEY.key}`,
]

const GOOD_BODIES = [
  '{"name":"Rex","categoryId":1}',
  '{"name":"Ada","categoryId":9223372036854775807,"status":"sold"}',
  '{"categoryId":-9223372036854775808,"status":"pending","name":"İıß✓🐕","further":[1,{}]}',
  '{"name":"tall \\u0000","categoryId":1.0,"status":"available"}',
]
const BAD_BODIES = [
  '',
  '{',
  '[]',
  'null',
  '{"name":"Rex"}',
  '{"name":1,"categoryId":"1"}',
  '{"name":"","categoryId":1.5,"status":"İ"}',
  '{"name":"Rex","categoryId":9223372036854775808}',
  '{"name":"Rex","categoryId":1,"status":"gone"}',
  `{"a":${'['.repeat(60)}${']'.repeat(60)}}`,
]

const DURATIONS = ['0s', '500ms', '1s', '30s', '59s', '60s', '61s', '5m', '1h', '24h', '9000h']
const BAD_DURATIONS = ['soon', '1', '-1s', '1.5s', '']
const PLANS = ['free', 'pro', 'business', 'enterprise']
const INSTANTS = words(`
  2026-03-01T09:00:00Z 2026-03-01T10:00:30Z 2026-03-01T12:00:00+02:00 2026-03-29 2030-12-04T23:59:59.999Z
  2030-12-05 9999-12-31T23:59:59.999Z
`)
const BAD_INSTANTS = ['tomorrow', '2026-03-01T10:00', '2026-02-30', '1969-12-31', 7]
const FAULTS = words(`
  *:503 *:429@30% listPets:503@20%*3 createPet:503,retry-after=2s getPet:429,retry-after=30s*2
  listOrders:connection-reset@50% getPet:empty-response *:malformed-chunk@10% listPets:slow-body@25%*4 *:hang@5%
`)
const BAD_FAULTS = ['listPets', '*:200', 'noSuchOperation:503', '*:503@0%', '*:hang,retry-after=2s', 5]
const SNAPSHOTS = [...many('one', 6), ...many('two', 3), 'three', '../x', '']
/** Verbs that change state; reading verbs are not commands. */
type ChangingVerb = Exclude<
  VerbName,
  | 'shutdown'
  | 'conduct'
  | 'spaces.conduct'
  | 'records.get'
  | 'replicas'
  | 'state'
  | 'events'
  | 'export'
  | `requests.${'har' | 'replay'}`
  | `${string}.${'show' | 'list'}`
>

function many<T>(one: T, times: number): readonly T[] {
  return Array.from({ length: times }, () => one)
}

/**
 * Random commands for a machine, as plain data, in their order. A seed repeats them,
 * for a machine that answers alike: which exchanges are open depends on its responses.
 */
export class Commands {
  readonly #chance: Chance
  #wall = START
  #position = 0
  /** The last position that the sender of a connection had heard of, by connection. */
  readonly #heard = [0, 0, 0, 0, 0, 0]
  readonly #open: ExchangeRef[] = []
  /** Those said to be sent. */
  readonly #sent: ExchangeRef[] = []

  readonly #inputs: ReturnType<typeof inputsOf>

  constructor(seed: string) {
    this.#chance = new Chance(seed)
    this.#inputs = inputsOf(this.#chance, () => this.#wall)
  }

  /** What the wall clock said last. */
  get wall(): number {
    return this.#wall
  }

  /** Position of the last command. */
  get position(): number {
    return this.#position
  }

  next(): Step {
    this.#passTime()
    this.#position += this.#chance.percent(90) ? 1 : this.#chance.integer(1, 50)
    const command = this.#chance.weighted<Command>([
      [59, () => this.#request()],
      [1, () => this.#refused()],
      [10, () => this.#ended()],
      [30, () => this.verb()],
    ])
    return { command, instant: { now: this.#wall, position: this.#position } }
  }

  /** Takes the outcome of the last command. */
  heard(outcome: Outcome): void {
    if (outcome.kind === 'reply') this.answered(outcome.reply)
  }

  /** Takes the reply to the last request, whose end follows later. */
  answered({ exchange }: Reply): void {
    if (exchange === undefined) return
    const { space, id, position } = exchange
    this.#open.push({ space, id, position })
  }

  /** The wall clock goes forward, mostly; sometimes it stands, sometimes it is set back a little. */
  #passTime(): void {
    const chance = this.#chance
    this.#wall += chance.weighted([
      [60, () => chance.integer(1, 1500)],
      [25, () => 0],
      [6, () => chance.integer(1500, 20_000)],
      [3, () => chance.oneOf([1000, 30_000, 60_000, 300_000])],
      [1, () => chance.oneOf([3_600_000, 86_400_000])],
      [5, () => -chance.integer(1, 3000)],
    ])
  }

  #request(): Command {
    const chance = this.#chance
    const connection = chance.integer(0, this.#heard.length)
    this.#heard[connection] = Math.max(
      this.#heard[connection] ?? 0,
      chance.percent(70) ? this.#position - 1 : this.#position - chance.integer(1, 20),
    )
    const method = chance.weighted([
      [60, () => 'GET'],
      [28, () => 'POST'],
      [5, () => 'HEAD'],
      [7, () => chance.oneOf(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'BREW', '-'])],
    ])
    const headers = this.#headers(method)
    const request = serviceRequest({
      method,
      target: this.#target(method),
      headers,
      rawHeaders: Object.entries(headers).flat(),
      body: chance.percent(method === 'POST' ? 95 : 3) ? this.#body() : undefined,
      address: chance.oneOf(['127.0.0.1', '::1', '10.0.0.7']),
      connection,
      deliveredUpTo: this.#heard[connection] ?? 0,
    })
    return { kind: 'request', request, mock: this.#mock() }
  }

  /** What Node's parser has refused: only who sent it is known. */
  #refused(): Command {
    const address = this.#chance.oneOf(['127.0.0.1', '10.0.0.7'])
    const request = serviceRequest({ method: UNREADABLE, target: UNREADABLE, address })
    return { kind: 'request', request, refused: this.#chance.oneOf(['invalid_request', 'headers_too_large']) }
  }

  #headers(method: string): Record<string, string> {
    const chance = this.#chance
    const headers: Record<string, string> = {}
    if (chance.percent(97)) {
      const key = chance.percent(60) ? chance.oneOf(['sandbox', 'sandbox-pro', 'sandbox-free']) : chance.oneOf(KEYS)
      headers.authorization = chance.oneOf(SCHEMES) + key + chance.oneOf(SPACE_MARKS)
    }
    if (method === 'POST') headers['content-type'] = chance.oneOf(BODY_TYPES)
    if (chance.percent(2)) headers['content-encoding'] = chance.oneOf(['gzip', 'IDENTITY'])
    if (chance.percent(8))
      headers.prefer = chance.oneOf(['code=429', 'code=500', 'code=200', 'CODE=404', 'code=299', 'wait=5', 'code='])
    if (chance.percent(5)) headers.origin = 'https://example.org'
    if (chance.percent(2)) headers['user-agent'] = `sends ${SECRET_KEY.key}`
    return headers
  }

  #target(method: string): string {
    const chance = this.#chance
    const id = () => (chance.percent(85) ? chance.oneOf(IDS) : chance.oneOf(ODD_IDS))
    if (method === 'POST' && chance.percent(92)) return '/v1/pets'
    return chance.weighted([
      [35, () => `/v1/pets${this.#query()}`],
      [35, () => `/v1/pets/${id()}`],
      [10, () => '/v1/store/orders'],
      [8, () => `/v1${chance.oneOf(MOCKED)}`],
      [4, () => `http://example.org/v1/pets/${id()}`],
      [8, () => chance.oneOf(words('/ - * /pets /v1 /v1/ /v2/pets /v1/nothing/İ /favicon.ico //'))],
    ])
  }

  #query(): string {
    const chance = this.#chance
    return chance.weighted([
      [35, () => ''],
      [25, () => `?limit=${chance.integer(1, 101)}`],
      [15, () => `?status=${chance.oneOf(STATUSES)}`],
      [10, () => `?limit=${chance.integer(1, 5)}&status=${chance.oneOf(STATUSES)}`],
      [15, () => chance.oneOf(BAD_QUERIES)],
    ])
  }

  #body(): ServiceRequest['body'] {
    const chance = this.#chance
    return chance.weighted<ServiceRequest['body']>([
      [70, () => new TextEncoder().encode(chance.oneOf(GOOD_BODIES))],
      [8, () => new TextEncoder().encode(`{"name":"${'x'.repeat(chance.integer(1, 4000))}","categoryId":1}`)],
      [16, () => new TextEncoder().encode(chance.oneOf(BAD_BODIES))],
      [2, () => Uint8Array.of(0x7b, 0xff, 0xfe)],
      [2, () => 'too-large'],
      [2, () => 'no-room'],
    ])
  }

  /** What Prism responded, which is only looked at where a contract needs it. */
  #mock(): (Command & { readonly kind: 'request' })['mock'] {
    const chance = this.#chance
    if (chance.percent(20)) return undefined
    const headers = { 'content-type': 'application/json', 'X-RateLimit-Limit': '1', date: 'never', 'x-made': 'up' }
    const body = '[{"id":9007199254740993,"name":"Dogs"}]'
    return { status: chance.oneOf([200, 201, 204, 404, 500]), headers, body }
  }

  #ended(): Command {
    const chance = this.#chance
    const exchanges: EndedExchange[] = []
    for (let count = chance.integer(1, 25); count > 0 && this.#open.length > 0; count--) {
      const [ref] = this.#open.splice(chance.integer(0, this.#open.length), 1)
      if (ref === undefined) break
      const how = chance.oneOf<ResponseOutcome>(['sent', 'sent', 'sent', 'sent', 'cut', 'left', 'unknown'])
      const durationMs = chance.integer(0, 5000) / 8
      exchanges.push({
        ...ref,
        how,
        durationMs,
        waitingMs: durationMs / 2,
        bodyMs: durationMs / 4,
        ...(how === 'left' ? { isUnanswered: true } : {}),
        connection: chance.integer(0, this.#heard.length),
        ...(chance.percent(5) ? { instead: { status: 500, body: '{"code":"internal_error"}' } } : {}),
      })
      if (how === 'sent') this.#sent.push(ref)
      // Nothing says that it comes only once.
      if (chance.percent(2)) this.#open.push(ref)
    }
    // A client that has left may not have read the last ones.
    const unread = chance.percent(20) ? this.#sent.slice(-chance.integer(1, 6)) : undefined
    return { kind: 'ended', exchanges, unread }
  }

  /** A verb that changes something, as somebody may send it. */
  verb(): Command & { readonly kind: 'verb' } {
    const verb = this.#chance.weighted(
      Object.entries(this.#inputs).map(([name, [weight]]) => [weight, () => name as ChangingVerb] as const),
    )
    const nonsense: readonly unknown[] = [null, 7, 'text', [], {}, { further: 1 }, { key: 1, name: {}, id: [] }]
    const input = this.#chance.percent(3) ? this.#chance.oneOf(nonsense) : this.#inputs[verb][1]()
    return { kind: 'verb', space: this.#chance.oneOf(SPACES), verb, input }
  }
}

/** Weight and input of each verb. */
function inputsOf(
  chance: Chance,
  wall: () => number,
): Readonly<Record<ChangingVerb, readonly [weight: number, make: () => unknown]>> {
  const one = <const T extends readonly unknown[]>(...choices: T) => chance.oneOf<T[number]>(choices)
  const maybe = (share: number, part: () => object) => (chance.percent(share) ? part() : {})
  const plan = () => one(...PLANS, 'gold')
  const duration = () => one(...(chance.percent(92) ? DURATIONS : BAD_DURATIONS))
  const fault = () => one(...(chance.percent(90) ? FAULTS : BAD_FAULTS))
  const key = () => one(...KEYS, 'sandbox', 'ci', 'mine', 'no-such-key', '')
  const name = () => ({ name: one(...SNAPSHOTS) })
  const space = () => ({ name: one(...SPACES) })
  const status = () => one(...STATUSES, null, 'gone')
  const instant = () => {
    if (chance.percent(50)) return new Date(wall() + chance.integer(-3_600_000, 3_600_000)).toISOString()
    return one(...(chance.percent(80) ? INSTANTS : BAD_INSTANTS))
  }
  const id = () =>
    chance.weighted<unknown>([
      [60, () => one(...IDS)],
      [20, () => chance.integer(50, 80)],
      [10, () => 9007199254740993n],
      [10, () => one(...ODD_IDS)],
    ])
  const setting = () =>
    one(
      () => ({ plan: plan() }),
      () => ({ limits: one(null, '5/min', '3/min,20/day', '0/min', '100000/min', { perDay: 9 }) }),
      () => ({ rateLimit: one(true, true, false, 'no') }),
      () => ({ banAfter: one(1, 2, 3, 10, 300, 'never', 0) }),
      () => ({ banDuration: duration() }),
      () => ({ banStatus: one(429, 403, 401, 200) }),
      () => ({ retryAfter: one('seconds', 'http-date', 'none', 'soon') }),
      () => ({ limitBody: one('error', 'empty', 'text', 'html', 'problem') }),
      () => ({ rateLimitHeaders: one('documented', 'draft', 'none') }),
      () => ({ sunset: one('auto', 'before', 'after', 'brownout') }),
      () => ({ sunsetStatus: one(404, 410) }),
      () => ({ senders: one(1, 1, 2, 3, 8, 100, 0) }),
      () => ({ latency: one(null, '0ms', '100ms', '50ms..200ms', '2s..1s') }),
    )()
  const scenario = () => {
    if (chance.percent(25)) return { name: one('banned', 'brownout', 'quota-nearly-spent', 'storm', 'sunset', 'none') }
    return {
      ...maybe(50, () => ({ now: instant() })),
      ...maybe(30, () => ({ freeze: chance.percent(50) })),
      ...maybe(40, setting),
      ...maybe(30, () => ({ storm: chance.percent(30) ? 'off' : '0.5,for=30s,every=2m' })),
      ...maybe(30, () => ({ fault: [fault()] })),
      ...maybe(30, () => ({ used: { [key()]: one('57/min', '990/day', '3/min,5/day') } })),
      ...maybe(30, () => ({ ban: { [key()]: duration() } })),
    }
  }
  const nothing = () => ({})
  return {
    reset: [2, nothing],
    undo: [6, nothing],
    'overrides.clear': [
      3,
      () => ({
        ...maybe(50, () => ({ what: one('storm', 'clock', 'faults', 'plan', 'tea') })),
        ...maybe(20, () => ({ name: one('start.1', 'sandbox') })),
      }),
    ],
    'settings.change': [12, () => ({ ...setting(), ...maybe(30, setting) })],
    'clock.set': [
      8,
      () => ({ ...maybe(50, () => ({ now: instant() })), ...maybe(60, () => ({ frozen: chance.percent(50) })) }),
    ],
    'clock.advance': [12, () => ({ by: duration() })],
    'clock.reset': [6, nothing],
    'keys.add': [5, () => ({ key: key(), ...maybe(50, () => ({ plan: plan() })) })],
    'keys.change': [6, () => ({ key: key(), plan: plan() })],
    'keys.remove': [3, () => ({ key: one(key(), 'mine', 'ours/and=') })],
    'keys.ban': [4, () => ({ key: key(), ...maybe(50, () => ({ for: duration() })) })],
    'keys.unban': [4, () => ({ key: key() })],
    'storm.start': [
      3,
      () => ({
        storm: {
          ...maybe(80, () => ({ rate: one(0, 0.2, 0.5, 1, 1, 2) })),
          ...maybe(80, () => ({ for: duration() })),
          ...maybe(30, () => ({ every: duration() })),
          ...maybe(30, () => ({ retryAfter: one('1s', '500ms', '30s', 'x') })),
        },
      }),
    ],
    'logins.expire': [2, nothing],
    'storm.stop': [4, nothing],
    'faults.set': [3, () => ({ rules: Array.from({ length: chance.integer(0, 4) }, fault) })],
    'faults.add': [3, () => ({ rule: fault() })],
    'faults.clear': [4, () => maybe(50, () => ({ id: one('0.1', '0.2,0.3', 'x') }))],
    'scenario.apply': [8, () => ({ scenario: scenario() })],
    'records.add': [
      10,
      () => ({
        resource: one('pets', 'pets', 'pets', 'orders', 'cats'),
        record: {
          name: one('Ada', 'ß', '', 7),
          categoryId: one(1, 1, 9223372036854775807n, 1.5),
          ...maybe(50, () => ({ status: one(...STATUSES, 'gone') })),
          ...maybe(30, () => ({ id: id() })),
        },
      }),
    ],
    'records.set': [
      12,
      () => ({
        resource: 'pets',
        id: id(),
        change: { ...maybe(50, () => ({ name: one('Bob', 7) })), ...maybe(60, () => ({ status: status() })) },
      }),
    ],
    'records.remove': [12, () => ({ resource: 'pets', id: id() })],
    'snapshots.save': [6, name],
    'snapshots.restore': [8, name],
    'snapshots.remove': [2, name],
    'requests.clear': [2, nothing],
    'conduct.expect': [2, () => ({ rule: 'invalid-request' })],
    'spaces.copy': [4, space],
    'spaces.remove': [4, space],
  }
}
