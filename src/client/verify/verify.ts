import type { AnswerRules } from '../../contract/answer-rules.js'
import type { Contract, Operation } from '../../contract/contract.js'
import type { ContractEngine, EngineAnswer, EngineRequest } from '../../contract/engine.js'
import { parseShallowJson } from '../../contract/json.js'
import { withoutOperation } from '../../domain/operation-message.js'
import { MASK } from '../../domain/redaction.js'
import { readRetryAfter } from '../../domain/retry-after.js'
import { ceilSeconds, MINUTE_MS, SECOND_MS } from '../../domain/time.js'
import { isId, isObject } from '../../drift/bodies.js'
import { readDeprecation } from '../../drift/deprecation.js'
import { type Breach, type BreachRule, isSuccess, type Promises } from '../../drift/exchange.js'
import { findBreaches } from '../../drift/find-breaches.js'
import { strangersLimitBreaches } from '../../drift/rate-limits.js'
import { NoAnswerError } from '../no-answer.js'
import type { Check, CheckOutcome, Verification } from './check.js'
import { type Example, readExamples } from './examples.js'
import {
  barestCreation,
  exampleProbes,
  invalidCreations,
  isRead,
  itemRequest,
  listProbes,
  missingItemProbe,
  type Probe,
} from './probes.js'
import { Remaining } from './remaining.js'
import { SeenItems } from './seen-items.js'
import type { Service } from './service.js'

export interface VerifyOptions {
  readonly contract: Contract
  /** What the contract documents of its answers. */
  readonly rules: AnswerRules
  readonly engine: Pick<ContractEngine, 'mock'>
  readonly service: Service
  /** Path of the instance: `/v1`. */
  readonly basePath: string
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
/** By then the Date of an answer has gone on. */
const NEXT_SECOND_MS = 1.1 * SECOND_MS
/** A key that is valid nowhere. */
const WRONG_KEY = 'no-such-key-sent-by-petstore-sandbox-verify'
/** Reasons that a sandbox gives when it simulates the removal of an operation, and the `code` with which it does so. */
const REMOVAL_REASONS = ['sunset', 'brownout']
const REMOVAL_CODE = 'operation_removed'

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
  await run.verifyCounting()
  return run.result()
}

/** Lists, then writes, then what needs the id of something. */
function turnOf({ method, path }: Operation): number {
  if (path.includes('{')) return 2
  return isRead(method) ? 0 : 1
}

/** The response, or why there is none to judge. */
type Asked =
  | { readonly kind: 'answer'; readonly answer: EngineAnswer }
  | { readonly kind: 'stopped'; readonly outcome: CheckOutcome; readonly details: readonly string[] }

class Run {
  readonly #options: VerifyOptions
  readonly #promises: Promises
  readonly #checks: Check[] = []
  readonly #notes: string[] = []
  readonly #reached = new Set<string>()
  readonly #items = new SeenItems()
  readonly #remaining = new Remaining()
  #wasAnswered = false

