import type { Operation } from '../../contract/contract.js'
import { type ResourceAction, type ResourceData, readNames, tagName } from '../../contract/resource-data.js'
import type { HandlerResult, ServiceRequest } from '../../domain/messages.js'
import { operationMessage } from '../../domain/problems.js'
import { RecordRefused } from '../../domain/records.js'
import { spacePath } from '../../domain/space-address.js'
import { binaryOf } from '../../system/runtime.js'
import { checksConditions } from '../documented-statuses.js'
import { hasCondition, preconditionOf, revalidated } from '../entity-tags.js'
import type { Handler, RequestContext } from '../request-context.js'
import { type ActionResult, runAction } from '../resource-actions.js'
import { problem, storeProblem } from '../responses.js'
import { NOTHING } from '../space.js'
import { withNote } from './shown-only.js'

/**
 * Makes the handler of an operation on the records of a resource. @source docs/spec.md, "Resources"
 * @param isTagged whether clients can know the entity tags of its records
 */
export function recordHandler(
  operation: Operation,
  action: ResourceAction,
  resource: ResourceData,
  isTagged: boolean,
): Handler {
  const isConditional = checksConditions(operation)
  const isLinked = (action.headers ?? action.meta ?? action.innerMeta ?? resource.address) !== undefined
  const header = tagName(action)
  const apply: Handler = (context, { path, query, body }) => {
    const { space, now, request } = context
    const isUnconditional = operation.responses.has(428) && !hasCondition(request)
    const result = runAction(
      {
        resource,
        action,
        path: operation.names === undefined ? path.values : readNames(path.values, operation.names),
        query: query.values,
        body: body?.values ?? {},
        now,
        newestFirst: space.shared.order === 'newest' && resource.isFixed === undefined,
        address: isLinked ? addressOf(request, context.path) : '',
        root: isLinked ? addressOf(request, space.shared.basePath) : '',
        search: context.query,
        precondition: isUnconditional ? () => false : isConditional ? preconditionOf(request, isTagged) : undefined,
      },
      space,
    )
    if (isUnconditional && result.kind === 'outdated')
      return problem('precondition_failed', { status: 428, message: 'Send If-Match with the ETag of the record.' })
    const reply = replyTo(result, operation, context, action.kind === 'create' ? resource.id.property : undefined)
    return header === undefined ? reply : revalidated(reply, header, operation, request)
  }
  if (action.kind === 'show') return withNote(operation, apply)
  return !isLinked && isPlainList(action, resource) ? keptLists(resource.name, apply) : apply
}

function addressOf({ headers: { host }, space }: ServiceRequest, path: string): string {
  return `${host === undefined ? '' : `http://${host}`}${spacePath(space)}${path}`
}

/** @param createdId property of the id, if the operation creates a record */
function replyTo(
  result: ActionResult,
  operation: Operation,
  context: RequestContext,
  createdId: string | undefined,
): HandlerResult {
  const { space } = context
  if (result.kind === 'not-found') return problem('not_found', result)
  if (result.kind === 'outdated') return problem('precondition_failed')
  if (result.kind === 'invalid')
    return problem('invalid_request', { message: operationMessage(operation.id, [result.message]) })
  if (result.kind === 'conflict')
    return problem('conflict', { message: `${operation.id}: ${result.property} is taken.` })
  try {
    space.commit(NOTHING, result.changes)
  } catch (error) {
    const unstored = storeProblem(error, space)
    if (unstored !== undefined) return unstored
    if (error instanceof RecordRefused) return problem('invalid_request', { message: error.message })
    throw error
  }
  const { status, body, headers, changes } = result
  const [change] = changes
  if (createdId !== undefined && change?.kind === 'put') {
    const { scope, value } = change.record
    context.created = { resource: change.resource, scope, id: value[createdId] }
  }
  const contentType = operation.action?.contentType
  const reply = headers.length === 0 ? { status, body } : { status, body, headers: headers.flat() }
  return contentType === undefined || body === '' ? reply : { ...reply, contentType }
}

/** Whether a list depends on nothing but the records of its resource and the query. */
function isPlainList({ kind, pathFilters }: ResourceAction, { parents, links }: ResourceData): boolean {
  return kind === 'list' && pathFilters === undefined && parents.length === 0 && links === undefined
}

/**
 * Lists are made once for each query, and encoded, until a record changes. Without the encoding, listPets takes 22 % more
 * processor time.
 */
function keptLists(resource: string, handle: Handler): Handler {
  return (context, readings) => {
    const records = context.space.state.records.get(resource)
    const known = records?.kept(handle, context.query)
    if (known !== undefined) return known as HandlerResult
    const result = handle(context, readings)
    if (typeof result.body !== 'string') return result
    const made = { ...result, binary: binaryOf(result.body) }
    records?.keep(handle, context.query, made)
    return made
  }
}
