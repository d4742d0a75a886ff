import type { Values } from '../contract/contract.js'
import { isNode, stringifyJson } from '../contract/json.js'
import { idInPath, viewed } from '../contract/resource-data.js'
import { recordText } from '../domain/records.js'
import type { ActionRequest } from './action-request.js'
import { tagOf } from './entity-tags.js'
import { withoutHidden } from './hidden-properties.js'
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
export function bodyText(request: ActionRequest, kept: Values, list: readonly Values[] = [kept]): string {
  const { action, resource } = request
  const { outer, envelope, isListed, meta, isNotice } = action
  if ('literal' in action) return stringifyJson(action.literal)
  if (envelope === undefined && !isNotice && !isListed) return shownText(kept, request)
  const values = list.map((value) => shown(value, request))
  const value = isListed ? values : values[0]
  if (envelope === undefined && !isNotice) return stringifyJson(value)
  const id = String(kept[resource.id.property])
  const { length } = list
  const beside = metaEntries(meta, { ...ONE_RECORD, total: length, count: length, onPage: length, first: id, last: id })
  const whole = envelope === undefined ? beside : { ...beside, [envelope]: value }
  return stringifyJson(outer === undefined ? whole : { [outer]: whole })
}

/** What a response has of a record, as JSON. */
export function shownText(value: Values, request: ActionRequest): string {
  if (request.action.view?.isId) return stringifyJson(value[request.resource.id.property])
  return recordText(shown(value, request) as Values)
}

function shown(value: Values, request: ActionRequest): unknown {
  const { resource, action } = request
  const { view } = action
  if (view?.isId) return value[resource.id.property]
  const record = resource.hidden === undefined ? value : withoutHidden(value, resource.hidden)
  const addressed = resource.address === undefined ? record : { ...record, ...addressIn(record, request) }
  const tagged = resource.tag === undefined ? addressed : { ...addressed, [resource.tag]: tagOf(recordText(value)) }
  return view === undefined ? tagged : viewed(tagged, view)
}

function addressIn(record: Values, request: ActionRequest): Values {
  const { action, resource, address } = request
  const { property = '', form } = resource.address ?? {}
  const isElsewhere = action.kind === 'list' || action.kind === 'create' || action.kind === 'show'
  const href = isElsewhere ? locationOf(request, record) : address
  if (form === 'text') return { [property]: href }
  return { [property]: form === 'hal' ? { ...Object(record[property]), self: { href } } : [{ rel: 'self', href }] }
}

/** The address of a record, from the path of its operations: the last parameters are its id. */
export function locationOf({ resource, path, root }: ActionRequest, record: Values): string {
  const { id, item = `${resource.path}/{}` } = resource
  const own = id.parts?.map((name) => record[name]) ?? [idInPath(id, record[id.property])]
  let left = item.split('{').length - 1
  const filled = item.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = left > own.length ? path[name] : own[own.length - left]
    left--
    // Lone surrogates cannot be encoded.
    return encodeURIComponent(String(value).replace(/\p{Surrogate}/gu, '\ufffd'))
  })
  return root + filled
}
