import type { Contract, Operation } from '../contract/contract.js'
import type { EngineRequest, EngineResponse } from '../contract/engine.js'
import { quote } from '../contract/excerpt.js'
import { isNode } from '../contract/json.js'
import { findRepeatedName } from '../contract/json-error.js'
import { recordsIn } from '../contract/resource-data.js'
import {
  findContentViolations,
  findHeaderViolations,
  type HeaderRules,
  type OperationRules,
  type ResponseRules,
  readResponse,
} from '../contract/response-rules.js'
import type { Fields } from '../contract/schema-fields.js'
import { isBearer } from '../domain/request-headers.js'
import { creationViolations, errorViolations, itemViolations, listViolations } from './bodies.js'
import {
  LIMIT_HEADER_KEYS,
  rateLimitViolations,
  readDeprecation,
  retryAfterViolations,
  unauthenticatedLimitViolations,
} from './headers.js'

/** Shared by `verify` and `call --check`. @source docs/cli.md, "Checks" */
export function findViolations(promises: CheckContext, exchange: SeenExchange): readonly ContractViolation[] {
  const { operation, response } = exchange
  const { status, headers } = response
  const rules = promises.rules.of(operation)
  if (rules === undefined) return []
  const { violations, code } = readContent(rules, exchange, promises.contract)
  const documented = new Map(rules.of(status)?.headers.map((header) => [header.name.toLowerCase(), header]))
  const limits = limitRules(documented, operation)
  const retryAfter = status === 429 ? documented.get('retry-after') : undefined
  const isIgnored = (key: string) => limits.has(key) || (status === 429 && key === 'retry-after')
  const deprecation = readDeprecation(operation, headers, promises.basePath)
  // A 401 for which the sandbox gives a reason was sent with a valid key.
  const hasNoKey = limits.has('x-ratelimit-limit') && status === 401 && headers['x-sandbox-reason'] === undefined
  return [
    ...asViolations('headers', findHeaderViolations(rules, response, isIgnored)),
    ...asViolations('authentication', authenticationViolations(rules, promises.contract, exchange)),
    ...violations,
    ...asViolations('rate-limit-headers', rateLimitViolations(headers, limits)),
    ...asViolations(
      'rate-limit-headers',
      hasNoKey ? unauthenticatedLimitViolations(headers, promises.contract.plans) : [],
    ),
    ...asViolations(
      'retry-after',
      retryAfter?.required || (retryAfter && headers['retry-after'] !== undefined)
        ? retryAfterViolations(headers, code)
        : [],
    ),
    ...asViolations('deprecation-headers', deprecation.kind === 'drift' ? deprecation.violations : []),
  ]
}

/** Of the documented headers, those of limits in the usual form; the schemas of others describe them. */
function limitRules(
  documented: ReadonlyMap<string, HeaderRules>,
  { limitHeaders = [] }: Operation,
): ReadonlyMap<string, HeaderRules> {
  const others = limitHeaders.filter(({ isOwn }) => !isOwn).map(({ name }) => name.toLowerCase())
  return new Map([...documented].filter(([key]) => LIMIT_HEADER_KEYS.has(key) && !others.includes(key)))
}

function asViolations(rule: ContractRule, details: readonly string[]): readonly ContractViolation[] {
  return details.map((detail) => ({ rule, detail }))
}

interface Content {
  readonly violations: readonly ContractViolation[]
  /** Of an error body. */
  readonly code: unknown
}

function readContent(rules: OperationRules, exchange: SeenExchange, { isPackaged }: CheckContext['contract']): Content {
  const { operation, captured, request, response } = exchange
  const read = readResponse(response)
  const { status, body } = findContentViolations(rules, response, read, request.method === 'HEAD')
  const violations = [...asViolations('status', status), ...asViolations('body', body)]
  const add = (rule: ContractRule, details: readonly string[]) => violations.push(...asViolations(rule, details))
  if (read.kind === 'json') {
    const repeated = findRepeatedName(response.body)
    if (repeated !== undefined) add('body', [`an object has the name ${quote(repeated)} twice`])
    if (isPackaged) add('body', errorViolations(response.status, read.value))
  }
  add('status', acceptanceViolations(exchange))
  // A sandbox makes a mocked response up without the request.
  const isMocked = response.headers['x-sandbox-reason'] === 'mock'
  if (read.kind === 'json' && isSuccess(response.status) && !isMocked) {
    const value = recordsIn(read.value, operation.action)
    const fields: Fields = rules.of(response.status)?.fields ?? new Map()
    if (Array.isArray(value)) add('query', listViolations(operation, fields, request, value))
    else if (request.method === 'POST') add('identity', creationViolations(operation, fields, request.body, value))
    else if (request.method === 'GET') add('identity', itemViolations(operation, captured, value))
  }
  const code = read.kind === 'json' && isNode(read.value) ? read.value.code : undefined
  return { violations, code }
}

/** A body that the contract does not allow is refused with 400. @source docs/specification.md, "POST /pets" */
function acceptanceViolations({ operation, request, response: { status } }: SeenExchange): readonly string[] {
  if (!operation.takesBody || !operation.responses.has(400) || !isSuccess(status)) return []
  const [violation] = operation.readBody(new TextEncoder().encode(request.body)).violations
  return violation === undefined ? [] : [`the status is ${status}, although ${violation.message}`]
}

/** @source docs/specification.md, "Authentication" */
function authenticationViolations(
  { statuses }: OperationRules,
  contract: CheckContext['contract'],
  { operation, request, response: { status, headers } }: SeenExchange,
): readonly string[] {
  const { keyHeaders, otherKeys } = contract
  const hasKey = ['authorization', ...keyHeaders.map(({ name }) => name.toLowerCase())].some(
    (name) => request.headers[name] !== undefined,
  )
  const isOpen = operation.isPublic || hasKey || otherKeys !== undefined
  if (!isOpen && statuses.includes('401') && isSuccess(status))
    return [`the status is ${status}, although no key was sent`]
  const challenge = headers['www-authenticate']
  if (
    status !== 401 ||
    challenge === undefined ||
    contract.isStandIn === true ||
    !keyHeaders.some(isBearer) ||
    /(?:^|,)\s*bearer(?:\s|,|$)/i.test(challenge)
  )
    return []
  return [`WWW-Authenticate asks for ${quote(challenge)}, not for Bearer`]
}

export interface SeenExchange {
  readonly operation: Operation
  readonly captured: readonly string[]
  readonly request: EngineRequest
  readonly response: EngineResponse
}

export interface CheckContext {
  readonly rules: ResponseRules
  readonly contract: Pick<Contract, 'isPackaged' | 'isStandIn' | 'keyHeaders' | 'otherKeys' | 'plans'>
  readonly basePath: string
}

export type ContractRule =
  | 'status'
  | 'headers'
  | 'body'
  | 'authentication'
  | 'query'
  | 'identity'
  | 'rate-limit-headers'
  | 'retry-after'
  | 'deprecation-headers'

export interface ContractViolation {
  readonly rule: ContractRule
  /** A sentence part: `X-RateLimit-Limit is missing`. */
  readonly detail: string
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