  constructor(options: VerifyOptions) {
    this.#options = options
    const { rules, contract, basePath } = options
    this.#promises = { rules, plans: contract.plans, basePath }
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
    const skip = (reason: string) => this.#add(operation.id, 'every check', undefined, 'skipped', [reason])
    if (!isRead(operation.method)) {
      if (operation.method !== 'POST' || operation.body?.example === undefined || operation.path.includes('{')) {
        return skip('it writes, and only operations that add an example of the contract are ever called')
      }
      if (!writes) return skip('it writes, and --writes was not given')
    }
    const probes = exampleProbes(operation, examples, this.#items.firstId(collectionOf(operation)))
    const [first] = probes
    if (first === undefined) return skip('the contract has no example of what stands in its path')
    const { violations } = { violations: [], ...(await engine.mock(first.request)) }
    if (violations.length > 0) return skip(`the contract has no example of its request: ${violations.join('; ')}`)

    if (operation.responses.has(401)) {
      await this.#verifyRefusal(operation, '401 without a key', first.request)
      await this.#verifyRefusal(operation, '401 with a wrong key', withKey(first.request, WRONG_KEY))
    } else this.#add(operation.id, '401', undefined, 'skipped', ['the contract documents no 401 for it'])
    if (apiKey === undefined) {
      for (const { name, request } of probes)
        this.#add(operation.id, name, request, 'skipped', ['no API key was given'])
      return
    }
    // What is there is asked first: the others are held against it.
    const [whole = [], further = []] = listProbes(operation, examples)
    for (const probe of [...whole, ...probes, ...further]) await this.#verifyAnswer(operation, keyed(probe, apiKey))
    if (!isRead(operation.method)) await this.#verifyWriting(operation, apiKey)
    else if (operation.path.includes('{')) await this.#verifyItems(operation, apiKey)
  }

  /** What the answers to the key say together: each request is counted. */
  async verifyCounting(): Promise<void> {
    const uncounted = this.#remaining.uncounted()
    if (uncounted === undefined) return
    const { operation, request, detail, isFull } = uncounted
    if (!isFull || (await this.#hasOpenWindow(request))) this.#add(operation, COUNTING, request, 'drift', [detail])
    else this.#add(operation, COUNTING, request, 'skipped', [TURNED_OFF])
  }

  /** Whether time passes in a window of which nothing is ever used: where limits are turned off none begins. */
  async #hasOpenWindow(request: EngineRequest): Promise<boolean> {
    const { service, wait } = this.#options
    await wait(NEXT_SECOND_MS)
    const answer = await service.ask(request).catch(() => undefined)
    return answer !== undefined && this.#remaining.isSameWindow(answer)
  }

  async #verifyWriting(operation: Operation, apiKey: string): Promise<void> {
    const barest = barestCreation(operation)
    if (barest !== undefined) await this.#verifyAnswer(operation, keyed(barest, apiKey), [400])
    for (const probe of invalidCreations(operation)) await this.#verifyRejection(operation, keyed(probe, apiKey), 400)
  }

  async #verifyItems(operation: Operation, apiKey: string): Promise<void> {
    const collection = collectionOf(operation)
    for (const { name, id } of this.#items.furtherIds(collection)) {
      const request = itemRequest(operation, id)
      if (request !== undefined) await this.#verifyAnswer(operation, keyed({ name, request }, apiKey))
    }
    const missing = missingItemProbe(operation)
    if (missing !== undefined) await this.#verifyRejection(operation, keyed(missing, apiKey), 404)
  }

  async #verifyRefusal(operation: Operation, name: string, request: EngineRequest): Promise<void> {
    const asked = await this.#ask(operation, request)
    if (asked.kind === 'stopped') return this.#add(operation.id, name, request, asked.outcome, asked.details)
    const { answer } = asked
    const breaches = this.#breaches(operation, request, answer)
    const limits = [
      ...of(breaches, 'rate-limit-headers'),
      ...(answer.status === 401 ? [] : strangersLimitBreaches(answer.headers, this.#promises.plans)),
    ]
    this.#judge(
      operation,
      name,
      request,
      answer.status === 401 ? others(breaches) : [`it is answered ${answer.status}`],
    )
    this.#judge(operation, `rate-limit headers of its ${name}`, request, limits)
    const deprecation = of(breaches, 'deprecation-headers')
    if (deprecation.length > 0) this.#judge(operation, `deprecation headers of its ${name}`, request, deprecation)
  }

