import { startOf } from '../domain/long-body.js'
import { type HandlerResult, leavesNoStatus, type Reply, type ServiceRequest } from '../domain/messages.js'
import { hider, redactAddress, redactQuery } from '../domain/redaction.js'
import type { Forward, UpstreamOutcome } from '../domain/upstream.js'
import type { Breach } from '../drift/exchange.js'
import { loggedBody, loggedHeaders } from '../exchanges/exchange-content.js'
import { LOG_BODY_CHARACTERS } from '../exchanges/exchange-log.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { problem } from './answers.js'
import { identify } from './callers.js'
import type { Instant, RequestCommand } from './command.js'
import type { Forwarded } from './forwarded.js'
import { readingsOf } from './gates/validate.js'
import { GATES } from './gates.js'
import { handlerOf, operate } from './operations.js'
import { forwardedAnswer } from './overlay.js'
import { replyHeaders } from './reply-headers.js'
import type { RequestContext } from './request-context.js'
import type { Space } from './space.js'
import { findRoute, splitTarget } from './target.js'

/** A request that is to be sent on before it is answered. */
interface SentOn {
  readonly forward: Forward
  readonly kept: Forwarded
}

/**
 * Handles one request in a space: route, identify, the gates, the operation,
 * the common headers, the log, conduct. Never throws.
 *
 * @param token the API key without its space, undefined if none was sent, '' if what was sent cannot be one
 */
export function handle(
  space: Space,
  { request, mock }: RequestCommand,
  token: string | undefined,
  instant: Instant,
): Reply | SentOn {
  const context = arrive(space, request, token, instant, mock)
  const answer = answerSafely(context, () => askGates(context))
  if (context.asksForQuota) space.conduct.count(context)
  if (!('kind' in answer)) return depart(context, answer)
  const { shown, fault } = context
  return { forward: answer, kept: { space: space.name, isSpaceGone: false, token, request, shown, fault } }
}

/** Answers a request that was sent on with what the real service said to it, at the instant of that. Never throws. */
export function complete(
  space: Space,
  { request, token, shown, fault }: Forwarded,
  outcome: UpstreamOutcome,
  instant: Instant,
): Reply {
  const { realService } = space.shared
  const context = arrive(space, request, token, instant, undefined)
  const readings = readingsOf(context)
  Object.assign(context, { shown, fault, readings, isOperated: true } satisfies Partial<RequestContext>)
  if (realService === undefined) return depart(context, problem('internal_error'))
  return depart(
    context,
    answerSafely(context, () => forwardedAnswer(context, outcome, realService)),
  )
}

/** Answers without asking the gates, but with the common headers and the log. */
export function replyWith(
  space: Space,
  request: ServiceRequest,
  token: string | undefined,
  answer: HandlerResult,
  instant: Instant,
): Reply {
  return depart(arrive(space, request, token, instant, undefined), answer)
}

function arrive(
  space: Space,
  request: ServiceRequest,
  token: string | undefined,
  instant: Instant,
  mock: RequestCommand['mock'],
): RequestContext {
  const { contract, basePath } = space.shared
  const { path, query } = splitTarget(request.target)
  const route = findRoute(contract, basePath, request, path)
  return {
    space,
    request,
    now: space.now(instant.now),
    wall: instant.now,
    position: instant.position,
    connection: request.connection,
    heardUpTo: request.heardUpTo,
    mock,
    path,
    query,
    route,
    caller: identify(space, token, request.address),
    handler: route.kind === 'operation' ? handlerOf(route.operation) : undefined,
    shown: undefined,
    fault: undefined,
    readings: undefined,
    drift: undefined,
    asksForQuota: false,
    isOperated: false,
  }
}

function askGates(context: RequestContext): HandlerResult | Forward {
  for (const gate of GATES) {
    const answer = gate(context)
    if (answer !== undefined) return answer
  }
  // The gate `exist` lets only operations through.
  if (context.route.kind !== 'operation') return problem('not_found')
  context.isOperated = true
  return operate(context, context.route.operation)
}

