import { isBodyFault, isTruncating } from '../domain/faults.js'
import { type Caller, OWN_CLIENT, type SentKey, sentTokens } from '../domain/keys.js'
import {
  bodyLimit,
  bodyStart,
  type HandlerResult,
  hasNoStatus,
  isOwnRequest,
  type Reply,
  type ServiceRequest,
} from '../domain/messages.js'
import { formatSize } from '../domain/numbers.js'
import { streamAt } from '../domain/random.js'
import { createHider, redactAddress, redactQuery } from '../domain/redaction.js'
import { findLatency } from '../domain/settings.js'
import type { DurationMs } from '../domain/time.js'
import type { UpstreamRequest } from '../domain/upstream.js'
import { type ExchangeRecord, LOG_BODY_CHARACTERS, loggedHeaders } from '../exchanges/exchange-record.js'
import { utf8Text } from '../system/runtime.js'
import { identify } from './callers.js'
import type { Forward, Instant, RequestCommand } from './command.js'
import { documentedError } from './documented-error.js'
import { isDocumented } from './documented-statuses.js'
import { forwardedResponse, forwardRequest } from './forward.js'
import { applyPreference } from './gates/apply-preference.js'
import { chargeQuota } from './gates/charge-quota.js'
import { checkBan } from './gates/check-ban.js'
import { checkContract } from './gates/check-contract.js'
import { checkKey } from './gates/check-key.js'
import { checkRoute } from './gates/check-route.js'
import { checkSunset } from './gates/check-sunset.js'
import { faultyResponse, injectFault, useFault } from './gates/inject-fault.js'
import { refuseWrites } from './gates/refuse-writes.js'
import { once } from './idempotency.js'
import { findHandler, operate } from './operations.js'
import { replyHeaders } from './reply-headers.js'
import type { Gate, OwnHandler, RequestContext } from './request-context.js'
import { problem } from './responses.js'
import { NOTHING, type Space } from './space.js'
import { findRoute, splitTarget } from './target.js'

/** The first gate that refuses responds; a request that passes all of them reaches its operation. */
const GATES: readonly Gate[] = [
  applyPreference, // did the client ask for a certain response?
  checkBan, // is the key banned?
  injectFault, // is there a storm, or a fault for this operation?
  chargeQuota, // is there quota left, in the minute and the day?
  checkKey, // is the key valid at all?
  refuseWrites, // must it not reach the real service?
  checkRoute, // is there such an operation?
  checkSunset, // has it been removed?
  checkContract, // does the request keep the contract?
]

/**
 * Handles one request in a space: route, identify, gates, operation or forwarding, common headers, log, conduct. Never
 * throws.
 * @param sent undefined if no API key was sent
 */
export function handle(
  space: Space,
  command: RequestCommand,
  sent: SentKey | undefined,
  instant: Instant,
): Reply | Forward {
  const context = startRequest(space, command, sent, instant)
  space.conduct.arrived(context)
  const response = respondSafely(context, () => askGates(context))
  if (context.isCounted) space.conduct.count(context)
  if (!('target' in response)) return finishRequest(context, asDocumented(context, response))
  return {
    request: response,
    complete(outcome, later) {
      const { shown, fault, readings } = context
      const completed = { ...startRequest(space, command, sent, later), shown, fault, readings }
      return finishRequest(
        completed,
        respondSafely(completed, () => forwardedResponse(completed, outcome)),
      )
    },
  }
}

/** The errors of the packaged contract have the form of the service's own. */
function asDocumented({ space: { shared }, route }: RequestContext, given: HandlerResult): HandlerResult {
  if (!shared.contract.isPackaged) return documentedError(shared.contract, route, given)
  const isKnown = given.problem === undefined || route.kind !== 'operation'
  return isKnown || isDocumented(route.operation, given.status) ? given : { ...given, outside: true }
}

