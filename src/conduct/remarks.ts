import type { Operation } from '../contract/contract.js'
import type { Caller } from '../domain/callers.js'
import { textOf } from '../domain/long-body.js'
import { type HandlerResult, type ServiceRequest, UNREAD } from '../domain/messages.js'
import { operationMessage } from '../domain/operation-message.js'
import { redactQuery } from '../domain/redaction.js'
import type { ConductRule } from './conduct-view.js'
import type { JudgedRequest } from './judged-request.js'

/** Something that an exchange reveals about its client. */
export interface Remark {
  readonly rule: ConductRule
  /** Distinguishes groups with the same rule and key. */
  readonly detail: string
  readonly message: string
  /** See Occurrence. */
  readonly senders?: number
}

/** Names checked in one request. */
const MOST_NAMES = 20

const remembered = new WeakMap<Operation, readonly Remark[]>()

/** Remarks on an exchange by itself, regardless of earlier ones. Most exchanges only show which operation was called and take the fast path. */
export function remarksOn(judged: JudgedRequest, answer: HandlerResult): readonly Remark[] {
  const { route } = judged
  if (route.kind !== 'operation' || !isOrdinary(judged, answer)) return allRemarksOn(judged, answer)
  const known = remembered.get(route.operation)
  if (known !== undefined) return known
  const remarks = uses(judged, answer)
  remembered.set(route.operation, remarks)
  return remarks
}

/** How a finding names a request: its operation, or method and path where it has none. */
export function whatWasSent({ route, request, path }: JudgedRequest): string {
  return route.kind === 'operation' ? route.operation.id : `${request.method} ${redactQuery(path)}`
}

/** Whether an exchange with a valid key succeeded and named nothing unknown to the contract. */
function isOrdinary({ caller, readings }: JudgedRequest, { status, fault }: HandlerResult): boolean {
  return (
    caller.kind === 'key' &&
    status < 300 &&
    fault === undefined &&
    readings !== undefined &&
    readings.query.unknown.length === 0 &&
    (readings.body === undefined || readings.body.unknown.length === 0)
  )
}

function allRemarksOn(judged: JudgedRequest, answer: HandlerResult): readonly Remark[] {
  return [
    ...unauthenticated(judged),
    ...undocumentedEndpoint(judged),
    ...invalidRequest(judged, answer),
    ...uses(judged, answer),
    ...unknownNames(judged),
  ]
}

const WITHOUT_KEY: Readonly<Record<(Caller & { kind: 'address' })['problem'], string>> = {
  missing_api_key: 'was sent without an API key',
  invalid_api_key: 'was sent with an API key that is not valid',
}

/** A path outside the service asks for no key. */
function unauthenticated(judged: JudgedRequest): readonly Remark[] {
  const { caller, route } = judged
  if (caller.kind === 'key' || route.kind === 'outside') return []
  const message = `${whatWasSent(judged)} ${WITHOUT_KEY[caller.problem]}.`
  return [{ rule: 'unauthenticated', detail: caller.problem, message }]
}

function undocumentedEndpoint(judged: JudgedRequest): readonly Remark[] {
  const { route, request, space } = judged
  if (route.kind === 'operation' || isUnread(request)) return []
  const target = whatWasSent(judged)
  const why =
    route.kind === 'outside'
      ? `the service is under ${space.shared.basePath}`
      : route.kind === 'unknown'
        ? 'there is no such path'
        : `the path supports ${route.allow.join(', ')}`
  return [{ rule: 'undocumented-endpoint', detail: target, message: `${target} is not in the contract: ${why}.` }]
}

/** Refused because of what the client sent, not because a switch or a header demanded it. */
function invalidRequest(judged: JudgedRequest, answer: HandlerResult): readonly Remark[] {
  const message = invalidity(judged, answer)
  return message === undefined ? [] : [{ rule: 'invalid-request', detail: message, message }]
}

function invalidity({ route, request, handler }: JudgedRequest, answer: HandlerResult): string | undefined {
  const { status, reason, headers = [] } = answer
  if (isUnread(request)) return messageOf(answer)
  // Forcing an invalid code is the client's mistake; a forced response is what it asked for.
  if (reason !== undefined && (reason !== 'forced' || headers.includes('Preference-Applied'))) return undefined
  if (status === 400 || status === 413 || status === 415) return messageOf(answer)
  if (status !== 404 || route.kind !== 'operation') return undefined
  const { operation, captured } = route
  if (handler === undefined)
    return answer.outside ? operationMessage(operation.id, ['the path breaks the contract']) : undefined
  const { violations } = operation.readPath(captured)
  if (violations.length === 0) return undefined
  return operationMessage(
    operation.id,
    violations.map(({ message }) => message),
  )
}

/** The sentence in an Error. */
function messageOf({ body, status }: HandlerResult): string {
  try {
    const error: unknown = JSON.parse(textOf(body))
    if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  } catch {
    // The examples of another contract need not be JSON.
  }
  return `It was refused with ${status}.`
}

/** Uses of things that clients should not rely on. */
function uses({ caller, route }: JudgedRequest, { status, fault }: HandlerResult): readonly Remark[] {
  if (caller.kind !== 'key' || route.kind !== 'operation') return []
  const { id, deprecated, sunsetAt, undocumentedShape } = route.operation
  const end = sunsetAt === undefined ? '' : ` and will be removed on ${new Date(sunsetAt).toISOString().slice(0, 10)}`
  return [
    ...(deprecated
      ? [{ rule: 'deprecated-operation', detail: id, message: `${id} is deprecated${end}.` } as const]
      : []),
    ...(undocumentedShape && status < 300 && fault === undefined
      ? [
          {
            rule: 'undocumented-shape',
            detail: id,
            message: `The response of ${id} has no documented shape.`,
          } as const,
        ]
      : []),
  ]
}

function unknownNames({ route, readings }: JudgedRequest): readonly Remark[] {
  if (readings === undefined || route.kind !== 'operation') return []
  const { id } = route.operation
  const remarks = (rule: 'unknown-parameter' | 'unknown-field', what: string, names: readonly string[] = []) =>
    [...new Set(names.slice(0, MOST_NAMES))].map((name) => ({
      rule,
      detail: name,
      message: `${id} has no ${what} ${JSON.stringify(name)}; it is ignored.`,
    }))
  return [
    ...remarks('unknown-parameter', 'query parameter', readings.query.unknown),
    ...remarks('unknown-field', 'field', readings.body?.unknown),
  ]
}

function isUnread({ method }: ServiceRequest): boolean {
  return method === UNREAD
}
