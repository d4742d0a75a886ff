import type { Contract, Operation } from '../../contract/contract.js'
import type { ContractEngine, EngineAnswer, EngineRequest } from '../../contract/engine.js'
import { parseShallowJson } from '../../contract/json.js'
import { MASK } from '../../domain/redaction.js'
import { readRetryAfter } from '../../domain/retry-after.js'
import { ceilSeconds, MINUTE_MS } from '../../domain/time.js'
import { NoAnswerError } from '../no-answer.js'
import type { Check, CheckOutcome, Verification } from './check.js'
import { type Example, readExamples } from './examples.js'
import { rateLimitBreaches, readDeprecation } from './header-checks.js'
import type { Service } from './service.js'

export interface VerifyOptions {
  readonly contract: Contract
  readonly engine: ContractEngine
  readonly service: Service
  readonly apiKey: string | undefined
  /** Calls operations that write, too. */
  readonly writes: boolean
  /** Waits out a Retry-After. */
  wait(milliseconds: number): Promise<void>
  /** Called before it waits. */
  onWait?(seconds: number, request: string): void
}

/** Longer waits are not waited out. */
const LONGEST_WAIT_MS = MINUTE_MS
/** A key that is valid nowhere. */
const WRONG_KEY = 'no-such-key-sent-by-petstore-sandbox-verify'
/** Reasons that a sandbox gives when it simulates the removal of an operation. */
const REMOVAL_REASONS = ['sunset', 'brownout']

