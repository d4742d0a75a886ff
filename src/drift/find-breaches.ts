import {
  findContentBreaches,
  findHeaderBreaches,
  type OperationRules,
  type ReadAnswer,
  readAnswer,
} from '../contract/answer-rules.js'
import { quote } from '../contract/excerpt.js'
import { createdBreaches, errorBreaches, isObject, itemBreaches, listBreaches } from './bodies.js'
import { readDeprecation } from './deprecation.js'
import { type Breach, type BreachRule, isSuccess, type Promises, type SeenExchange } from './exchange.js'
import { LIMIT_HEADER_KEYS, rateLimitBreaches, refusalBreaches, strangersLimitBreaches } from './rate-limits.js'

/**
 * Finds every way in which one answer drifts from the contract: all that can be told
 * from it and its request, without having seen another. `verify`, `call --check` and
 * the drift of forwarded answers have these checks in common.
 *
 * @source docs/cli.md, "What is checked"
 */
export function findBreaches(promises: Promises, exchange: SeenExchange): readonly Breach[] {
  const { operation, answer } = exchange
  const { status, headers } = answer
  const rules = promises.rules.of(operation)
  if (rules === undefined) return []
  const found: Breach[] = []
  const add = (rule: BreachRule, details: readonly string[]) => {
    for (const detail of details) found.push({ rule, detail })
  }
  add('headers', headerBreaches(rules, answer))
  add('authentication', authenticationBreaches(rules, exchange))
  const { breaches, code } = contentOf(rules, exchange)
  for (const breach of breaches) found.push(breach)
  // Another service's contract may know of no limits.
  if (rules.headers.has('x-ratelimit-limit')) {
    add('rate-limit-headers', rateLimitBreaches(headers))
    // The key was valid, if the sandbox itself says why it is refused.
    if (status === 401 && headers['x-sandbox-reason'] === undefined)
      add('rate-limit-headers', strangersLimitBreaches(headers, promises.plans))
  }
  if (status === 429 && rules.headers.has('retry-after')) add('retry-after', refusalBreaches(headers, code))
  const deprecation = readDeprecation(operation, headers, promises.basePath)
  if (deprecation.kind === 'drift') add('deprecation-headers', deprecation.breaches)
  return found
}

/** What an answer says with its status and its body. */
interface Content {
  readonly breaches: readonly Breach[]
  /** `code` of its body, if it has one. */
  readonly code: unknown
}

interface KnownContent extends Content {
  readonly request: SeenExchange['request']
  readonly answer: SeenExchange['answer']
}

/** The content that was looked at last, of each operation: clients ask for the same again and again, and reading it costs most. */
const known = new WeakMap<OperationRules, KnownContent>()
/** In characters. What is longer is not kept. */
const LONGEST_KNOWN = 65_536

function contentOf(rules: OperationRules, exchange: SeenExchange): Content {
  const { request, answer } = exchange
  const last = known.get(rules)
  if (last !== undefined && isSameContent(last, exchange)) return last
  const content = { ...readContent(rules, exchange), request, answer }
  if (answer.body.length <= LONGEST_KNOWN) known.set(rules, content)
  return content
}

function isSameContent({ request, answer }: KnownContent, other: SeenExchange): boolean {
  return (
    answer.status === other.answer.status &&
    answer.headers['content-type'] === other.answer.headers['content-type'] &&
    request.method === other.request.method &&
    request.path === other.request.path &&
    request.query === other.request.query &&
    request.body === other.request.body &&
    answer.body === other.answer.body
  )
}

function readContent(rules: OperationRules, exchange: SeenExchange): Content {
  const { request, answer } = exchange
  const read = readAnswer(answer)
  const breaches: Breach[] = []
  const add = (rule: BreachRule, details: readonly string[]) => {
    for (const detail of details) breaches.push({ rule, detail })
  }
  const documented = findContentBreaches(rules, answer, read, request.method === 'HEAD')
  add('status', documented.status)
  add('body', documented.body)
  if (read.kind === 'json') add('body', errorBreaches(answer.status, read.value))
  add('status', undueSuccess(exchange))
  if (read.kind === 'json' && isSuccess(answer.status)) addContent(rules, exchange, read.value, add)
  return { breaches, code: codeIn(read) }
}

/** But for those of which is said below more than that they are missing, or no number. */
function headerBreaches(rules: OperationRules, answer: SeenExchange['answer']): readonly string[] {
  const isLeftOut = (key: string) => LIMIT_HEADER_KEYS.has(key) || (answer.status === 429 && key === 'retry-after')
  return findHeaderBreaches(rules, answer, isLeftOut).map(({ name, breach }) => `${name} ${breach}`)
}

function addContent(
  rules: OperationRules,
  { operation, captured, request, answer }: SeenExchange,
  body: unknown,
  add: (rule: BreachRule, details: readonly string[]) => void,
): void {
  const fields = rules.of(answer.status)?.fields ?? new Set()
  if (Array.isArray(body)) add('query', listBreaches(operation, fields, request, body))
  else if (request.method === 'POST') add('identity', createdBreaches(operation, fields, request.body, body))
  else if (request.method === 'GET') add('identity', itemBreaches(operation, captured, body))
}

/** A body that the contract does not allow is refused with 400. @source docs/specification.md, "POST /pets" */
function undueSuccess({ operation, request, answer: { status } }: SeenExchange): readonly string[] {
  if (!operation.takesBody || !operation.responses.has(400) || !isSuccess(status)) return []
  const [violation] = operation.readBody(new TextEncoder().encode(request.body)).violations
  return violation === undefined ? [] : [`it is answered ${status}, although ${violation.message}`]
}

/** @source docs/specification.md, "Authentication" */
function authenticationBreaches(
  { statuses }: OperationRules,
  { request, answer: { status, headers } }: SeenExchange,
): readonly string[] {
  if (request.headers.authorization === undefined && statuses.includes('401') && isSuccess(status))
    return [`it is answered ${status}, although no key was sent`]
  const challenge = headers['www-authenticate']
  if (status !== 401 || challenge === undefined || /(?:^|,)\s*bearer(?:\s|,|$)/i.test(challenge)) return []
  return [`WWW-Authenticate asks for ${quote(challenge)}, not for Bearer`]
}

function codeIn(read: ReadAnswer): unknown {
  return read.kind === 'json' && isObject(read.value) ? read.value.code : undefined
}