  /** A request that the contract has refused with one status. */
  async #verifyRejection(operation: Operation, { name, request }: Probe, status: number): Promise<void> {
    const asked = await this.#ask(operation, request)
    if (asked.kind === 'stopped') return this.#add(operation.id, name, request, asked.outcome, asked.details)
    const { answer } = asked
    if (reasonToSkip(operation, answer, true) !== undefined)
      return this.#add(operation.id, name, request, 'skipped', [REMOVED])
    const breaches = this.#breaches(operation, request, answer)
    const unexpected = answer.status === status ? [] : [`it is answered ${answer.status}, not ${status}`]
    this.#judge(operation, name, request, [...unexpected, ...others(breaches)])
    this.#judge(operation, `rate-limit headers of ${name}`, request, of(breaches, 'rate-limit-headers'))
    this.#judgeDeprecation(operation, name, request, answer, breaches)
    if (!isRead(operation.method) && isSuccess(answer.status)) this.#noteWriting(operation, answer)
  }

  /** @param alsoFine statuses that say why an example was not taken, which says nothing of the contract */
  async #verifyAnswer(operation: Operation, { name, request }: Probe, alsoFine: readonly number[] = []): Promise<void> {
    const asked = await this.#ask(operation, request)
    if (asked.kind === 'stopped') return this.#add(operation.id, name, request, asked.outcome, asked.details)
    const { answer } = asked
    const { status } = answer
    const collection = collectionOf(operation)
    const breaches = this.#breaches(operation, request, answer)
    const isFound = this.#items.firstId(collection) !== undefined
    const reason = isSuccess(status) ? undefined : reasonToSkip(operation, answer, isFound)
    const body = bodyOf(answer)
    if (reason !== undefined && others(breaches.filter(({ rule }) => rule !== 'status')).length === 0)
      this.#add(operation.id, name, request, 'skipped', [reason])
    else if (alsoFine.includes(status) && others(breaches).length === 0)
      this.#add(operation.id, name, request, 'skipped', [
        `it is refused with ${status}, as it may be: ${withoutOperation(operation.id, saidIn(body))}`,
      ])
    else {
      this.#reached.add(operation.id)
      const contradictions = isSuccess(status) ? this.#items.contradictions(collection, request, body) : []
      this.#judge(operation, name, request, [...unexpected(operation, status), ...others(breaches), ...contradictions])
    }
    this.#judge(operation, `rate-limit headers of ${name}`, request, of(breaches, 'rate-limit-headers'))
    this.#judgeDeprecation(operation, name, request, answer, breaches)
    if (!isSuccess(status)) return
    if (isRead(operation.method)) this.#items.sawList(collection, request, body)
    else this.#noteWriting(operation, answer)
  }

  /** Sends a request, and once more after a 429 with a short wait. The 429 itself is checked against the contract. */
  async #ask(operation: Operation, request: EngineRequest): Promise<Asked> {
    const { service, wait, onWait } = this.#options
    try {
      const answer = await service.ask(request)
      this.#wasAnswered = true
      if (answer.status !== 429) return this.#heard(operation, request, answer)
      const breaches = this.#breaches(operation, request, answer)
      this.#judge(operation, '429', request, others(breaches))
      this.#judge(operation, 'rate-limit headers of its 429', request, of(breaches, 'rate-limit-headers'))
      const pause = waitOf(answer)
      if (pause === undefined || pause > LONGEST_WAIT_MS) return refused(pause)
      onWait?.(ceilSeconds(pause), shown(request))
      await wait(pause)
      const again = await service.ask(request)
      return again.status === 429 ? refused(waitOf(again)) : this.#heard(operation, request, again)
    } catch (error) {
      if (!(error instanceof NoAnswerError) || !this.#wasAnswered) throw error
      return { kind: 'stopped', outcome: 'unanswered', details: [error.message] }
    }
  }

  #heard(operation: Operation, request: EngineRequest, answer: EngineAnswer): Asked {
    const { apiKey } = this.#options
    const isKeyed = apiKey !== undefined && request.headers.authorization === bearer(apiKey)
    if (isKeyed && answer.status !== 401) this.#remaining.hear(operation.id, request, answer)
    return { kind: 'answer', answer }
  }

  #breaches(operation: Operation, request: EngineRequest, answer: EngineAnswer): readonly Breach[] {
    const route = this.#options.contract.route(request.method, request.path)
    const captured = route.kind === 'operation' ? route.captured : []
    return findBreaches(this.#promises, { operation, captured, request, answer })
  }

  #judgeDeprecation(
    operation: Operation,
    example: string,
    request: EngineRequest,
    { headers }: EngineAnswer,
    breaches: readonly Breach[],
  ): void {
    const found = of(breaches, 'deprecation-headers')
    const name = `deprecation headers of ${example}`
    const reading = readDeprecation(operation, headers, this.#promises.basePath)
    if (reading.kind === 'unsaid') this.#add(operation.id, name, request, 'skipped', [UNSAID])
    else if (operation.deprecated || found.length > 0) this.#judge(operation, name, request, found)
  }

  #noteWriting(operation: Operation, answer: EngineAnswer): void {
    const body = bodyOf(answer)
    const id = isObject(body) && isId(body.id) ? body.id : undefined
    this.#notes.push(`${operation.id} has written${id === undefined ? '' : `, with the id ${id}`}; it is still there.`)
    this.#items.sawCreated(collectionOf(operation), body)
  }

  #judge(operation: Operation, name: string, request: EngineRequest, details: readonly string[]): void {
    this.#add(operation.id, name, request, details.length === 0 ? 'kept' : 'drift', details)
  }

  #add(
    operation: string,
    name: string,
    request: EngineRequest | undefined,
    outcome: CheckOutcome,
    details: readonly string[],
  ): void {
    const asked = request === undefined ? {} : { request: shown(request) }
    this.#checks.push({ operation, name, ...asked, outcome, details })
  }
}

