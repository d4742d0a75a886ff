import type { Contract, Operation } from '../../contract/contract.js'
import type { EngineRequest, EngineResponse } from '../../contract/engine.js'
import { quote } from '../../contract/excerpt.js'
import { parseShallowJson } from '../../contract/json.js'
import { idInPath, recordsIn } from '../../contract/resource-data.js'
import type { ResponseRules } from '../../contract/response-rules.js'
import { keyChoices, keyParts } from '../../domain/key-places.js'
import { type Reason, withoutOperation } from '../../domain/problems.js'
import { MASK } from '../../domain/redaction.js'
import { ceilSeconds, MINUTE_MS, readRetryAfter, SECOND_MS } from '../../domain/time.js'
import { isId, isObject } from '../../drift/bodies.js'
import { type ContractRule, findViolations, isSuccess } from '../../drift/find-violations.js'
import { readDeprecation } from '../../drift/headers.js'
import type { Service } from '../exchange.js'
import { NoResponseError } from '../no-response.js'
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
import { type CountedResponse, findUncounted, readCounted, SeenItems } from './seen-items.js'

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

export interface VerifyOptions {
  readonly contract: Contract
  readonly rules: ResponseRules
  readonly service: Service
  readonly basePath: string
  readonly apiKey: string | undefined
  readonly writes: boolean
  wait(milliseconds: number): Promise<void>
  onWait?(seconds: number, request: string, left: number): void
}

const MAX_WAIT_MS = MINUTE_MS
export const MAX_WAITS = 5
/** After this time the Date of a response has moved on. */
const NEXT_SECOND_MS = 1.1 * SECOND_MS
const WRONG_KEY = 'no-such-key-sent-by-petstore-sandbox-verify'
/** X-Sandbox-Reason of responses that do not come from the service. */
const SIMULATED_REASONS: readonly string[] = [
  'fault',
  'forced',
  'storm',
  'ban',
  'unavailable',
] satisfies readonly Reason[]
const REMOVAL_REASONS = ['sunset', 'brownout']
const REMOVAL_CODE = 'operation_removed'
const OWN_CHECKS: readonly ContractRule[] = ['rate-limit-headers', 'deprecation-headers']

type ProbeResult = EngineResponse | { readonly outcome: CheckOutcome; readonly detail: string }

