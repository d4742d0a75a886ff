import type { Contract } from '../contract/contract.js'
import { BEARER } from '../contract/contract-data.js'
import type { ContractEngine, MockRequest } from '../contract/engine.js'
import type { ResponseRules } from '../contract/response-rules.js'
import { DASHBOARD_PATH } from '../control/path.js'
import { questionFor } from '../core/engine-request.js'
import { findHandler } from '../core/operations.js'
import { problem } from '../core/responses.js'
import { findRoute, splitTarget } from '../core/target.js'
import { unloggedReply } from '../core/unlogged-reply.js'
import { keyChoices } from '../domain/key-places.js'
import { readAuthorization } from '../domain/keys.js'
import type { Reply, ServiceRequest } from '../domain/messages.js'
import { isBearer, withBearer } from '../domain/request-headers.js'
import { withoutSpace } from '../domain/space-address.js'
import { findWebsite } from '../domain/web-origins.js'
import type { ServiceHandlers } from '../http/fetch-adapter.js'
import { answerPreflight, failedReply, redirectBrowser, refusedOriginWarner } from '../http/replies.js'
import { isLoopback } from '../options/values/address.js'
import { messageOf } from '../system/message-of.js'
import { systemClock } from '../system/system-clock.js'
import type { CommandExecutor, SandboxDeps } from './executor.js'

type Service = ServiceHandlers['service']

/** Serves requests. For --strict, checks the replies. */
export function createService(
  deps: SandboxDeps,
  executor: CommandExecutor,
  engine: () => Promise<ContractEngine>,
  responseRules: () => Promise<ResponseRules>,
): Service {
  const service = readingKeys(inOrder(deps, executor, engine), executor, deps.contract)
  const checked = deps.options.strict ? strict(service, executor, responseRules, deps.warn) : service
  return (request, left) => checked(withoutSpace(request), left)
}

/** Preflights and redirects, then Prism where only it can respond, then the executor. */
function inOrder(
  { options, contract, warn }: SandboxDeps,
  executor: CommandExecutor,
  engine: () => Promise<ContractEngine>,
): Service {
  const onRefused = refusedOriginWarner(options.cors, warn)
  const isInFront = options.upstream !== undefined
  const isExposed = !isLoopback(options.host)
  const { basePath } = executor.spaces.default.shared
  const hasRoot = findRoute(contract, basePath, { method: 'GET' }, '/').kind === 'operation'
  // Then Prism responds to none of its requests, unless one forces a response.
  const isAllStateful = contract.operations.every((operation) => findHandler(operation, contract) !== undefined)

  async function respondByPrism(request: ServiceRequest, asked: MockRequest): Promise<Reply> {
    const mock = await engine()
      .then((opened) => opened.mock(asked))
      .catch((error: unknown) => {
        warn(`Prism failed to respond to ${asked.operation.id}: ${messageOf(error)}`)
        return undefined
      })
    return executor.answer({ request, mock })
  }

  return (request, left) => {
    const wall = systemClock.wall()
    const { default: space } = executor.spaces
    const outside =
      answerPreflight(request, options.cors, space.now(wall), onRefused, contract.keyHeaders) ??
      (hasRoot || request.space !== undefined ? undefined : redirectBrowser(request, DASHBOARD_PATH, space.now(wall)))
    if (outside !== undefined) return outside
    const website = isInFront ? findWebsite(request, options.cors, isExposed) : undefined
    if (website !== undefined) {
      onRefused(website)
      return unloggedReply(executor.spaces, request, wall, problem('origin_refused', { reason: 'upstream' }))
    }
    const isOurs = isAllStateful && request.headers.prefer === undefined
    const question = isOurs ? undefined : questionFor(space.shared, request)
    return question === undefined ? executor.answer({ request }, wall, left) : respondByPrism(request, question)
  }
}

function readingKeys(service: Service, executor: CommandExecutor, contract: Contract): Service {
  if (contract.keyHeaders.every(isBearer) && contract.otherKeys === undefined) return service
  return (request, left) => {
    const { keys, shared } = executor.spaces.default
    const route = findRoute(contract, shared.basePath, request, splitTarget(request.target).path)
    const choices = keyChoices(contract, route.kind === 'operation' ? route.operation.keys : undefined)
    const isKnown = (token: string) => keys.has(readAuthorization(BEARER.prefix + token)?.token ?? '')
    return service(withBearer(request, contract, choices, isKnown), left)
  }
}

/** For --strict: replaces and reports a reply that violates the contract. */
function strict(
  service: Service,
  executor: CommandExecutor,
  responseRules: () => Promise<ResponseRules>,
  warn: SandboxDeps['warn'],
): Service {
  return async (request, left) => {
    const reply = await service(request, left)
    if (!reply.isDocumented || request.method === 'HEAD') return reply
    const [rules, { findViolation }] = await Promise.all([responseRules(), import('../core/find-violation.js')])
    const violation = findViolation(rules, request, executor.spaces.default.shared, reply)
    if (violation === undefined) return reply
    warn(violation)
    return failedReply(reply, `The sandbox's own response violates the contract. See its log for details.`)
  }
}
