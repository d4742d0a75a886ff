import type { Operation } from '../contract/contract.js'
import { type HandlerResult, textOf, UNREAD } from '../domain/messages.js'
import { operationMessage } from '../domain/problems.js'
import { redactQuery } from '../domain/redaction.js'
import type { DurationMs, EpochMs } from '../domain/time.js'
import type { ConductRule } from './conduct-view.js'
import type { JudgedRequest } from './judged-request.js'
import type { GivenResponse } from './waits.js'

export interface Disobeyed extends GivenResponse {
  /** When it was sent, by the space's clock. */
  readonly at: EpochMs
  /** Time from then to the request. */
  readonly laterMs: DurationMs
  /** The browser may have delayed the request. */
  readonly isHeldBack: boolean
}

export interface FindingDraft {
  readonly rule: ConductRule
  /** Distinguishes groups with the same rule and key: the name of a parameter, a path. */
  readonly detail: string
  /** Empty if it follows from `disobeyed`. */
  readonly message: string
  readonly disobeyed?: Disobeyed
  /** The smallest number of senders with which it breaks another rule, or none; absent if their number does not matter. */
  readonly senders?: number
  /** Several requests were in flight at once: several clients may share the key. */
  readonly isShared?: boolean
  readonly tries?: number
}

const MAX_NAMES = 20

const remembered = new WeakMap<Operation, readonly FindingDraft[]>()

/** Breaches that one exchange shows without earlier ones. Those of an ordinary exchange depend on its operation only. */
export function findingDrafts(judged: JudgedRequest, answer: HandlerResult): readonly FindingDraft[] {
  const { caller, route, readings } = judged
  const isOrdinary =
    caller.kind === 'key' &&
    answer.status < 300 &&
    answer.fault === undefined &&
    readings !== undefined &&
    readings.query.unknown.length === 0 &&
    readings.query.unused === undefined &&
    (readings.body === undefined || readings.body.unknown.length === 0)
  if (route.kind !== 'operation' || !isOrdinary) return allDrafts(judged, answer)
  const known = remembered.get(route.operation)
  if (known !== undefined) return known
  const drafts = discouragedUses(judged, answer)
  remembered.set(route.operation, drafts)
  return drafts
}

export function sourceOf({ route, request, path }: JudgedRequest): string {
  return route.kind === 'operation' ? route.operation.id : `${request.method} ${redactQuery(path)}`
}

function allDrafts(judged: JudgedRequest, answer: HandlerResult): readonly FindingDraft[] {
  const { caller, route, request, space } = judged
  const drafts: FindingDraft[] = []
  const source = sourceOf(judged)
  // A path outside the service needs no key.
  if (caller.kind !== 'key' && route.kind !== 'outside') {
    const how = caller.problem === 'missing_api_key' ? 'without an API key' : 'with an API key that is not valid'
    drafts.push({ rule: 'unauthenticated', detail: caller.problem, message: `${source} was sent ${how}.` })
  }
  if (route.kind !== 'operation' && request.method !== UNREAD) {
    const why =
      route.kind === 'outside'
        ? `the service is under ${space.shared.basePath}`
        : route.kind === 'unknown'
          ? 'there is no such path'
          : `the path supports ${route.allow.join(', ')}`
    drafts.push({
      rule: 'undocumented-endpoint',
      detail: source,
      message: `${source} is not in the contract: ${why}.`,
    })
  }
  const message = invalidity(judged, answer)
  if (message !== undefined) drafts.push({ rule: 'invalid-request', detail: message, message })
  return [...drafts, ...discouragedUses(judged, answer), ...unknownNames(judged)]
}

/** Only if the client caused the refusal, not a switch or a header. */
function invalidity({ route, request, handler }: JudgedRequest, answer: HandlerResult): string | undefined {
  const { status, reason, headers = [] } = answer
  if (request.method === UNREAD) return messageOf(answer)
  // Forcing an invalid code is the client's mistake; a forced response is what it asked for.
  if (reason !== undefined && (reason !== 'forced' || headers.includes('Preference-Applied'))) return undefined
  if (status === 400 || status === 413 || status === 415) return messageOf(answer)
  if (status !== 404 || route.kind !== 'operation') return undefined
  const { operation, captured } = route
  if (handler === undefined)
    return answer.outside ? operationMessage(operation.id, ['the path breaks the contract']) : undefined
  const problems = operation.readPath(captured).violations.map(({ message }) => message)
  return problems.length === 0 ? undefined : operationMessage(operation.id, problems)
}

function messageOf({ body, status }: HandlerResult): string {
  try {
    const error: unknown = JSON.parse(textOf(body))
    if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  } catch {
    // The examples of another contract need not be JSON.
  }
  return `It was refused with ${status}.`
}

function discouragedUses({ caller, route }: JudgedRequest, { status, fault }: HandlerResult): readonly FindingDraft[] {
  if (caller.kind !== 'key' || route.kind !== 'operation') return []
  const { id: detail, deprecated, sunsetAt, undocumentedShape } = route.operation
  const end = sunsetAt === undefined ? '' : ` and will be removed on ${new Date(sunsetAt).toISOString().slice(0, 10)}`
  const drafts: FindingDraft[] = []
  if (deprecated) drafts.push({ rule: 'deprecated-operation', detail, message: `${detail} is deprecated${end}.` })
  if (undocumentedShape && status < 300 && fault === undefined)
    drafts.push({ rule: 'undocumented-shape', detail, message: `The response of ${detail} has no documented shape.` })
  return drafts
}

function unknownNames({ route, readings }: JudgedRequest): readonly FindingDraft[] {
  if (readings === undefined || route.kind !== 'operation') return []
  const { id } = route.operation
  const drafts = (
    rule: 'unknown-parameter' | 'unknown-field',
    what: string,
    names: readonly string[] = [],
    why = `${id} has no ${what}`,
  ) =>
    [...new Set(names.slice(0, MAX_NAMES))].map((name) => ({
      rule,
      detail: name,
      message: `${why} ${JSON.stringify(name)}; it is ignored.`,
    }))
  return [
    ...drafts('unknown-parameter', 'query parameter', readings.query.unknown),
    ...drafts('unknown-parameter', '', readings.query.unused, `${id} does not apply its parameter`),
    ...drafts('unknown-field', 'field', readings.body?.unknown),
  ]
}
