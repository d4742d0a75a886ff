import { startOf } from '../domain/long-body.js'
import type { HandlerResult, PendingReply, Reply, ServiceRequest } from '../domain/messages.js'
import { leavesNoStatus } from '../domain/messages.js'
import { redactAddress, redactQuery } from '../domain/redaction.js'
import type { EpochMs } from '../domain/time.js'
import { loggedBody, loggedHeaders } from '../exchanges/exchange-content.js'
import { LOG_BODY_CHARACTERS } from '../exchanges/exchange-log.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { problem } from './answers.js'
import { identify } from './callers.js'
import { GATES } from './gates.js'
import { handlerOf, operate } from './operations.js'
import { breachOfContract } from './own-answer.js'
import { replyHeaders } from './reply-headers.js'
import type { RequestContext } from './request-context.js'
import type { Space } from './space.js'
import { findRoute, splitTarget } from './target.js'

/**
 * Handles one request in a space: route, identify, the gates, the operation,
 * the common headers, the log. Synchronous unless a write or
 * Prism must be awaited. Never throws, never rejects.
 *
 * @param token the API key without its space, undefined if none was sent, '' if what was sent cannot be one
 * @param wall  what the wall clock says
 */
export function handle(space: Space, request: ServiceRequest, token: string | undefined, wall: EpochMs): PendingReply {
  const startedAt = space.shared.systemClock.monotonic()
  const context = arrive(space, request, token, wall)
  const answer = answerSafely(context)
  // In the order of arrival, like the quota itself; responses may be sent in another order.
  if (context.asksForQuota) space.conduct.count(context)
  return answer instanceof Promise
    ? answer.then((late) => depart(context, late, startedAt))
    : depart(context, answer, startedAt)
}

/** Answers without asking the gates, but with the common headers and the log. */
export function replyWith(
  space: Space,
  request: ServiceRequest,
  token: string | undefined,
  answer: HandlerResult,
  wall: EpochMs,
): Reply {
  return depart(arrive(space, request, token, wall), answer, space.shared.systemClock.monotonic())
}

function arrive(space: Space, request: ServiceRequest, token: string | undefined, wall: EpochMs): RequestContext {
  const { contract, basePath } = space.shared
  const { path, query } = splitTarget(request.target)
  const route = findRoute(contract, basePath, request, path)
  return {
    space,
    request,
    now: space.now(wall),
    path,
    query,
    route,
    caller: identify(space, token, request.address),
    handler: route.kind === 'operation' ? handlerOf(route.operation) : undefined,
    shown: undefined,
    fault: undefined,
    readings: undefined,
    asksForQuota: false,
  }
}

function askGates(context: RequestContext): HandlerResult | Promise<HandlerResult> {
  for (const gate of GATES) {
    const answer = gate(context)
    if (answer !== undefined) return answer
  }
  // The gate `exist` lets only operations through.
  return context.route.kind === 'operation' ? operate(context, context.route.operation) : problem('not_found')
}

/** Whatever goes wrong here is the sandbox's own fault: a 500, never a crash or a hanging request. */
function answerSafely(context: RequestContext): HandlerResult | Promise<HandlerResult> {
  try {
    const answer = askGates(context)
    if (context.space.shared.strict) return holdToContract(context, answer).catch((error) => ownFault(context, error))
    return answer instanceof Promise ? answer.catch((error) => ownFault(context, error)) : answer
  } catch (error) {
    return ownFault(context, error)
  }
}

function ownFault({ space, request }: RequestContext, error: unknown): HandlerResult {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  space.shared.warn(`${request.method} ${redactAddress(request.target)} failed inside the sandbox: ${what}`)
  return problem('internal_error')
}

/** For --strict: a response of our own that breaks the contract is logged and becomes a 500. */
async function holdToContract(
  context: RequestContext,
  pending: HandlerResult | Promise<HandlerResult>,
): Promise<HandlerResult> {
  const answer = await pending
  const breach = await breachOfContract(context, answer)
  if (breach === undefined) return answer
  context.space.shared.warn(breach)
  return problem('internal_error', { message: `The sandbox's own answer broke the contract. Its log says how.` })
}

/** Adds the common headers, logs the exchange and returns the reply. */
function depart(context: RequestContext, given: HandlerResult, startedAt: number): Reply {
  const { space, request } = context
  // A real response with a fault on the wire is the sandbox's doing, too.
  const answer: HandlerResult =
    context.fault === undefined ? given : { reason: 'fault', fault: context.fault, ...given }
  const headers = replyHeaders(context, answer)
  const hasBody = request.method !== 'HEAD'
  const delayMs = delay(space)
  const dueAt = space.shared.systemClock.monotonic() + delayMs
  const id = note(context, answer, headers, dueAt - startedAt)
  space.conduct.judge(context, answer, id, startedAt, dueAt)
  return {
    status: answer.status,
    headers,
    body: hasBody ? answer.body : '',
    binary: hasBody ? answer.binary : undefined,
    delayMs,
    dueAt,
    fault: answer.fault,
  }
}

function delay({ settings: { latency }, randomStreams }: Space): number {
  if (latency === undefined) return 0
  return latency.min + Math.floor(randomStreams.latency.next() * (latency.max - latency.min + 1))
}

function note(context: RequestContext, answer: HandlerResult, headers: readonly string[], durationMs: number): number {
  const { space, request, caller, route, path, query, now } = context
  const record: ExchangeRecord = withoutSecrets(space, {
    id: space.log.takeId(),
    at: now,
    space: space.name,
    key: caller.label,
    method: request.method,
    path: redactQuery(path),
    query: redactQuery(query),
    operation: route.kind === 'operation' ? route.operation.id : undefined,
    status: leavesNoStatus(answer) ? undefined : answer.status,
    reason: answer.reason,
    durationMs,
    remaining: context.shown?.remaining ?? 0,
    requestHeaders: loggedHeaders(request, caller.isOpen, caller.label),
    requestBody: loggedBody(request),
    responseHeaders: headers,
    responseBody: startOf(answer.body, LOG_BODY_CHARACTERS),
  })
  space.log.add(record)
  space.shared.onExchange(record)
  return record.id
}

/** A key that the sandbox was given is hidden wherever its client has written it, not only where keys belong. */
function withoutSecrets({ shared: { hide } }: Space, record: ExchangeRecord): ExchangeRecord {
  if (hide === undefined) return record
  return {
    ...record,
    path: hide(record.path),
    query: hide(record.query),
    requestHeaders: record.requestHeaders.map(hide),
    requestBody: hide(record.requestBody),
    responseHeaders: record.responseHeaders.map(hide),
    responseBody: hide(record.responseBody),
  }
}
