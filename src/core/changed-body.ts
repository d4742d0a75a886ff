import { isNode, parseShallowJson, stringifyJson } from '../contract/json.js'
import type { BodyFault } from '../domain/faults.js'
import { bodyText, type HandlerResult } from '../domain/messages.js'
import type { RequestContext } from './request-context.js'

const NEW_FIELD = 'unknownField'
const NEW_VALUE = 'unknown-value'

/** A success with a new field in each object, or new values for enums. Unmarked if there is nothing to change. */
export function changeBody(
  { route, space }: RequestContext,
  fault: BodyFault,
  given: HandlerResult,
  marks: Partial<HandlerResult>,
): HandlerResult {
  const resource = route.kind === 'operation' ? route.operation.action?.resource : undefined
  const { properties = {} } = space.shared.contract.resources.find(({ name }) => name === resource) ?? {}
  let isChanged = false
  const change = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(change)
    if (!isNode(value)) return value
    const entries = Object.entries(value).map(([name, one]): [string, unknown] => {
      const grows = fault === 'enum-growth' && typeof one === 'string' && properties[name]?.choices?.includes(one)
      if (grows) isChanged = true
      return [name, grows ? NEW_VALUE : change(one)]
    })
    if (fault === 'enum-growth') return Object.fromEntries(entries)
    isChanged = true
    return { ...Object.fromEntries(entries), [NEW_FIELD]: NEW_VALUE }
  }
  if (given.status > 299) return given
  let body: unknown
  try {
    body = change(parseShallowJson(bodyText(given.body)))
  } catch (error) {
    if (error instanceof SyntaxError) return given
    throw error
  }
  const { binary: _, ...unencoded } = given
  return isChanged ? { ...unencoded, ...marks, body: stringifyJson(body) } : given
}