/** Responds without the gates, but with common headers and log. @param isJudged whether conduct sees it */
export function replyWith(
  space: Space,
  request: ServiceRequest,
  sent: SentKey | undefined,
  response: HandlerResult,
  instant: Instant,
  isJudged = true,
): Reply {
  const context = startRequest(space, { request }, sent, instant)
  if (isJudged) space.conduct.arrived(context)
  return finishRequest(context, response, isJudged)
}

function startRequest(
  space: Space,
  { request, mock, unknownSpace }: Pick<RequestCommand, 'request' | 'mock' | 'unknownSpace'>,
  sent: SentKey | undefined,
  instant: Instant,
): RequestContext {
  const { contract, basePath } = space.shared
  const { path, query } = splitTarget(request.target)
  const route = findRoute(contract, basePath, request, path)
  const now = space.now(instant.now)
  const caller = identify(space, sent, request.address, now)
  return {
    space,
    request,
    now,
    wall: instant.now,
    position: instant.position,
    mock,
    path,
    query,
    route,
    caller,
    hide: hiderFor(space.shared.hide, caller, request),
    handler: route.kind === 'operation' ? findHandler(route.operation, contract) : undefined,
    unknownSpace,
    shown: undefined,
    pendingFault: undefined,
    fault: undefined,
    readings: undefined,
    created: undefined,
    isCounted: false,
    isReplay: false,
    ignoredConditions: undefined,
    pending: {},
  }
}

function askGates(context: RequestContext): HandlerResult | UpstreamRequest {
  for (const gate of GATES) {
    const response = gate(context)
    if (response === undefined) continue
    commitGates(context)
    return response
  }
  const { route, space } = context
  if (route.kind !== 'operation') return problem('not_found')
  if (context.pendingFault !== undefined) context.fault = useFault(context, context.pendingFault)
  commitGates(context)
  const { operation } = route
  const isForwarded = space.shared.upstream !== undefined && !operation.isMocked
  const act = () =>
    findOwnHandler(space, operation.id)?.(context) ?? (isForwarded ? undefined : operate(context, operation))
  const key = context.request.headers[IDEMPOTENCY_KEY]
  const isIdempotent =
    key !== undefined && operation.headers?.some(({ name }) => name.toLowerCase() === IDEMPOTENCY_KEY)
  return (isIdempotent ? once(context, operation, String(key), act) : act()) ?? forwardRequest(context)
}

const IDEMPOTENCY_KEY = 'idempotency-key'

function commitGates({ space, caller, pending }: RequestContext): void {
  const { account, faults, randomStreams } = pending
  const isNothing = faults === undefined && randomStreams === undefined
  const next = isNothing ? NOTHING : { ...(faults && { faults }), ...(randomStreams && { randomStreams }) }
  space.commit(next, undefined, account && { id: caller.account, account })
}

function findOwnHandler({ name, shared: { handlers } }: Space, operation: string): OwnHandler | undefined {
  return (handlers?.get(name)?.get(operation) ?? handlers?.get('')?.get(operation)) as OwnHandler | undefined
}

/** Errors in here are the sandbox's own: a 500, never a crash. */
function respondSafely<Result>(context: RequestContext, act: () => Result): Result | HandlerResult {
  try {
    return act()
  } catch (error) {
    const { space, request, hide = (text: string) => text } = context
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    space.shared.warn(hide(`${request.method} ${redactAddress(request.target)} failed inside the sandbox: ${what}`))
    return problem('internal_error')
  }
}