/** Whatever goes wrong here is the sandbox's own fault: a 500, never a crash or a hanging request. */
function answerSafely<Answer>(context: RequestContext, act: () => Answer): Answer | HandlerResult {
  try {
    return act()
  } catch (error) {
    const { space, request } = context
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    space.shared.warn(`${request.method} ${redactAddress(request.target)} failed inside the sandbox: ${what}`)
    return problem('internal_error')
  }
}

/** Adds the common headers, logs the exchange and returns the reply. */
function depart(context: RequestContext, given: HandlerResult): Reply {
  const { space, route } = context
  // A real response with a fault on the wire is the sandbox's doing, too.
  const answer: HandlerResult =
    context.fault === undefined ? given : { reason: 'fault', fault: context.fault, ...given }
  const headers = replyHeaders(context, answer)
  const exchange = note(context, answer, headers)
  if (context.drift !== undefined && route.kind === 'operation')
    space.drift.add(route.operation.id, told(space, context.drift), exchange.id, context.now)
  space.conduct.judge(context, answer, exchange)
  return {
    status: answer.status,
    headers,
    body: answer.body,
    binary: answer.binary,
    delayMs: space.drawDelay(),
    fault: answer.fault,
    exchange,
    isOperated: context.isOperated,
    isDocumented:
      route.kind === 'operation' && answer.outside === undefined && answer.reason === undefined && answer.status < 500,
  }
}

function note(context: RequestContext, answer: HandlerResult, headers: readonly string[]): ExchangeRecord {
  const { space, request, caller, route, path, query, now, position } = context
  const record: ExchangeRecord = withoutSecrets(context, answer, {
    id: space.log.takeId(),
    position,
    at: now,
    arrivedAt: context.wall,
    space: space.name,
    key: caller.label,
    method: request.method,
    path: redactQuery(path),
    query: redactQuery(query),
    operation: route.kind === 'operation' ? route.operation.id : undefined,
    status: leavesNoStatus(answer) ? undefined : answer.status,
    reason: answer.reason,
    fault: answer.fault,
    how: undefined,
    durationMs: 0,
    waitingMs: 0,
    bodyMs: 0,
    remaining: context.shown?.remaining ?? 0,
    // No spread, which costs as much as all the rest of the record.
    drift: context.drift?.length ? context.drift.map(({ detail }) => detail) : undefined,
    requestHeaders: loggedHeaders(request, caller.isOpen, caller.label),
    requestBody: loggedBody(request),
    responseHeaders: headers,
    responseBody: startOf(answer.body, LOG_BODY_CHARACTERS),
  })
  space.log.add(record)
  return record
}

/** A key that the sandbox was given is hidden wherever its client has written it, not only where keys belong. */
function withoutSecrets(
  { space, request, caller }: RequestContext,
  { forwarded }: HandlerResult,
  record: ExchangeRecord,
): ExchangeRecord {
  // A real service may repeat the key that it was sent.
  const hide =
    forwarded === undefined || caller.isOpen ? space.shared.hide : both(space.shared.hide, ownKeyHider(request))
  if (hide === undefined) return record
  return {
    ...record,
    path: hide(record.path),
    query: hide(record.query),
    requestHeaders: record.requestHeaders.map(hide),
    requestBody: hide(record.requestBody),
    responseHeaders: record.responseHeaders.map(hide),
    responseBody: hide(record.responseBody),
    ...(record.drift === undefined ? {} : { drift: record.drift.map(hide) }),
  }
}

type Hide = ((text: string) => string) | undefined

function both(one: Hide, other: Hide): Hide {
  return one === undefined || other === undefined ? (one ?? other) : (text) => other(one(text))
}

function ownKeyHider({ headers: { authorization } }: ServiceRequest): Hide {
  const [, token = ''] = /^\S+ +(.*)$/.exec(String(authorization ?? '')) ?? []
  return hider([token])
}

/** Breaches as they may be kept. */
function told({ shared: { hide } }: Space, breaches: readonly Breach[]): readonly Breach[] {
  return hide === undefined ? breaches : breaches.map(({ rule, detail }) => ({ rule, detail: hide(detail) }))
}