/** The check of all answers together. */
const COUNTING = 'requests are counted'
const TURNED_OFF = 'every answer leaves the whole limit, and no window begins: the limits seem to be turned off'
const REMOVED = 'the operation has been removed'
const UNSAID = 'neither Deprecation nor Sunset is sent; they are not documented, so they need not be'

/** Those that have a check of their own in the report. */
const OWN_CHECKS: readonly BreachRule[] = ['rate-limit-headers', 'deprecation-headers']

function of(breaches: readonly Breach[], wanted: BreachRule): readonly string[] {
  return breaches.filter(({ rule }) => rule === wanted).map(({ detail }) => detail)
}

function others(breaches: readonly Breach[]): readonly string[] {
  return breaches.filter(({ rule }) => !OWN_CHECKS.includes(rule)).map(({ detail }) => detail)
}

function unexpected({ responses }: Operation, status: number): readonly string[] {
  if (isSuccess(status)) return []
  const expected = [...responses.keys()].filter(isSuccess)
  return [`it is answered ${status}, not ${expected.join(' or ') || '2xx'}${hintOf(status)}`]
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
function reasonToSkip(operation: Operation, answer: EngineAnswer, isFound: boolean): string | undefined {
  const { path, sunsetAt } = operation
  const { status, headers } = answer
  if (status !== 404 && status !== 410) return undefined
  const isPast = sunsetAt !== undefined && Date.parse(headers.date ?? '') >= sunsetAt
  const body = bodyOf(answer)
  const isSaid = isObject(body) && body.code === REMOVAL_CODE
  if (isPast || isSaid || REMOVAL_REASONS.includes(headers['x-sandbox-reason'] ?? '')) return REMOVED
  if (status !== 404 || isFound || !path.includes('{')) return undefined
  return 'nothing is known to ask for: no list was answered that holds an id, and the one of the example is not there'
}

function hintOf(status: number): string {
  return status === 401 ? ' (is the API key one of this instance?)' : ''
}

function saidIn(body: unknown): string {
  return isObject(body) && typeof body.message === 'string' ? body.message : 'it does not say why'
}

/** `/pets/{petId}` is of `/pets`. */
function collectionOf({ path }: Operation): string {
  return path.split('/{', 1)[0] ?? ''
}

function keyed({ name, request }: Probe, key: string): Probe {
  return { name, request: withKey(request, key) }
}

function withKey(request: EngineRequest, key: string): EngineRequest {
  return { ...request, headers: { ...request.headers, authorization: bearer(key) } }
}

function bearer(key: string): string {
  return `Bearer ${key}`
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