function finishRequest(context: RequestContext, given: HandlerResult, isJudged = true): Reply {
  const { space, route } = context
  const made = context.fault === undefined ? given : faultyResponse(context, context.fault, given)
  const response = isTruncating(made.fault) && context.request.method === 'HEAD' ? asWhole(made) : made
  const headers = replyHeaders(context, response)
  const begun = exchangeRecord(context, response, headers)
  space.requests++
  const disobeyed = isJudged ? space.conduct.judge(context, response, begun) : undefined
  const exchange = disobeyed === undefined ? begun : { ...begun, disobeyed }
  space.log.add(exchange)
  return {
    status: response.status,
    headers,
    body: response.body,
    binary: response.binary,
    delayMs: drawDelay(context) + (response.delayMs ?? 0),
    fault: isBodyFault(response.fault) ? undefined : response.fault,
    exchange,
    isDocumented:
      route.kind === 'operation' &&
      response.outside === undefined &&
      (response.reason === undefined || response.reason === 'mock' || response.reason === 'replay') &&
      response.status < 500,
  }
}

/** The response to a HEAD has no body that could break off. */
function asWhole({ fault: _, ...response }: HandlerResult): HandlerResult {
  return response
}

/** Drawn for each response, also of a refusal. */
function drawDelay({ space, route }: RequestContext): DurationMs {
  const latency = findLatency(space.state.settings, route.kind === 'operation' ? route.operation.id : undefined)
  if (latency === undefined) return 0
  const { min, max } = latency
  const { randomStreams } = space.state
  const stream = streamAt(randomStreams.latency)
  const delay = min + Math.floor(stream.next() * (max - min + 1))
  space.commit({ randomStreams: { ...randomStreams, latency: stream.state } })
  return delay
}

function exchangeRecord(context: RequestContext, response: HandlerResult, headers: readonly string[]): ExchangeRecord {
  const { space, request, caller, route, path, query, now, position } = context
  return withoutSecrets(context, {
    // In the order of WITHOUT_VALUES: a spread here takes longer than the rest of the request.
    sender: senderIn(context),
    operation: route.kind === 'operation' ? route.operation.id : undefined,
    status: hasNoStatus(response) ? undefined : response.status,
    reason: response.reason,
    fault: response.fault,
    rule: response.rule,
    ruleId: response.ruleId,
    created: context.created && String(context.created.id),
    disobeyed: undefined,
    how: undefined,
    id: space.log.takeId(),
    position,
    at: now,
    arrivedAt: context.wall,
    space: space.name,
    key: caller.label,
    method: request.method,
    path: redactQuery(path),
    query: redactQuery(query),
    durationMs: 0,
    waitingMs: 0,
    bodyMs: 0,
    remaining: context.shown?.remaining ?? 0,
    requestHeaders: loggedHeaders(request, caller.isPublic, caller.label, space.shared.contract.keyHeaders),
    requestBody: loggedBody(request),
    responseHeaders: headers,
    responseBody: bodyStart(response.body, LOG_BODY_CHARACTERS),
  })
}

function senderIn({ caller, request }: RequestContext): string | undefined {
  if (isOwnRequest(request)) return OWN_CLIENT
  return caller.kind === 'key' && caller.sender !== '' ? caller.sender : undefined
}

function loggedBody({ body, headers }: ServiceRequest): string {
  if (body === undefined) return ''
  if (body === 'too-large') return `(larger than ${formatSize(bodyLimit(headers))}, not kept)`
  if (body === 'no-room') return '(no room for it, not kept)'
  const text = utf8Text(body.length > LOG_BODY_CHARACTERS ? body.subarray(0, LOG_BODY_CHARACTERS) : body)
  const type = headers['content-type']
  return typeof type === 'string' && FORM.test(type) ? redactQuery(text) : text
}

const FORM = /^application\/x-www-form-urlencoded/i

function withoutSecrets({ hide }: RequestContext, record: ExchangeRecord): ExchangeRecord {
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

/** A client may write its own secret key anywhere, and a real service may repeat it. */
function hiderFor(hide: RequestContext['hide'], caller: Caller, request: ServiceRequest): RequestContext['hide'] {
  if (caller.isPublic) return hide
  const tokens = sentTokens(request.headers.authorization)
  const own = createHider(tokens.filter((token) => token !== caller.label))
  return own === undefined || hide === undefined ? (own ?? hide) : (text) => own(hide(text))
}
