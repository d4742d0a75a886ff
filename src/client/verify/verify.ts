import type { Operation } from '../../contract/contract.js'
import type { EngineRequest, EngineResponse } from '../../contract/engine.js'
import { quote } from '../../contract/excerpt.js'
import { isNode, parseShallowJson } from '../../contract/json.js'
import { recordsIn } from '../../contract/resource-data.js'
import type { ResponseRules } from '../../contract/response-rules.js'
import { withoutOperation } from '../../domain/problems.js'
import { addressOf } from '../../domain/space-address.js'
import { isId } from '../../drift/bodies.js'
import { type ContractRule, findViolations, isSuccess } from '../../drift/find-violations.js'
import { readDeprecation } from '../../drift/headers.js'
import { collectionOf, KnownRecords } from './known-records.js'
import { type PacedOptions, PacedService, WRONG_KEY, withoutKey } from './paced-service.js'
import {
  bareListProbes,
  creationProbes,
  type Example,
  exampleProbes,
  isRead,
  itemProbes,
  listProbes,
  type Probe,
  readExamples,
  wholeList,
} from './probes.js'
import { changedFields, fieldText, findUncounted, itemsIn } from './seen-items.js'

/** `skipped`: it could not be checked, the details say why. `unanswered`: the connection failed. */
export type CheckOutcome = 'kept' | 'drift' | 'skipped' | 'unanswered'

export interface Check {
  readonly operation: string
  readonly name: string
  /** Method, path and query; undefined if nothing was sent. */
  readonly request?: string
  readonly outcome: CheckOutcome
  readonly details: readonly string[]
}

export interface Verification {
  readonly checks: readonly Check[]
  readonly reached: readonly string[]
  readonly notes: readonly string[]
}

export interface VerifyOptions extends PacedOptions {
  readonly rules: ResponseRules
  readonly basePath: string
  readonly writes: boolean
}

const REMOVAL_REASONS = ['sunset', 'brownout']
const REMOVAL_CODE = 'operation_removed'
const OWN_CHECKS: readonly ContractRule[] = ['rate-limit-headers', 'deprecation-headers']

/** Lists first, then writes, so that item operations have an existing id. @throws NoResponseError (first request) */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const { contract } = options
  const run = new Run(options)
  const examplesOf = await readExamples(contract)
  for (const operation of [...contract.operations].sort((a, b) => rankOf(a) - rankOf(b))) {
    await run.verifyOperation(operation, examplesOf(operation))
  }
  await run.verifyCounting()
  return run.result()
}

class Run {
  readonly #options: VerifyOptions
  readonly #records: KnownRecords
  readonly #service: PacedService
  readonly #checks: Check[] = []
  readonly #notes: string[] = []
  readonly #reached = new Set<string>()

