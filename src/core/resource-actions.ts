import type { Values } from '../contract/contract.js'
import { type Int64, parseInt64 } from '../contract/int64.js'
import {
  fillValue,
  type HeaderFacts,
  headersOf,
  idFromPath,
  type ParentData,
  queryValue,
  type ResourceAction,
  type ResourceData,
  tagName,
} from '../contract/resource-data.js'
import { type NewId, shapedValue } from '../contract/shaped-value.js'
import { type Filter, followingId, inOtherType, matcher } from '../domain/collection.js'
import { type LongBody, bodyText as wholeText } from '../domain/messages.js'
import { rangeFilters } from '../domain/range.js'
import { type RecordChange, recordText, type Scope } from '../domain/records.js'
import type { ActionRequest, RecordPage } from './action-request.js'
import { tagOf } from './entity-tags.js'
import { bodyText, locationOf, shownText, unwrapBody, withBody } from './envelopes.js'
import { isBare, readFirstPage } from './first-page.js'
import { patched } from './json-patch.js'
import { linked, missingLink, withTwins } from './linked-records.js'
import { newRowIds, newTextId, newUuid } from './new-ids.js'
import { hasParents, withOwnParents } from './parent-records.js'
import { changedRecord } from './record-changes.js'
import { readPage } from './record-page.js'
import { removals } from './removals.js'
import type { Space } from './space.js'
import { takenFinder } from './unique-values.js'

type Headers = RecordPage['headers']

export type ActionResult =
  | {
      readonly kind: 'done'
      readonly status: number
      /** JSON; empty if the response has no body. */
      readonly body: string | LongBody
      readonly headers: Headers
      readonly changes: readonly RecordChange[]
    }
  | { readonly kind: 'not-found'; readonly message?: string }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'conflict'; readonly property: string }
  | { readonly kind: 'outdated' }

const NO_SCOPE: Scope = []
const NO_FILTERS: readonly Filter[] = []
const NO_FACTS: HeaderFacts = {}
const NO_CHANGES: readonly RecordChange[] = []
const OUTDATED: ActionResult = { kind: 'outdated' }

/** Computes the result of an operation on a resource, with the changes for the caller to apply. */
export function runAction(sentRequest: ActionRequest, space: Space): ActionResult {
  const given = sentRequest.action.isShallow ? withOwnParents(sentRequest, idOf(sentRequest), space) : sentRequest
  if (given === undefined) return { kind: 'not-found' }
  const sent = given.body[given.action.bodyEnvelope ?? '']
  if (Array.isArray(sent) && sent.length > 1 && !given.action.isBulk)
    return { kind: 'invalid', message: `${given.action.bodyEnvelope} must have one record (it has ${sent.length})` }
  const { resource, action, path } = given
  const isPlain = (action.bodyEnvelope ?? action.ignores ?? resource.aliases) === undefined
  const request = isPlain ? given : unwrapBody(given)
  const parents = action.pathFilters ?? resource.parents
  const ids = parents.length === 0 ? NO_SCOPE : parents.map(({ parameter }) => String(path[parameter]))
  if (ids.length > 0 && !hasParents(parents, ids, space)) return { kind: 'not-found' }
  const scope = parents === resource.parents ? ids : ids.slice(0, resource.parents.length)
  if (action.kind === 'list') return list(request, scope, space)
  if (action.kind === 'create') return create(request, scope, space, Array.isArray(sent) ? sent : undefined)
  const records = space.state.records.get(resource.name)
  const [only] = resource.single ? (records?.places(scope, NO_FILTERS) ?? []) : []
  const initial = resource.single?.initial
  const single = only !== undefined ? records?.at(only) : initial && withParents({ ...initial }, request)
  const id = resource.single ? single?.[resource.id.property] : idOf(request)
  const known = resource.single ? single : id === undefined ? undefined : records?.get(scope, id)
  const shown = known && withLinked(known, resource, space)
  const isRefused = request.precondition?.(shown) === false
  if (known === undefined && action.createdStatus !== undefined && records !== undefined) {
    if (isRefused) return OUTDATED
    const type = resource.id.kind === 'integer' ? 'integer' : 'string'
    const own = id === undefined ? {} : { [resource.id.property]: typed(id, type) }
    const value = { ...withParents(newRecord(request, records.freeId(), space), request), ...own }
    const created = { ...request, action: { ...action, status: action.createdStatus } }
    return save(created, scope, value, space)
  }
  const filters = filtersOf(request)
  const isMatch = filters.length === 0 || (known !== undefined && matcher(filters)(known))
  if (known === undefined || shown === undefined || !isMatch) return { kind: 'not-found' }
  if (isRefused) return OUTDATED
  switch (action.kind) {
    case 'get':
      return done(request, shown, NO_CHANGES)
    case 'show':
      return done(
        request,
        withLinked(changedRecord(request, known, known, space), resource, space),
        NO_CHANGES,
        NO_FACTS,
        shown,
      )
    case 'remove':
      return done(
        request,
        shown,
        resource.single && only === undefined ? NO_CHANGES : removed(resource, scope, String(id), space),
      )
    default: {
      const body = action.kind === 'patch' ? patched(known, sent, resource) : request.body
      if (typeof body === 'string') return { kind: 'invalid', message: body }
      const base = action.kind === 'merge' ? known : keptBy(action, known)
      const value = withParents(changedRecord({ ...request, body }, known, base, space), request, resource.parents)
      return save(request, scope, value, space)
    }
  }
}

