import { startOf } from '../domain/long-body.js'
import type { Answer, PendingReply, Reply, ServiceRequest } from '../domain/messages.js'
import { leavesNoStatus } from '../domain/messages.js'
import { redactAddress, redactQuery } from '../domain/redaction.js'
import { loggedBody, loggedHeaders } from '../exchanges/exchange-content.js'
import { LOG_BODY_CHARACTERS } from '../exchanges/exchange-log.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { problem } from './answers.js'
import { identify } from './callers.js'
import { GATES } from './gates.js'
import { handlerOf, operate } from './operations.js'
import { breachOfContract } from './own-answer.js'
import { replyHeaders } from './reply-headers.js'
import type { Visit } from './request-context.js'
import type { World } from './space.js'
import { findRoute, splitTarget } from './target.js'

/**
 * Handles one request in a space: route, identify, the gates, the operation,
 * the common headers, the log. Synchronous unless a write or
 * Prism must be awaited. Never throws, never rejects.
 *
 * @param token the API key without its space, undefined if none was sent, '' if what was sent cannot be one
 */
export function handle(world: World, request: ServiceRequest, token: string | undefined): PendingReply {
  const startedAt = world.surroundings.systemClock.monotonic()
  const visit = arrive(world, request, token)
  const answer = answerSafely(visit)
  // In the order of arrival, like the quota itself; responses may be sent in another order.
  if (visit.asksForQuota) world.conduct.count(visit)
  return answer instanceof Promise
    ? answer.then((late) => depart(visit, late, startedAt))
    : depart(visit, answer, startedAt)
}

/** Answers without asking the gates, but with the common headers and the log. */
export function replyWith(world: World, request: ServiceRequest, token: string | undefined, answer: Answer): Reply {
  return depart(arrive(world, request, token), answer, world.surroundings.systemClock.monotonic())
}

function arrive(world: World, request: ServiceRequest, token: string | undefined): Visit {
  const { contract, basePath } = world.surroundings
  const { path, query } = splitTarget(request.target)
  const route = findRoute(contract, basePath, request, path)
  return {
    world,
    request,
    now: world.now(),
    path,
    query,
    route,
    caller: identify(world, token, request.address),
    handler: route.kind === 'operation' ? handlerOf(route.operation) : undefined,
    shown: undefined,
    fault: undefined,
    readings: undefined,
    asksForQuota: false,
  }
}

function askGates(visit: Visit): Answer | Promise<Answer> {
  for (const gate of GATES) {
    const answer = gate(visit)
    if (answer !== undefined) return answer
  }
  // The gate `exist` lets only operations through.
  return visit.route.kind === 'operation' ? operate(visit, visit.route.operation) : problem('not_found')
}

/** Whatever goes wrong here is the sandbox's own fault: a 500, never a crash or a hanging request. */
function answerSafely(visit: Visit): Answer | Promise<Answer> {
  try {
    const answer = askGates(visit)
    if (visit.world.surroundings.strict) return holdToContract(visit, answer).catch((error) => ownFault(visit, error))
    return answer instanceof Promise ? answer.catch((error) => ownFault(visit, error)) : answer
  } catch (error) {
    return ownFault(visit, error)
  }
}

function ownFault({ world, request }: Visit, error: unknown): Answer {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  world.surroundings.warn(`${request.method} ${redactAddress(request.target)} failed inside the sandbox: ${what}`)
  return problem('internal_error')
}

/** For --strict: a response of our own that breaks the contract is logged and becomes a 500. */
async function holdToContract(visit: Visit, pending: Answer | Promise<Answer>): Promise<Answer> {
  const answer = await pending
  const breach = await breachOfContract(visit, answer)
  if (breach === undefined) return answer
  visit.world.surroundings.warn(breach)
  return problem('internal_error', { message: `The sandbox's own answer broke the contract. Its log says how.` })
}

/** Adds the common headers, logs the exchange and returns the reply. */
function depart(visit: Visit, given: Answer, startedAt: number): Reply {
  const { world, request } = visit
  // A real response with a fault on the wire is the sandbox's doing, too.
  const answer: Answer = visit.fault === undefined ? given : { reason: 'fault', fault: visit.fault, ...given }
  const headers = replyHeaders(visit, answer)
  const hasBody = request.method !== 'HEAD'
  const delayMs = delay(world)
  const dueAt = world.surroundings.systemClock.monotonic() + delayMs
  const id = note(visit, answer, headers, dueAt - startedAt)
  world.conduct.judge(visit, answer, id, startedAt, dueAt)
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

function delay({ settings: { latency }, dice }: World): number {
  if (latency === undefined) return 0
  return latency.min + Math.floor(dice.latency.next() * (latency.max - latency.min + 1))
}

function note(visit: Visit, answer: Answer, headers: readonly string[], durationMs: number): number {
  const { world, request, caller, route, path, query, now } = visit
  const record: ExchangeRecord = {
    id: world.log.takeId(),
    at: now,
    space: world.name,
    key: caller.label,
    method: request.method,
    path: redactQuery(path),
    query: redactQuery(query),
    operation: route.kind === 'operation' ? route.operation.id : undefined,
    status: leavesNoStatus(answer) ? undefined : answer.status,
    reason: answer.reason,
    durationMs,
    remaining: visit.shown?.remaining ?? 0,
    requestHeaders: loggedHeaders(request, caller.isOpen, caller.label),
    requestBody: loggedBody(request),
    responseHeaders: headers,
    responseBody: startOf(answer.body, LOG_BODY_CHARACTERS),
  }
  world.log.add(record)
  world.surroundings.onExchange(record)
  return record.id
}