  constructor(options: VerifyOptions) {
    this.#options = options
    this.#records = new KnownRecords(options.contract)
    this.#service = new PacedService(options, (operation, request, response) => {
      // A 429 is checked against the contract too.
      const violations = this.#violationsIn(operation, request, response)
      this.#judge(operation, '429', request, detailsOf(violations))
      this.#judge(operation, 'rate-limit headers of its 429', request, detailsOf(violations, 'rate-limit-headers'))
    })
  }

  result(): Verification {
    const masked = (text: string) => withoutKey(text, this.#options.apiKey)
    return {
      checks: this.#checks.map(({ request, details, ...check }) => ({
        ...check,
        ...(request !== undefined && { request: masked(request) }),
        details: details.map(masked),
      })),
      reached: [...this.#reached],
      notes: this.#notes.map(masked),
    }
  }

  async verifyOperation(operation: Operation, examples: readonly Example[]): Promise<void> {
    const { apiKey, contract, writes } = this.#options
    const isWrite = !isRead(operation.method)
    const skip = (reason: string) => this.#add(operation.id, 'every check', undefined, 'skipped', [reason])
    if (isWrite) {
      if (operation.method !== 'POST' || operation.body?.example === undefined || operation.path.includes('{'))
        return skip('it writes, and only operations that add an example of the contract are ever called')
      if (!writes) return skip('it writes, and --writes was not given')
    }
    const items = this.#records.itemsOf(operation)
    const probes = exampleProbes(operation, examples, this.#records.knownIds(operation))
    const request = probes[0]?.request
    if (request === undefined) return skip('the contract has no example for its path parameters')
    const reached = contract.route(request.method, request.path.replace(/#.*/, ''))
    if (reached.kind !== 'operation' || reached.operation.id !== operation.id) return skip('no request reaches it')
    const violations = [operation.readQuery(request.query), operation.readBody(bytesOf(request))].flatMap((read) =>
      read.violations.map(({ message }) => message),
    )
    if (violations.length > 0) return skip(`the contract has no valid example of its request: ${violations.join('; ')}`)

    if (operation.responses.has(401) && !operation.isPublic) {
      await this.#check(operation, { name: '401 without a key', request, expected: 401 })
      await this.#check(operation, {
        name: '401 with a wrong key',
        request: this.#service.withKey(operation, request, WRONG_KEY),
        expected: 401,
      })
    } else {
      const why = operation.responses.has(401)
        ? 'the contract requires no key for it'
        : 'the contract documents no 401 for it'
      this.#add(operation.id, '401', undefined, 'skipped', [why])
    }
    if (apiKey === undefined) {
      for (const probe of probes)
        this.#add(operation.id, probe.name, probe.request, 'skipped', ['no API key was given'])
      return
    }
    // The plain list comes first: the others are compared with it.
    const all = [...bareListProbes(operation), ...probes, ...listProbes(operation, examples)]
    const further = isWrite
      ? creationProbes(operation)
      : operation.path.includes('{')
        ? itemProbes(operation, items, contract)
        : []
    for (const probe of [...all, ...further])
      await this.#check(operation, { ...probe, request: this.#service.withKey(operation, probe.request, apiKey) })
    if (isWrite) await this.#verifyListed(operation, apiKey)
  }

  async #check(operation: Operation, { name, request, expected, isRefusable, isOfRecords }: Probe): Promise<void> {
    const response = await this.#service.ask(operation, request)
    if ('outcome' in response) return this.#add(operation.id, name, request, response.outcome, [response.detail])
    const { status } = response
    const items = this.#records.itemsOf(operation)
    const body = recordsOf(operation, response)
    const violations = this.#violationsIn(operation, request, response)
    if (isMocked(response)) {
      this.#reached.add(operation.id)
      return this.#judge(operation, name, request, detailsOf(violations))
    }
    const details = detailsOf(violations)
    const skipped = isSuccess(status)
      ? isOfRecords && !Array.isArray(body)
        ? 'the response has no list that the contract describes'
        : undefined
      : (removalReason(operation, response, expected !== undefined || this.#records.areIdsKnown(operation)) ??
        (isRefusable && status === 400
          ? `it is refused with 400, as it may be: ${messageIn(operation, bodyOf(response))}`
          : undefined))
    if (skipped !== undefined && detailsOf(violations.filter(({ rule }) => rule !== 'status')).length === 0)
      this.#add(operation.id, name, request, 'skipped', [skipped])
    else if (expected !== undefined) {
      this.#judge(operation, name, request, [
        ...(isExpected(operation, expected, status) ? [] : [`the status is ${status}, not ${expected}`]),
        ...details,
      ])
    } else {
      this.#reached.add(operation.id)
      const contradictions = isSuccess(status)
        ? [...items.contradictions(request, body), ...(await this.#listContradictions(operation, request, body))]
        : []
      this.#judge(operation, name, request, [...unexpected(operation, status), ...details, ...contradictions])
    }
    this.#judge(operation, `rate-limit headers of ${name}`, request, detailsOf(violations, 'rate-limit-headers'))
    this.#judgeDeprecation(operation, name, request, response, expected)
    if (!isSuccess(status)) return
    if (isRead(operation.method)) {
      items.addList({ operation, request }, body)
      this.#records.keepFirst(operation, body)
    } else {
      const id = isNode(body) && isId(body.id) ? `, with the id ${body.id}` : ''
      this.#notes.push(`${operation.id} has written${id}; it is still there.`)
      items.addCreated(bodyOf(request), body)
    }
  }

  async #verifyListed(creation: Operation, key: string): Promise<void> {
    const whole = this.#wholeListOf(creation)
    const { created } = this.#records.itemsOf(creation)
    if (created.length === 0 || whole === undefined) return
    const { operation, most } = whole
    const name = 'created items are listed'
    const request = this.#service.withKey(operation, whole.request, key)
    const response = await this.#service.ask(operation, request)
    if ('outcome' in response) return this.#add(operation.id, name, request, response.outcome, [response.detail])
    const body = recordsOf(operation, response)
    const items = itemsIn(body)
    const missing = created.filter(({ id }) => !items.some((item) => item.id === id))
    const isUnclear = most === undefined || !Array.isArray(body)
    if (missing.length > 0 && (isUnclear || items.length >= most)) {
      const why = isUnclear
        ? 'the list has pages, or an unknown form'
        : `there are more than the ${most} that a list can have`
      return this.#add(operation.id, name, request, 'skipped', [why])
    }
    const details = missing.map(({ id }) => `${String(id)} was created, but is not listed`)
    this.#judge(operation, name, request, details)
  }

  /** Asks both again where a list showed another value: another client may have changed it, or each response does. */
  async #listContradictions(operation: Operation, request: EngineRequest, body: unknown): Promise<readonly string[]> {
    const source = this.#records.itemsOf(operation).sourceOfChange(body)
    if (source === undefined) return []
    const list = await this.#service.ask(source.operation, source.request)
    const again = await this.#service.ask(operation, request)
    if ('outcome' in list || 'outcome' in again) return []
    return itemsIn(body).flatMap((item) => {
      const find = (at: Operation, response: EngineResponse) =>
        itemsIn(recordsOf(at, response)).find(({ id }) => id === item.id)
      const [listed, now] = [find(source.operation, list), find(operation, again)]
      return changedFields(item, listed)
        .filter((name) => now?.[name] === item[name])
        .map((name) => `${fieldText(item, name)}, but the list says ${quote(listed?.[name])}`)
    })
  }

  #wholeListOf({ path }: Operation) {
    const operation = this.#options.contract.operations.find(
      (item) => item.method === 'GET' && item.path === collectionOf(path),
    )
    const list = operation && wholeList(operation)
    return list && { ...list, operation }
  }

  async verifyCounting(): Promise<void> {
    const uncounted = findUncounted(this.#service.counted)
    if (uncounted === undefined) return
    const { operation, request, detail } = uncounted
    const isOff =
      this.#service.counted.every(({ limit, remaining }) => remaining === limit) &&
      !(await this.#service.hasOpenWindow(request))
    const turnedOff = 'every response leaves the whole limit, and no window begins: the limits seem to be turned off'
    this.#add(operation, 'requests are counted', request, isOff ? 'skipped' : 'drift', [isOff ? turnedOff : detail])
  }

  #violationsIn(operation: Operation, request: EngineRequest, response: EngineResponse): readonly ContractViolation[] {
    const route = this.#options.contract.route(request.method, request.path)
    const captured = route.kind === 'operation' ? route.captured : []
    return findViolations(this.#options, { operation, captured, request, response })
  }

  #judgeDeprecation(
    operation: Operation,
    probe: string,
    request: EngineRequest,
    { headers }: EngineResponse,
    expected: Probe['expected'],
  ): void {
    const name = `deprecation headers of ${probe}`
    const reading = readDeprecation(operation, headers, this.#options.basePath)
    if (reading.kind === 'drift') this.#judge(operation, name, request, reading.violations)
    else if (!operation.deprecated || expected === 401) return
    else if (reading.kind === 'kept') this.#judge(operation, name, request, [])
    else
      this.#add(operation.id, name, request, 'skipped', [
        'neither Deprecation nor Sunset is sent, and neither is documented',
      ])
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
    this.#checks.push({
      operation,
      name,
      ...(request && { request: `${request.method} ${addressOf(request)}` }),
      outcome,
      details,
    })
  }
}