/** The packaged contract has no records below others. */
function removed(resource: ResourceData, scope: Scope, id: string, space: Space): readonly RecordChange[] {
  if (!space.shared.contract.isPackaged) return removals(resource, scope, id, space)
  return [{ kind: 'remove', resource: resource.name, scope, id }]
}

/** A record with the records that it refers to. */
function withLinked(value: Values, resource: ResourceData, space: Space): Values {
  return resource.links === undefined ? value : linked(value, resource, space)
}

/** The id that a request names, in its query, body or path. */
function idOf({ resource: { id }, action, path, query, body }: ActionRequest): unknown {
  if (action.idParameter !== undefined) return query[action.idParameter]
  if (action.isIdInBody) return body[id.property]
  const values = Object.values(path)
  if (id.parts !== undefined) return values.slice(-id.parts.length).join()
  return id.template === undefined ? values.at(-1) : idFromPath(id.template, values)
}

function keptBy({ keeps = [] }: ActionRequest['action'], known: Values): Values {
  return Object.fromEntries(keeps.flatMap((name) => (name in known ? [[name, known[name]]] : [])))
}

/** @param list the records of a request that creates several */
function create(given: ActionRequest, scope: Scope, space: Space, list?: readonly unknown[]): ActionResult {
  const { resource, action } = given
  const records = space.state.records.get(resource.name)
  if (records === undefined) return { kind: 'not-found' }
  const { id } = resource
  const values: Values[] = []
  const ids = action.isBulk ? new Set<string>() : undefined
  const isKnown = (own: unknown) => ids?.has(String(own)) || records.get(scope, own) !== undefined
  const findTaken = action.hasConflict && resource.unique.length > 0 ? takenFinder(resource, records) : undefined
  let free = records.freeId()
  for (const body of action.isBulk ? (list ?? []) : [given.body]) {
    const request = action.isBulk ? withBody(given, Object(body)) : given
    const value = withParents(newRecord(request, free, space, isKnown), request)
    const missing = action.hasMissing ? missingLink(value, request, space) : undefined
    if (missing !== undefined) return { kind: 'not-found', message: missing }
    // A counted one is free.
    if ((id.kind !== 'integer' || id.isSent) && isKnown(value[id.property]))
      return { kind: 'conflict', property: id.parts?.join() ?? id.property }
    const taken = findTaken?.(value)
    if (taken !== undefined) return { kind: 'conflict', property: taken }
    ids?.add(String(value[id.property]))
    values.push(value)
    do free = followingId(free)
    while (action.isBulk && records.get(scope, free) !== undefined)
  }
  const [value = {}] = values
  if (!action.isBulk) return save(given, scope, value, space)
  const changes = values.map((item) => put(resource, scope, item, space))
  const made = changes.map(({ record }) => record.value)
  const body = action.hasBody ? bodyText(given, made[0] ?? {}, made) : ''
  return { kind: 'done', status: action.status, body, headers: headersOf(action, NO_FACTS), changes }
}