/**
 * Calls every operation of the contract and checks what comes back against it.
 *
 * Lists come first, so that operations on a single item can use the id of one
 * that exists. Nothing is written unless requested.
 *
 * @throws NoAnswerError if the first request is not answered
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const examplesOf = await readExamples(options.contract)
  const run = new Run(options)
  for (const operation of [...options.contract.operations].sort((one, other) => turnOf(one) - turnOf(other))) {
    await run.verifyOperation(operation, examplesOf(operation))
  }
  return run.result()
}

/** Lists, then writes, then what needs the id of something. */
function turnOf({ method, path }: Operation): number {
  if (path.includes('{')) return 2
  return isRead(method) ? 0 : 1
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The response, or why there is none to judge. */
type Asked =
  | { readonly kind: 'answer'; readonly answer: EngineAnswer }
  | { readonly kind: 'stopped'; readonly outcome: CheckOutcome; readonly details: readonly string[] }

class Run {
  readonly #options: VerifyOptions
  readonly #checks: Check[] = []
  readonly #notes: string[] = []
  readonly #reached = new Set<string>()
  /** The first id of each list that was answered, by its path. */
  readonly #ids = new Map<string, unknown>()
  #wasAnswered = false

  constructor(options: VerifyOptions) {
    this.#options = options
  }

  result(): Verification {
    const { apiKey } = this.#options
    const masked = (text: string) =>
      apiKey === undefined || apiKey === 'sandbox' ? text : text.replaceAll(apiKey, MASK)
    const checks = this.#checks.map((check) => ({ ...check, details: check.details.map(masked) }))
    return { checks, reached: [...this.#reached], notes: this.#notes.map(masked) }
  }

  async verifyOperation(operation: Operation, examples: readonly Example[]): Promise<void> {
    const { apiKey, writes, engine } = this.#options
    const skip = (reason: string) => this.#add(operation, 'every check', undefined, 'skipped', [reason])
    if (!isRead(operation.method)) {
      if (operation.method !== 'POST' || operation.body?.example === undefined || operation.path.includes('{')) {
        return skip('it writes, and only operations that add an example of the contract are ever called')
      }
      if (!writes) return skip('it writes, and --writes was not given')
    }
    const [collection] = operation.path.split('/{', 1)
    const isFound = this.#ids.has(collection ?? '')
    const requests = examples.flatMap((example) => {
      const request = requestOf(operation, example, this.#ids.get(collection ?? ''))
      return request === undefined ? [] : [{ name: operation.takesBody ? 'the example' : example.name, request }]
    })
    const [first] = requests
    if (first === undefined) return skip('the contract has no example of what stands in its path')
    const { violations } = { violations: [], ...(await engine.mock(first.request)) }
    if (violations.length > 0) return skip(`the contract has no example of its request: ${violations.join('; ')}`)

    if (operation.responses.has(401)) {
      await this.#verifyRefusal(operation, '401 without a key', first.request)
      await this.#verifyRefusal(operation, '401 with a wrong key', withKey(first.request, WRONG_KEY))
    } else this.#add(operation, '401', undefined, 'skipped', ['the contract documents no 401 for it'])
    for (const { name, request } of requests) {
      if (apiKey === undefined) this.#add(operation, name, request, 'skipped', ['no API key was given'])
      else await this.#verifyAnswer(operation, name, withKey(request, apiKey), isFound)
    }
  }

  async #verifyRefusal(operation: Operation, name: string, request: EngineRequest): Promise<void> {
    const asked = await this.#ask(operation, request)
    if (asked.kind === 'stopped') return this.#add(operation, name, request, asked.outcome, asked.details)
    const { answer } = asked
    const details = answer.status === 401 ? await this.#breaches(request, answer) : [`it is answered ${answer.status}`]
    this.#judge(operation, name, request, details)
    this.#judgeLimits(operation, `rate-limit headers of its ${name}`, request, answer)
  }

  async #verifyAnswer(operation: Operation, name: string, request: EngineRequest, isFound: boolean): Promise<void> {
    const asked = await this.#ask(operation, request)
    if (asked.kind === 'stopped') return this.#add(operation, name, request, asked.outcome, asked.details)
    const { answer } = asked
    const { status } = answer
    const breaches = await this.#breaches(request, answer)
    const isSuccess = status >= 200 && status < 300
    const expected = [...operation.responses.keys()].filter((one) => one >= 200 && one < 300)
    const reason = isSuccess ? undefined : reasonToSkip(operation, answer, isFound)
    if (reason !== undefined && breaches.length === 0) this.#add(operation, name, request, 'skipped', [reason])
    else {
      this.#reached.add(operation.id)
      const unexpected = isSuccess
        ? []
        : [`it is answered ${status}, not ${expected.join(' or ') || '2xx'}${hintOf(status)}`]
      this.#judge(operation, name, request, [...unexpected, ...breaches, ...(isSuccess ? unmet(request, answer) : [])])
    }
    this.#judgeLimits(operation, `rate-limit headers of ${name}`, request, answer)
    this.#judgeDeprecation(operation, name, request, answer)
    if (isSuccess) this.#remember(operation, answer)
  }

  /** Sends a request, and once more after a 429 with a short wait. The 429 itself is checked against the contract. */
  async #ask(operation: Operation, request: EngineRequest): Promise<Asked> {
    const { service, wait, onWait } = this.#options
    try {
      const answer = await service.ask(request)
      this.#wasAnswered = true
      if (answer.status !== 429) return { kind: 'answer', answer }
      this.#judge(operation, '429', request, await this.#breaches(request, answer))
      this.#judgeLimits(operation, 'rate-limit headers of its 429', request, answer)
      const pause = waitOf(answer)
      if (pause === undefined || pause > LONGEST_WAIT_MS) return refused(pause)
      onWait?.(ceilSeconds(pause), shown(request))
      await wait(pause)
      const again = await service.ask(request)
      return again.status === 429 ? refused(waitOf(again)) : { kind: 'answer', answer: again }
    } catch (error) {
      if (!(error instanceof NoAnswerError) || !this.#wasAnswered) throw error
      return { kind: 'stopped', outcome: 'unanswered', details: [error.message] }
    }
  }

  /** How a response breaks the contract, leaving aside the rate-limit headers, which have their own check. */
  async #breaches(request: EngineRequest, answer: EngineAnswer): Promise<readonly string[]> {
    const found = await this.#options.engine.check(request, answer)
    return [...found.filter((sentence) => !/x-ratelimit-/i.test(sentence)), ...bodyBreaches(answer)]
  }

  #judgeLimits(operation: Operation, name: string, request: EngineRequest, { headers }: EngineAnswer): void {
    this.#judge(operation, name, request, rateLimitBreaches(headers))
  }

  #judgeDeprecation(operation: Operation, example: string, request: EngineRequest, { headers }: EngineAnswer): void {
    const reading = readDeprecation(operation, headers)
    const name = `deprecation headers of ${example}`
    if (reading.kind === 'drift') this.#judge(operation, name, request, reading.breaches)
    else if (reading.kind === 'unsaid') {
      const reason = 'neither Deprecation nor Sunset is sent; they are not documented, so they need not be'
      this.#add(operation, name, request, 'skipped', [reason])
    } else if (operation.deprecated) this.#judge(operation, name, request, [])
  }

  #judge(operation: Operation, name: string, request: EngineRequest, details: readonly string[]): void {
    this.#add(operation, name, request, details.length === 0 ? 'kept' : 'drift', details)
  }

  #add(
    operation: Operation,
    name: string,
    request: EngineRequest | undefined,
    outcome: CheckOutcome,
    details: readonly string[],
  ): void {
    const asked = request === undefined ? {} : { request: shown(request) }
    this.#checks.push({ operation: operation.id, name, ...asked, outcome, details })
  }

  #remember(operation: Operation, answer: EngineAnswer): void {
    const body = bodyOf(answer)
    if (isRead(operation.method) && Array.isArray(body) && !this.#ids.has(operation.path)) {
      const id = idOf(body[0])
      if (id !== undefined) this.#ids.set(operation.path, id)
    }
    if (!isRead(operation.method)) {
      const id = idOf(body)
      this.#notes.push(
        `${operation.id} has written${id === undefined ? '' : `, with the id ${id}`}; it is still there.`,
      )
    }
  }
}

