import type { Contract, Operation, Violation } from '../contract/contract.js'
import type { HandlerResult, ServiceRoute } from '../domain/messages.js'
import { isDocumented } from './documented-statuses.js'
import { fillError } from './fill-error.js'

/**
 * An error of the service in the status and the form that the contract documents for it, or else in the form of its other
 * errors.
 */
export function documentedError(
  { commonErrors }: Pick<Contract, 'commonErrors'>,
  route: ServiceRoute,
  given: HandlerResult,
): HandlerResult {
  if (given.problem === undefined) return given
  const documented = route.kind === 'operation' ? documentedBy(route.operation, given, given.problem) : undefined
  if (documented !== undefined) return documented
  const undocumented = { ...given, outside: true } as const
  const common = commonErrors?.[given.status] ?? commonErrors?.default
  if (common === undefined) return undocumented
  return { ...undocumented, contentType: common.contentType, body: fillError(common, given.status, given.problem) }
}

function documentedBy(
  operation: Operation,
  given: HandlerResult,
  problem: NonNullable<HandlerResult['problem']>,
): HandlerResult | undefined {
  const isInvalid = problem.code === 'invalid_request' && given.status === 400
  const isBetter = () => operation.errors?.some(({ isForInvalid }) => isForInvalid) || !isDocumented(operation, 400)
  const isUnprocessable = isInvalid && operation.responses.has(422) && isBetter()
  const isUnconditional = isInvalid && operation.responses.has(428) && problem.violations?.some(isCondition)
  const status = isUnconditional ? 428 : isUnprocessable ? 422 : given.status
  const { outside: _, ...response } = { ...given, status }
  const wanted = [String(status), `${String(status)[0]}xx`, 'default']
  const exact = operation.responses.has(status) ? wanted.slice(0, 1) : wanted
  const error = exact.flatMap((value) => operation.errors?.find((error) => error.status === value) ?? [])[0]
  if (error !== undefined)
    return { ...response, contentType: error.contentType, body: fillError(error, status, problem) }
  if (!isDocumented(operation, status)) return undefined
  return status === given.status
    ? response
    : { ...response, body: given.body.toString().replace('"status":400', `"status":${status}`) }
}

const isCondition = ({ in: place, name, rule }: Violation) =>
  place === 'header' && rule === 'required' && /^if-(?:none-)?match$/i.test(name)