/** A record with the properties that hold the ids of its parents. */
function withParents(
  value: Record<string, unknown>,
  { resource, action, path }: ActionRequest,
  parents: readonly ParentData[] = action.pathFilters ?? resource.parents,
): Values {
  for (const { parameter, property, type } of parents)
    if (property !== undefined) value[property] = typed(path[parameter], type)
  return value
}

function typed(value: unknown, type: ParentData['type']): unknown {
  if (type === undefined) return value
  return type === 'string' ? String(value) : (parseInt64(String(value)) ?? value)
}

/** A record of what a client has sent, with its id and with the properties that the sandbox fills. */
function newRecord(
  request: ActionRequest,
  free: Int64,
  space: Space,
  isKnown: (id: unknown) => boolean = () => false,
): Record<string, unknown> {
  const { resource, body, now } = request
  const { id, properties, isOpen } = resource
  const value: Record<string, unknown> = { [id.property]: newId(request, free, space, isKnown) }
  let rowIds: NewId | undefined
  let isAnything = true
  for (const name in properties) {
    isAnything = false
    const property = properties[name]
    if (name === id.property || property === undefined) continue
    let own = property.readOnly ? undefined : body[name]
    if (own !== undefined && property.shape !== undefined) {
      rowIds ??= newRowIds(space, resource, value[id.property], body)
      own = shapedValue(own, property.shape, rowIds)
    }
    if (own === undefined && property.fill !== undefined) {
      const { fill } = property
      const isDrawn = fill.kind === 'id' && !fill.isCounted
      own = fillValue(fill, now, isDrawn ? newUuid(space, resource.name + name, free) : free)
    }
    if (own !== undefined) value[name] = own
  }
  if (isAnything || isOpen)
    for (const name in body)
      if (!Object.hasOwn(properties, name) && name !== id.property && name !== '__proto__') value[name] = body[name]
  if (id.parts !== undefined) value[id.property] = id.parts.map((name) => value[name]).join()
  return value
}

function newId(
  { resource, action, path, query, body }: ActionRequest,
  free: Int64,
  space: Space,
  isKnown: (id: unknown) => boolean,
): unknown {
  const { id, parents } = resource
  const whole = (own: unknown) =>
    id.template === undefined ? own : idFromPath(id.template, [...parents.map(({ parameter }) => path[parameter]), own])
  const own = id.kind === 'from-client' || id.isSent ? body[id.property] : undefined
  const sent = query[action.idParameter ?? ''] ?? own
  const given = id.kind === 'integer' ? (parseInt64(String(sent)) ?? free) : sent
  return whole(given ?? newTextId(space, resource, free, (own) => isKnown(whole(own))))
}

function save(request: ActionRequest, scope: Scope, value: Values, space: Space): ActionResult {
  const { resource, action } = request
  const taken =
    action.hasConflict && resource.unique.length > 0
      ? takenFinder(resource, space.state.records.get(resource.name), String(value[resource.id.property]))(value)
      : undefined
  if (taken !== undefined) return { kind: 'conflict', property: taken }
  const change = put(resource, scope, value, space)
  const changes = resource.twins ? withTwins(change, resource, space) : [change]
  return done(request, change.record.value, changes, action.headers && { location: locationOf(request, value) })
}

/** The records that it refers to are stored with it, for when they are gone. */
function put(resource: ResourceData, scope: Scope, value: Values, space: Space): RecordChange & { kind: 'put' } {
  return { kind: 'put', resource: resource.name, record: { scope, value: withLinked(value, resource, space) } }
}