function refused(pause: number | undefined): Asked {
  const until = pause === undefined ? 'it does not say until when' : `for another ${ceilSeconds(pause)} s`
  return { kind: 'stopped', outcome: 'skipped', details: [`the rate limit is used up (429), ${until}`] }
}

/** How long to wait after a 429, by the answer's own Date only: the clock of this machine may be another. */
function waitOf({ headers }: EngineAnswer): number | undefined {
  return readRetryAfter(headers['retry-after'], headers.date, undefined)
}

/** Why an unsuccessful response says nothing about the contract. */
function reasonToSkip(operation: Operation, { status, headers }: EngineAnswer, isFound: boolean): string | undefined {
  const { path, sunsetAt } = operation
  if (status !== 404 && status !== 410) return undefined
  const isPast = sunsetAt !== undefined && Date.parse(headers.date ?? '') >= sunsetAt
  if (isPast || REMOVAL_REASONS.includes(headers['x-sandbox-reason'] ?? '')) return 'the operation has been removed'
  if (status !== 404 || isFound || !path.includes('{')) return undefined
  return 'nothing is known to ask for: no list was answered that holds an id, and the one of the example is not there'
}

function hintOf(status: number): string {
  return status === 401 ? ' (is the API key one of this instance?)' : ''
}

/** What a JSON body says that the status does not. @source docs/specification.md, "Error": status is the HTTP status code */
function bodyBreaches(answer: EngineAnswer): readonly string[] {
  const body = bodyOf(answer)
  if (answer.status < 400 || typeof body !== 'object' || body === null || !('status' in body)) return []
  if (typeof body.status !== 'number' || body.status === answer.status) return []
  return [`the body's status is ${body.status}, that of the answer ${answer.status}`]
}

/** Unmet query parameters: more items than `limit`, or items that the filter excludes. */
function unmet(request: EngineRequest, answer: EngineAnswer): readonly string[] {
  const items = bodyOf(answer)
  if (!Array.isArray(items)) return []
  const unmetOnes: string[] = []
  for (const [name, value] of new URLSearchParams(request.query)) {
    if (name === 'limit' && items.length > Number(value)) {
      unmetOnes.push(`${items.length} are listed, although limit is ${value}`)
    }
    const others = items.filter((item) => name in Object(item) && String(Object(item)[name]) !== value)
    if (others.length > 0) {
      unmetOnes.push(`${name} is ${JSON.stringify(String(Object(others[0])[name]))}, although ${value} was asked for`)
    }
  }
  return unmetOnes
}

/** @returns undefined if a path parameter has no value */
function requestOf(operation: Operation, { values }: Example, foundId: unknown): EngineRequest | undefined {
  const inPath = [...operation.path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  const textOf = (name: string) => (inPath.length === 1 ? (foundId ?? values.get(name)) : values.get(name))
  if (inPath.some((name) => textOf(name) === undefined)) return undefined
  const path = operation.path.replace(/\{([^{}]*)\}/g, (_, name: string) => encodeURIComponent(String(textOf(name))))
  const query = new URLSearchParams(
    [...values].flatMap(([name, value]): [string, string][] => (inPath.includes(name) ? [] : [[name, String(value)]])),
  )
  const body = operation.body?.example ?? ''
  const headers = { accept: 'application/json', ...(body === '' ? {} : { 'content-type': 'application/json' }) }
  return { method: operation.method, path, query: String(query), headers, body }
}

function withKey(request: EngineRequest, key: string): EngineRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${key}` } }
}

function shown({ method, path, query }: EngineRequest): string {
  return `${method} ${path}${query === '' ? '' : `?${query}`}`
}

function bodyOf({ body }: EngineAnswer): unknown {
  try {
    return parseShallowJson(body)
  } catch {
    return undefined
  }
}

function idOf(value: unknown): unknown {
  const id: unknown = Object(value).id
  return ['number', 'bigint', 'string'].includes(typeof id) ? id : undefined
}
