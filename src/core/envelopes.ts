import type { Values } from '../contract/contract.js'
import { isNode, stringifyJson } from '../contract/json.js'
import { type ResourceAction, type ResourceData, viewed } from '../contract/resource-data.js'
import { recordText } from '../domain/records.js'
import type { ActionRequest } from './action-request.js'
import { metaEntries, ONE_RECORD } from './meta-entries.js'

/** The request with the record of its envelope as its body, under the names of the record's properties. */
export function unwrapBody(request: ActionRequest): ActionRequest {
  const { bodyEnvelope } = request.action
  const held = bodyEnvelope === undefined ? undefined : request.body[bodyEnvelope]
  const inner: unknown = Array.isArray(held) ? held[0] : held
  return withBody(request, isNode(inner) ? inner : request.body)
}

/** @param body a record as it was sent */
export function withBody(request: ActionRequest, body: Values): ActionRequest {
  const { ignores } = request.action
  const { aliases } = request.resource
  if (ignores === undefined && aliases === undefined) return body === request.body ? request : { ...request, body }
  const sent = Object.entries(body).filter(([name]) => !ignores?.includes(name))
  return { ...request, body: Object.fromEntries(sent.map(([name, value]) => [aliases?.[name] ?? name, value])) }
}

/** The response body with one record, or with the notice of its removal. @param list all records, of a request that made several */
export function bodyText({ action, resource }: ActionRequest, kept: Values, list: readonly Values[] = [kept]): string {
  const { outer, envelope, isListed, meta, isNotice } = action
  if ('literal' in action) return stringifyJson(action.literal)
  if (envelope === undefined && !isNotice && !isListed) return shownText(kept, resource, action)
  const values = list.map((value) => shown(value, resource, action))
  const value = isListed ? values : values[0]
  if (envelope === undefined && !isNotice) return stringifyJson(value)
  const id = String(kept[resource.id.property])
  const beside = metaEntries(meta, { ...ONE_RECORD, first: id, last: id })
  const whole = envelope === undefined ? beside : { ...beside, [envelope]: value }
  return stringifyJson(outer === undefined ? whole : { [outer]: whole })
}

/** What a response has of a record, as JSON. */
export function shownText(value: Values, resource: ResourceData, action: Pick<ResourceAction, 'view'>): string {
  if (action.view?.isId) return stringifyJson(value[resource.id.property])
  return recordText(shown(value, resource, action) as Values)
}

function shown(value: Values, resource: ResourceData, { view }: Pick<ResourceAction, 'view'>): unknown {
  if (view?.isId) return value[resource.id.property]
  const record = resource.hidden === undefined ? value : shownRecord(value, resource)
  return view === undefined ? record : viewed(record, view)
}

/** A record without its write-only properties. */
function shownRecord(value: Values, { hidden = [] }: ResourceData): Values {
  return hidden.reduce((shown, path) => without(shown, path) as Values, value)
}

function without(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, [name, ...rest]))
  if (!isNode(value) || value[name] === undefined) return value
  const { [name]: inner, ...others } = value
  return rest.length === 0 ? others : { ...value, [name]: without(inner, rest) }
}
