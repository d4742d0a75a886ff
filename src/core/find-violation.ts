import type { Contract } from '../contract/contract.js'
import { essenceOf, isFormType, isJsonType } from '../contract/media-types.js'
import { usedParameters } from '../contract/resource-data.js'
import {
  findContentViolations,
  findHeaderViolations,
  type ResponseRules,
  readResponse,
} from '../contract/response-rules.js'
import { type FaultRule, formatFaultRule } from '../domain/faults.js'
import { bodyText, type Reply, type ServiceRequest } from '../domain/messages.js'
import type { SpaceContext } from './space-context.js'
import { findRoute, splitTarget } from './target.js'

/** Describes violations of the contract by a reply. */
export function findViolation(
  rules: ResponseRules,
  request: ServiceRequest,
  { contract, basePath }: Pick<SpaceContext, 'contract' | 'basePath'>,
  reply: Reply,
): string | undefined {
  const { path } = splitTarget(request.target)
  const route = findRoute(contract, basePath, request, path)
  const documented = route.kind === 'operation' ? rules.of(route.operation) : undefined
  if (documented === undefined) return undefined
  const headers: Record<string, string> = {}
  for (let i = 0; i < reply.headers.length; i += 2)
    headers[String(reply.headers[i]).toLowerCase()] = String(reply.headers[i + 1])
  const response = { status: reply.status, headers, body: bodyText(reply.body) }
  const { status, body } = findContentViolations(
    documented,
    response,
    readResponse(response),
    request.method === 'HEAD',
  )
  const ofHeaders = findHeaderViolations(documented, response)
  const violations = [...status, ...ofHeaders, ...body]
  if (violations.length === 0) return undefined
  return `The response ${reply.status} to ${request.method} ${path.slice(basePath.length)} breaks the contract: ${violations.join('; ')}`
}

/** How the bodies of fault rules break the contract. */
export function findFaultViolations(
  rules: ResponseRules,
  { operations }: Contract,
  faults: readonly FaultRule[],
): readonly string[] {
  return faults.flatMap((rule) => {
    const { body, status, headers = {}, when } = rule
    const operation = operations.find(({ id }) => id === rule.operation)
    const types = (operation?.body?.mediaTypes ?? []).map(essenceOf)
    if (
      when?.body !== undefined &&
      operation !== undefined &&
      !types.some((value) => isJsonType(value) || isFormType(value))
    )
      return [`fault "${formatFaultRule(rule)}" never happens: ${operation.id} has no body that is JSON or a form.`]
    const isText = typeof body === 'string' && Object.keys(headers).some((name) => /^content-type$/i.test(name))
    if (body === undefined || isText || status === undefined || operation === undefined) return []
    const violations = rules.of(operation)?.of(status)?.findViolations(body) ?? []
    const problem = `the body breaks the contract: ${violations.join('; ')}`
    return violations.length === 0 ? [] : [`fault "${formatFaultRule(rule)}": ${problem}`]
  })
}

/** For --strict: the query parameters that stateful operations check and then ignore. */
export function ignoredParameters({ operations }: Contract): readonly string[] {
  return operations.flatMap(({ id, action, isMocked, parameters }) => {
    if (action === undefined || isMocked) return []
    const used = usedParameters(action)
    const ignored = parameters.filter(({ in: place, name }) => place === 'query' && !used.has(name))
    return ignored.map(({ name }) => `${id} ignores the query parameter "${name}".`)
  })
}