/** @param stored the record after the changes, if the response shows another */
function done(
  request: ActionRequest,
  value: Values,
  changes: readonly RecordChange[],
  facts: HeaderFacts = NO_FACTS,
  stored: Values = value,
): ActionResult {
  const { action, resource } = request
  const { envelope, isListed, isNotice, view } = action
  const isOther =
    (envelope ?? isListed ?? isNotice ?? view ?? resource.hidden ?? resource.address ?? resource.tag) !== undefined
  const textOf = isOther || 'literal' in action ? bodyText : () => recordText(value)
  const body = action.hasBody ? textOf(request, value) : ''
  const headers = withTag(action, headersOf(action, facts), () => recordText(stored))
  return { kind: 'done', status: action.status, body, headers, changes }
}

/** @source docs/spec.md, "Entity tags" */
function withTag(action: ResourceAction, headers: Headers, text: () => string): Headers {
  const name = tagName(action)
  return name === undefined ? headers : [...headers, [name, tagOf(text())]]
}

function list(request: ActionRequest, scope: Scope, space: Space): ActionResult {
  const { resource, action } = request
  const records = space.state.records.get(resource.name)
  if (records === undefined) return { kind: 'not-found' }
  const places = records.places(scope, filtersOf(request))
  const page = isBare(action) ? readFirstPage(request, places, records) : readPage(request, places, scope, records)
  if ('problem' in page) return { kind: 'invalid', message: page.problem }
  const body = listText(request, page, space)
  const headers = withTag(action, page.headers, () => wholeText(body))
  return { kind: 'done', status: action.status, body, headers, changes: NO_CHANGES }
}

/** Longer lists are sent in pieces. */
const MAX_LIST_TEXT = 1024 * 1024

function listText(request: ActionRequest, { values, before, after }: RecordPage, space: Space): string | LongBody {
  const { resource } = request
  const { hidden, address, links, tag } = resource
  const isWhole = (hidden ?? address ?? tag ?? links ?? request.action.view) === undefined
  const textOf = isWhole ? recordText : (value: Values) => shownText(withLinked(value, resource, space), request)
  const pieces = function* () {
    yield before
    let separator = ''
    for (const value of values) {
      yield separator + textOf(value)
      separator = ','
    }
    yield after
  }
  let text = before
  for (let i = 0; i < values.length; i++) {
    text += (i === 0 ? '' : ',') + textOf(values[i] as Values)
    if (text.length > MAX_LIST_TEXT) return { pieces }
  }
  return text + after
}

function filtersOf({ resource, action, path, query }: ActionRequest): readonly Filter[] {
  if (action.pathFilters === undefined && action.query === undefined) return NO_FILTERS
  const filters: Filter[] = []
  for (const { parameter, property = '' } of action.pathFilters?.slice(resource.parents.length) ?? [])
    filters.push([property, inOtherType(path[parameter])])
  const { filters: given = [], ranges } = action.query ?? {}
  for (const [parameter, property] of given) {
    const value = queryValue(query, parameter)
    if (value === undefined) continue
    if (ranges?.some(([name]) => typeof value === 'object' && name.startsWith(`${parameter}[`))) continue
    const { choices } = resource.properties[property] ?? {}
    const accepted: readonly unknown[] = [value]
      .flat()
      .flatMap((item) => choices?.find((choice) => String(choice) === String(item)) ?? inOtherType(item))
    // A value that no record can have, such as `all`, is no filter.
    const isPossible = (item: unknown) => choices?.includes(item) ?? !/^(all|any)$/i.test(String(item))
    // A record without a flag has not set it.
    const wanted = accepted.includes(false) ? [...accepted, undefined] : accepted
    if (accepted.includes(null) || accepted.every(isPossible)) filters.push([property, wanted])
  }
  return ranges === undefined ? filters : [...filters, ...rangeFilters(ranges, query)]
}