/** Lists first, then writes, so that item operations have an existing id. @throws NoResponseError (first request) */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const { contract, rules, service, basePath, apiKey, writes, wait } = options
  const checks: Check[] = []
  const notes: string[] = []
  const reached = new Set<string>()
  const counted: CountedResponse[] = []
  const collections = new Map<string, SeenItems>()
  const stillLimited = new Set<string | undefined>()
  /** Of the first listed record, by resource. */
  const firstIds = new Map<string, unknown>()
  let wasAnswered = false
  let waits = 0

  const examplesOf = await readExamples(contract)
  for (const operation of [...contract.operations].sort((one, other) => rankOf(one) - rankOf(other))) {
    await verifyOperation(operation, examplesOf(operation))
  }
  await verifyCounting()
  const masked = (text: string) => (apiKey === undefined || apiKey === 'sandbox' ? text : text.replaceAll(apiKey, MASK))
  return {
    checks: checks.map((check) => ({ ...check, details: check.details.map(masked) })),
    reached: [...reached],
    notes: notes.map(masked),
  }

  function withKey({ keys }: Operation, request: EngineRequest, key: string): EngineRequest {
    const parts = keyParts(keyChoices(contract, keys), key)
    const headers = parts.headers.map(([name, value]) => [name.toLowerCase(), value] as const)
    const query = [request.query, parts.query].filter((part) => part !== '').join('&')
    return { ...request, headers: { ...request.headers, ...Object.fromEntries(headers) }, query }
  }

  function keyOf({ keys }: Operation, { headers, query }: EngineRequest): string | undefined {
    return [apiKey, WRONG_KEY].find((key) => {
      if (key === undefined) return false
      const parts = keyParts(keyChoices(contract, keys), key)
      return (
        parts.headers.every(([name, value]) => headers[name.toLowerCase()] === value) && query.includes(parts.query)
      )
    })
  }

  async function verifyOperation(operation: Operation, examples: readonly Example[]): Promise<void> {
    const isWrite = !isRead(operation.method)
    const skip = (reason: string) => add(operation.id, 'every check', undefined, 'skipped', [reason])
    if (isWrite) {
      if (operation.method !== 'POST' || operation.body?.example === undefined || operation.path.includes('{'))
        return skip('it writes, and only operations that add an example of the contract are ever called')
      if (!writes) return skip('it writes, and --writes was not given')
    }
    const items = itemsOf(operation)
    const probes = exampleProbes(operation, examples, knownIds(operation))
    const request = probes[0]?.request
    if (request === undefined) return skip('the contract has no example for its path parameters')
    const reached = contract.route(request.method, request.path.replace(/#.*/, ''))
    if (reached.kind !== 'operation' || reached.operation.id !== operation.id) return skip('no request reaches it')
    const violations = [operation.readQuery(request.query), operation.readBody(bytesOf(request))].flatMap((read) =>
      read.violations.map(({ message }) => message),
    )
    if (violations.length > 0) return skip(`the contract has no valid example of its request: ${violations.join('; ')}`)

    if (operation.responses.has(401) && !operation.isPublic) {
      await check(operation, { name: '401 without a key', request, expected: 401 })
      await check(operation, {
        name: '401 with a wrong key',
        request: withKey(operation, request, WRONG_KEY),
        expected: 401,
      })
    } else {
      const why = operation.responses.has(401)
        ? 'the contract requires no key for it'
        : 'the contract documents no 401 for it'
      add(operation.id, '401', undefined, 'skipped', [why])
    }
    if (apiKey === undefined) {
      for (const probe of probes) add(operation.id, probe.name, probe.request, 'skipped', ['no API key was given'])
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
      await check(operation, { ...probe, request: withKey(operation, probe.request, apiKey) })
    if (isWrite) await verifyListed(operation, apiKey)
  }

  async function check(operation: Operation, { name, request, expected, isRefusable }: Probe): Promise<void> {
    const response = await ask(operation, request)
    if ('outcome' in response) return add(operation.id, name, request, response.outcome, [response.detail])
    const { status } = response
    const items = itemsOf(operation)
    const body = bodyOf(response)
    const violations = violationsIn(operation, request, response)
    if (isMocked(response)) {
      reached.add(operation.id)
      return judge(operation, name, request, detailsOf(violations))
    }
    const details = detailsOf(violations)
    const skipped = isSuccess(status)
      ? undefined
      : (removalReason(operation, response, expected !== undefined || areIdsKnown(operation)) ??
        (isRefusable && status === 400
          ? `it is refused with 400, as it may be: ${messageIn(operation, body)}`
          : undefined))
    if (skipped !== undefined && detailsOf(violations.filter(({ rule }) => rule !== 'status')).length === 0)
      add(operation.id, name, request, 'skipped', [skipped])
    else if (expected !== undefined) {
      judge(operation, name, request, [
        ...(status === expected ? [] : [`the status is ${status}, not ${expected}`]),
        ...details,
      ])
    } else {
      reached.add(operation.id)
      const contradictions = isSuccess(status)
        ? [...items.contradictions(request, body), ...(await statusContradictions(operation, request, body))]
        : []
      judge(operation, name, request, [...unexpected(operation, status), ...details, ...contradictions])
    }
    judge(operation, `rate-limit headers of ${name}`, request, detailsOf(violations, 'rate-limit-headers'))
    judgeDeprecation(operation, name, request, response, expected)
    if (!isSuccess(status)) return
    if (isRead(operation.method)) {
      items.addList(request, body)
      keepFirstId(operation, body)
    } else {
      const id = isObject(body) && isId(body.id) ? `, with the id ${body.id}` : ''
      notes.push(`${operation.id} has written${id}; it is still there.`)
      items.addCreated(body)
    }
  }

  async function verifyListed(creation: Operation, key: string): Promise<void> {
    const whole = wholeListOf(creation)
    const { created } = itemsOf(creation)
    if (created.length === 0 || whole === undefined) return
    const { operation, most } = whole
    const name = 'created items are listed'
    const request = withKey(operation, whole.request, key)
    const response = await ask(operation, request)
    if ('outcome' in response) return add(operation.id, name, request, response.outcome, [response.detail])
    const items = listedIn(response)
    const missing = created.filter(({ id }) => !items.some((item) => item.id === id))
    if (missing.length > 0 && items.length >= most)
      return add(operation.id, name, request, 'skipped', [`there are more than the ${most} that a list can have`])
    const details = missing.map(({ id }) => `${String(id)} was created, but is not listed`)
    judge(operation, name, request, details)
  }

  /** Asks list and item again where they show different statuses: another client may have changed it in between. */
  async function statusContradictions(operation: Operation, request: EngineRequest, body: unknown): Promise<string[]> {
    const whole = wholeListOf(operation)
    if (!isObject(body) || whole === undefined || !itemsOf(operation).hasOtherStatus(body)) return []
    const list = await ask(whole.operation, { ...whole.request, headers: { ...request.headers } })
    const again = await ask(operation, request)
    if ('outcome' in list || 'outcome' in again) return []
    const listed = listedIn(list).find(({ id }) => id === body.id)
    const now = bodyOf(again)
    if (listed === undefined || !isObject(now) || now.status !== body.status || listed.status === body.status) return []
    return [`status of ${String(body.id)} is ${quote(body.status)}, but the list says ${quote(listed.status)}`]
  }

  function wholeListOf({ path }: Operation) {
    const operation = contract.operations.find((one) => one.method === 'GET' && one.path === collectionOf(path))
    const list = operation && wholeList(operation)
    return list && { ...list, operation }
  }

  function itemsOf({ path }: Operation): SeenItems {
    const known = collections.get(collectionOf(path)) ?? new SeenItems()
    collections.set(collectionOf(path), known)
    return known
  }

  function keepFirstId({ action }: Operation, body: unknown): void {
    if (action?.kind !== 'list' || firstIds.has(action.resource)) return
    const listed = recordsIn(body, action)
    const { id } = contract.resources.find(({ name }) => name === action.resource) ?? {}
    const first: unknown = Array.isArray(listed) ? listed[0] : undefined
    if (id !== undefined && isObject(first) && first[id.property] !== undefined)
      firstIds.set(action.resource, first[id.property])
  }

  /** Ids of records that exist, by path parameter: of the parents, then of the record itself. */
  function knownIds(operation: Operation): ReadonlyMap<string, unknown> {
    const { path, parameters, action } = operation
    const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
    const resource = contract.resources.find(({ name }) => name === action?.resource)
    const outermost = collections.get(path.split('/{', 1)[0] ?? '')?.ids[0]
    const parents = action?.pathFilters ?? resource?.parents ?? []
    const ids = names.map((name, index) => {
      if (resource === undefined) return names.length === 1 && outermost
      const isWhole = operation.names?.[name] !== undefined
      const last = isWhole && action?.kind === 'list' ? parents.at(-1)?.resource : isWhole ? resource.name : undefined
      const of = last ?? parents[index]?.resource ?? (index < parents.length ? '' : resource.name)
      const { id } = contract.resources.find((one) => one.name === of) ?? {}
      const known = firstIds.get(of)
      return known === undefined || isWhole || id === undefined ? known : idInPath(id, known)
    })
    return new Map(names.flatMap((name, index) => (isId(ids[index]) ? [[name, ids[index]] as const] : [])))
  }

  /** Whether each id in the path is of a record that exists. The one record of a path may be missing. */
  function areIdsKnown(operation: Operation): boolean {
    const names = operation.parameters.filter((parameter) => parameter.in === 'path')
    const { single } = contract.resources.find(({ name }) => name === operation.action?.resource) ?? {}
    const { pathFilters, kind } = operation.action ?? {}
    // The first record may be of another parent.
    const isOfParent = pathFilters === undefined || kind === 'list'
    return names.length > 0 && knownIds(operation).size === names.length && single === undefined && isOfParent
  }

  async function verifyCounting(): Promise<void> {
    const uncounted = findUncounted(counted)
    if (uncounted === undefined) return
    const { operation, request, detail } = uncounted
    const isOff = counted.every(({ limit, remaining }) => remaining === limit) && !(await hasOpenWindow(request))
    const turnedOff = 'every response leaves the whole limit, and no window begins: the limits seem to be turned off'
    add(operation, 'requests are counted', request, isOff ? 'skipped' : 'drift', [isOff ? turnedOff : detail])
  }

  /** Whether a window goes on although no request was counted in it: with limits turned off, none begins. */
  async function hasOpenWindow(request: EngineRequest): Promise<boolean> {
    await wait(NEXT_SECOND_MS)
    const response = await service.ask(request).catch(() => undefined)
    const now = response && readCounted('', request, response)
    const latest = counted.at(-1)
    if (now === undefined || latest === undefined) return false
    return now.date > latest.date && now.limit === latest.limit && now.reset === latest.reset
  }

  /** Sends a request, and again after a 429 with a short wait. The 429 itself is checked against the contract. */
  async function ask(operation: Operation, request: EngineRequest): Promise<ProbeResult> {
    const sentKey = keyOf(operation, request)
    try {
      let response = await service.ask(request)
      wasAnswered = true
      if (response.status === 429) {
        const violations = violationsIn(operation, request, response)
        judge(operation, '429', request, detailsOf(violations))
        judge(operation, 'rate-limit headers of its 429', request, detailsOf(violations, 'rate-limit-headers'))
        const pause = waitOf(response)
        if (pause === undefined || pause > MAX_WAIT_MS || stillLimited.has(sentKey)) return limited(pause)
        if (waits === MAX_WAITS) {
          const detail = `not tested: the rate limit is used up again (429) after ${MAX_WAITS} waits`
          return { outcome: 'skipped', detail }
        }
        waits++
        options.onWait?.(ceilSeconds(pause), textOf(request), MAX_WAITS - waits)
        await wait(pause)
        response = await service.ask(request)
        if (response.status === 429) {
          stillLimited.add(sentKey)
          return limited(waitOf(response))
        }
      }
      stillLimited.delete(sentKey)
      const reason = response.headers['x-sandbox-reason'] ?? ''
      if (SIMULATED_REASONS.includes(reason))
        return { outcome: 'skipped', detail: `the sandbox simulated the response (${reason})` }
      const count = readCounted(operation.id, request, response)
      const isKeyed = apiKey !== undefined && sentKey === apiKey
      if (count !== undefined && isKeyed && response.status !== 401) counted.push(count)
      return response
    } catch (error) {
      if (!(error instanceof NoResponseError) || !wasAnswered) throw error
      return { outcome: 'unanswered', detail: error.message }
    }
  }

  function violationsIn(
    operation: Operation,
    request: EngineRequest,
    response: EngineResponse,
  ): readonly ContractViolation[] {
    const route = contract.route(request.method, request.path)
    const captured = route.kind === 'operation' ? route.captured : []
    return findViolations({ rules, contract, basePath }, { operation, captured, request, response })
  }

  function judgeDeprecation(
    operation: Operation,
    probe: string,
    request: EngineRequest,
    { headers }: EngineResponse,
    expected: Probe['expected'],
  ): void {
    const name = `deprecation headers of ${probe}`
    const reading = readDeprecation(operation, headers, basePath)
    if (reading.kind === 'drift') judge(operation, name, request, reading.violations)
    else if (!operation.deprecated || expected === 401) return
    else if (reading.kind === 'kept') judge(operation, name, request, [])
    else
      add(operation.id, name, request, 'skipped', ['neither Deprecation nor Sunset is sent, and neither is documented'])
  }

  function judge(operation: Operation, name: string, request: EngineRequest, details: readonly string[]): void {
    add(operation.id, name, request, details.length === 0 ? 'kept' : 'drift', details)
  }

  function add(
    operation: string,
    name: string,
    request: EngineRequest | undefined,
    outcome: CheckOutcome,
    details: readonly string[],
  ): void {
    checks.push({ operation, name, ...(request && { request: textOf(request) }), outcome, details })
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

function limited(pause: number | undefined): ProbeResult {
  const until = pause === undefined ? 'without a Retry-After' : `for another ${ceilSeconds(pause)} s`
  return { outcome: 'skipped', detail: `the rate limit is used up (429), ${until}` }
}

/** How long to wait after a 429, by the response's own Date only: this machine's clock may differ. */
function waitOf({ headers }: EngineResponse): number | undefined {
  return readRetryAfter(headers['retry-after'], headers.date, undefined)
}

function removalReason({ path, sunsetAt }: Operation, response: EngineResponse, isKnown: boolean): string | undefined {
  const { status, headers } = response
  if (status !== 404 && status !== 410) return undefined
  const isPast = sunsetAt !== undefined && Date.parse(headers.date ?? '') >= sunsetAt
  const body = bodyOf(response)
  const hasCode = isObject(body) && body.code === REMOVAL_CODE
  if (isPast || hasCode || REMOVAL_REASONS.includes(headers['x-sandbox-reason'] ?? ''))
    return 'the operation has been removed'
  if (status !== 404 || isKnown || !path.includes('{')) return undefined
  return 'no id is known: the lists are empty, and the id of the example does not exist'
}

function messageIn({ id }: Operation, body: unknown): string {
  return withoutOperation(id, isObject(body) && typeof body.message === 'string' ? body.message : 'no message')
}

function collectionOf(path: string): string {
  return path.replace(/\/\{[^{}]*\}$/, '')
}

function textOf({ method, path, query }: EngineRequest): string {
  return `${method} ${path}${query === '' ? '' : `?${query}`}`
}

function bytesOf({ body }: EngineRequest): Uint8Array | undefined {
  return body === '' ? undefined : Buffer.from(body)
}

function listedIn(response: EngineResponse): readonly Readonly<Record<string, unknown>>[] {
  const body = bodyOf(response)
  return Array.isArray(body) ? body.filter(isObject) : []
}

function bodyOf({ body }: EngineResponse): unknown {
  try {
    return parseShallowJson(body)
  } catch {
    return undefined
  }
}
