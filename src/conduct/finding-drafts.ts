import type { Operation } from '../contract/contract.js'
import { isSpaceName } from '../domain/keys.js'
import { bodyText, type HandlerResult, isPublic, UNREADABLE } from '../domain/messages.js'
import { operationMessage } from '../domain/problems.js'
import { redactQuery } from '../domain/redaction.js'
import { SPACE_BAGGAGE_KEY } from '../domain/request-headers.js'
import type { DurationMs, EpochMs } from '../domain/time.js'
import type { ConductRule } from './conduct-view.js'
import type { JudgedRequest } from './judged-request.js'
import type { GivenResponse } from './waits.js'

export interface Disobeyed extends GivenResponse {
  /** By the space's clock. */
  readonly at: EpochMs
  readonly laterMs: DurationMs
  /** The browser may have delayed the request. */
  readonly isHeldBack: boolean
}

export interface FindingDraft {
  readonly rule: ConductRule
  /** Distinguishes groups of the same rule and key: the name of a parameter, a path. */
  readonly detail: string
  /** Empty if derived from `disobeyed`. */
  readonly message: string
  readonly disobeyed?: Disobeyed
  /** The smallest number of senders that makes it another rule or none; absent if the number does not matter. */
  readonly senders?: number
  /** Positive if it suggests that several senders share the key, negative if it suggests the contrary. */
  readonly sharing?: number
  readonly tries?: number
}

const MAX_NAMES = 20

const remembered = new WeakMap<Operation, readonly FindingDraft[]>()

/**
 * Violations visible in a single exchange. For ordinary exchanges they depend on the operation only, and are cached:
 * otherwise getPet, which is deprecated, takes 60 % more processor time.
 */
export function findingDrafts(judged: JudgedRequest, response: HandlerResult): readonly FindingDraft[] {
  const { caller, route, readings } = judged
  const isOrdinary =
    caller.kind === 'key' &&
    response.status < 300 &&
    response.fault === undefined &&
    judged.unknownSpace === undefined &&
    judged.ignoredConditions === undefined &&
    readings !== undefined &&
    readings.query.unknown.length === 0 &&
    readings.query.unused === undefined &&
    (readings.body === undefined || readings.body.unknown.length === 0)
  if (route.kind !== 'operation' || !isOrdinary) return allDrafts(judged, response)
  const known = remembered.get(route.operation)
  if (known !== undefined) return known
  const drafts = discouragedUses(judged, response)
  remembered.set(route.operation, drafts)
  return drafts
}

export function sourceOf({ route, request, path }: JudgedRequest): string {
  return route.kind === 'operation' ? route.operation.id : `${request.method} ${redactQuery(path)}`
}

function allDrafts(judged: JudgedRequest, response: HandlerResult): readonly FindingDraft[] {
  const { caller, route, request, space } = judged
  const drafts: FindingDraft[] = []
  const source = sourceOf(judged)
  if (caller.kind !== 'key' && route.kind !== 'outside' && !isPublic(route)) {
    const how = caller.problem === 'missing_api_key' ? 'without an API key' : 'with an invalid API key'
    drafts.push({ rule: 'unauthenticated', detail: caller.problem, message: `${source} was sent ${how}.` })
  }
  if (route.kind !== 'operation' && request.method !== UNREADABLE) {
    const why =
      route.kind === 'outside'
        ? `the service is under ${space.shared.basePath || '/'}`
        : route.kind === 'unknown'
          ? 'unknown path'
          : `the path supports ${route.allow.join(', ')}`
    drafts.push({
      rule: 'undocumented-endpoint',
      detail: source,
      message: `${source} is not in the contract: ${why}.`,
    })
  }
  const message = invalidity(judged, response)
  if (message !== undefined) drafts.push({ rule: 'invalid-request', detail: message, message })
  const { unknownSpace } = judged
  if (unknownSpace !== undefined)
    drafts.push({ rule: 'unknown-space', detail: unknownSpace, message: unknownSpaceMessage(unknownSpace) })
  return [...drafts, ...discouragedUses(judged, response), ...unknownNames(judged)]
}

export function unknownSpaceMessage(name: string): string {
  const problem = isSpaceName(name) ? 'is not open; open it first, for example with a reset' : 'is not a space name'
  return `${SPACE_BAGGAGE_KEY} in baggage is ignored: ${JSON.stringify(name)} ${problem}.`
}

/** Only for refusals caused by the client, not by a switch or a header. */
function invalidity({ route, request, handler }: JudgedRequest, response: HandlerResult): string | undefined {
  const { status, reason, headers = [] } = response
  if (request.method === UNREADABLE) return messageOf(response)
  // Forcing an invalid code is a client error; a forced response is what the client requested.
  if (reason !== undefined && reason !== 'replay' && (reason !== 'forced' || headers.includes('Preference-Applied')))
    return undefined
  // Its status is one that the contract documents: 422.
  if (response.problem?.code === 'invalid_request') return response.problem.message
  if (status === 400 || status === 413 || status === 415) return messageOf(response)
  if (status !== 404 || route.kind !== 'operation') return undefined
  const { operation, captured } = route
  if (handler === undefined)
    return response.outside ? operationMessage(operation.id, ['the path breaks the contract']) : undefined
  const problems = operation.readPath(captured).violations.map(({ message }) => message)
  return problems.length === 0 ? undefined : operationMessage(operation.id, problems)
}

function messageOf({ body, status, problem }: HandlerResult): string {
  if (problem !== undefined) return problem.message
  try {
    const error: unknown = JSON.parse(bodyText(body))
    if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  } catch {
    // Examples of a custom contract may not be JSON.
  }
  return `The request was refused with ${status}.`
}

function discouragedUses({ caller, route }: JudgedRequest, { status, fault }: HandlerResult): readonly FindingDraft[] {
  if (caller.kind !== 'key' || route.kind !== 'operation') return []
  const { id: detail, deprecated, sunsetAt, undocumentedShape } = route.operation
  const end = sunsetAt === undefined ? '' : `; its removal date is ${new Date(sunsetAt).toISOString().slice(0, 10)}`
  const drafts: FindingDraft[] = []
  if (deprecated) drafts.push({ rule: 'deprecated-operation', detail, message: `${detail} is deprecated${end}.` })
  if (undocumentedShape && status < 300 && fault === undefined)
    drafts.push({ rule: 'undocumented-shape', detail, message: `The response of ${detail} has no documented shape.` })
  return drafts
}

function unknownNames({ route, readings, ignoredConditions }: JudgedRequest): readonly FindingDraft[] {
  if (readings === undefined || route.kind !== 'operation') return []
  const { id } = route.operation
  const drafts = (
    rule: 'unknown-parameter' | 'unknown-field' | 'ignored-parameter',
    what: string,
    names: readonly string[] = [],
    why = `${id} has no`,
  ) =>
    [...new Set(names.slice(0, MAX_NAMES))].map((name) => ({
      rule,
      detail: name,
      message: `${why} ${what} ${JSON.stringify(name)}; it is ignored.`,
    }))
  return [
    ...drafts('unknown-parameter', 'query parameter', readings.query.unknown),
    ...drafts('ignored-parameter', 'query parameter', readings.query.unused, `The sandbox does not apply the`),
    ...drafts('ignored-parameter', 'header', ignoredConditions, `${id} does not check the`),
    ...drafts('unknown-field', 'field', readings.body?.unknown),
  ]
}
