import { canonicalText } from '../contract/canonical-text.js'
import type { Operation } from '../contract/contract.js'
import { parseShallowJson } from '../contract/json.js'
import { bodyText, type HandlerResult } from '../domain/messages.js'
import { MIB } from '../domain/numbers.js'
import { operationMessage, StoreFull } from '../domain/problems.js'
import type { KeptResponse } from '../domain/state.js'
import { DAY_MS } from '../domain/time.js'
import { digestOf, utf8Text } from '../system/runtime.js'
import { isDocumented } from './documented-statuses.js'
import { keptBytes } from './memory-budget.js'
import type { RequestContext } from './request-context.js'
import { problem } from './responses.js'

/** Of the responses in a space. The oldest make room. */
const MAX_BYTES = 4 * MIB

/**
 * Acts once for each Idempotency-Key of an account: a day long, the same request gets the first response again.
 * @param act undefined if it has not responded
 * @source docs/spec.md, "Idempotency keys"
 */
export function once(
  context: RequestContext,
  operation: Operation,
  key: string,
  act: () => HandlerResult | undefined,
): HandlerResult | undefined {
  const { space, now, caller, path } = context
  const by = caller.kind === 'key' ? caller.name : caller.account.name
  const id = JSON.stringify([operation.id, path, key])
  const body = bodyDigest(context)
  const kept = () => space.state.idempotent.filter(({ at }) => now < at + DAY_MS)
  const known = kept().find((keptResponse) => keptResponse.by === by && keptResponse.id === id)
  if (known !== undefined && known.body !== body) return otherBody(operation)
  if (known !== undefined) {
    context.isReplay = true
    return { ...known.response, reason: 'replay' }
  }
  const result = act()
  if (result === undefined || result.status >= 500 || result.outside === true) return result
  const { binary: _, ...response } = { ...result, body: bodyText(result.body) }
  keep(context, [...kept(), { by, id, body, at: now, response }])
  return result
}

/** The response is sent, even if there is no memory for it. */
function keep({ space }: RequestContext, kept: readonly KeptResponse[]): void {
  let from = 0
  for (let bytes = keptBytes(kept); bytes > MAX_BYTES; from++) bytes -= keptBytes(kept.slice(from, from + 1))
  for (; from <= kept.length; from++) {
    try {
      space.commit({ idempotent: kept.slice(from) })
      return
    } catch (error) {
      if (!(error instanceof StoreFull)) throw error
    }
  }
}

/** The same for JSON in another order, and for a form with another boundary. */
function bodyDigest({ readings, request: { body } }: RequestContext): string {
  if (!(body instanceof Uint8Array)) return ''
  try {
    return digestOf(canonicalText(parseShallowJson(utf8Text(body))))
  } catch {
    return digestOf(readings?.body === undefined ? body : canonicalText(readings.body.values))
  }
}

function otherBody(operation: Operation): HandlerResult {
  const status = isDocumented(operation, 409) && !isDocumented(operation, 422) ? 409 : 422
  const message = 'the Idempotency-Key was sent before with another body'
  const violations = [{ in: 'header', name: 'Idempotency-Key', message }] as const
  return problem('invalid_request', { status, message: operationMessage(operation.id, [message]), violations })
}