/** A sandbox has made it up of the contract, so it knows no filters and no ids. */
function isMocked({ headers }: EngineResponse): boolean {
  return headers['x-sandbox-reason'] === 'mock'
}

type ContractViolation = ReturnType<typeof findViolations>[number]

/** Lists of parents come before lists of their records. */
function rankOf({ method, path, action }: Operation): number {
  const depth = path.split('{').length
  if (depth > 1) return action?.kind === 'list' ? depth : 2 * depth
  return isRead(method) ? 0 : 1
}

function detailsOf(violations: readonly ContractViolation[], wanted?: ContractRule): readonly string[] {
  return violations
    .filter(({ rule }) => (wanted === undefined ? !OWN_CHECKS.includes(rule) : rule === wanted))
    .map(({ detail }) => detail)
}

function unexpected({ responses }: Operation, status: number): readonly string[] {
  if (isSuccess(status) || (status < 400 && responses.has(status))) return []
  const expected = [...responses.keys()].filter(isSuccess).join(' or ') || '2xx'
  return [`the status is ${status}, not ${expected}${status === 401 ? ' (is the API key one of this instance?)' : ''}`]
}

function removalReason({ path, sunsetAt }: Operation, response: EngineResponse, isKnown: boolean): string | undefined {
  const { status, headers } = response
  if (status !== 404 && status !== 410) return undefined
  const isPast = sunsetAt !== undefined && Date.parse(headers.date ?? '') >= sunsetAt
  const body = bodyOf(response)
  const hasCode = isNode(body) && body.code === REMOVAL_CODE
  if (isPast || hasCode || REMOVAL_REASONS.includes(headers['x-sandbox-reason'] ?? ''))
    return 'the operation has been removed'
  if (status !== 404 || isKnown || !path.includes('{')) return undefined
  return 'no id is known: the lists are empty, and the id of the example does not exist'
}

function messageIn({ id }: Operation, body: unknown): string {
  return withoutOperation(id, isNode(body) && typeof body.message === 'string' ? body.message : 'no message')
}

function bytesOf({ body }: EngineRequest): Uint8Array | undefined {
  return body === '' ? undefined : Buffer.from(body)
}

/** A 422 may say the same as a 400, if both are documented. */
function isExpected({ responses }: Operation, expected: number, status: number): boolean {
  return status === expected || (expected === 400 && status === 422 && responses.has(422))
}

function recordsOf({ action }: Operation, response: EngineResponse): unknown {
  return recordsIn(bodyOf(response), action)
}

function bodyOf({ body }: Pick<EngineResponse, 'body'>): unknown {
  try {
    return parseShallowJson(body)
  } catch {
    return undefined
  }
}
