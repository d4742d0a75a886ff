import type { Values } from '../contract/contract.js'
import { INT64_MAXIMUM, INT64_MINIMUM, type Int64, parseInt64 } from '../contract/int64.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { fieldOf, isOfRecord, recordReader } from '../contract/read-record.js'
import { idFromPath, idInPath, type ResourceData } from '../contract/resource-data.js'
import { parentFields, withoutParentFields } from '../domain/parents.js'
import { RecordRefused, type StoredRecord } from '../domain/records.js'
import { didYouMean } from '../domain/suggest.js'
import type { EpochMs } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { runAction } from './resource-actions.js'
import type { Space } from './space.js'

// What the owner of a sandbox does with records, from the control plane or in a handler: unlike a client, without key
// and quota, and with read-only fields and ids. Functions throw RecordRefused, and StoreFull where they write.

function findResource({ shared: { contract } }: Space, name: string): ResourceData {
  const resource = contract.resources.find((resourceData) => resourceData.name === name)
  if (resource !== undefined) return resource
  const names = contract.resources.map((resourceData) => resourceData.name)
  const meant = didYouMean(name, names) || '.'
  throw new RecordRefused(
    'not_found',
    `The contract has no resource ${JSON.stringify(name)}${meant} Its resources are: ${names.join(', ') || 'none'}.`,
  )
}

export interface RecordQuery {
  /** Only those with this id, or this text in a field. */
  readonly search?: string | undefined
  /** Only the newest ones. */
  readonly limit?: number | undefined
}

/** Newest first. */
export function listRecords(space: Space, name: string, { search, limit }: RecordQuery = {}): readonly Values[] {
  const resource = findResource(space, name)
  const kept = space.state.records.get(name)
  if (search === undefined && resource.parents.length === 0 && !resource.isFixed)
    return kept?.newest(limit ?? kept.size) ?? []
  const stored = [...(kept?.all() ?? [])]
  const all = search === undefined ? stored : stored.filter(({ value }) => hasText(resource, value, search))
  const records = resource.isFixed ? all : all.reverse()
  return records.slice(0, limit).map((record) => withParents(resource, record))
}

export function getRecord(space: Space, name: string, id: string): Values {
  const resource = findResource(space, name)
  return withParents(resource, knownRecord(space, resource, id))
}

function hasText({ id }: ResourceData, value: Values, search: string): boolean {
  const wanted = search.toLowerCase()
  return (
    String(value[id.property]).toLowerCase() === wanted ||
    Object.values(value).some((field) => typeof field === 'string' && field.toLowerCase().includes(wanted))
  )
}

function changeableResource(space: Space, name: string): ResourceData {
  const resource = findResource(space, name)
  if (space.shared.upstream !== undefined)
    throw new RecordRefused('conflict', `The records are in the real service, ${space.shared.upstream.baseUrl}.`)
  return resource
}

function withParents({ parents }: ResourceData, record: StoredRecord): Values {
  return parents.length === 0 ? record.value : { ...parentFields(parents, record), ...record.value }
}

/** With its read-only fields and its id, if they are given. */
export function addRecord(space: Space, name: string, record: Values, wall: EpochMs): Values {
  const resource = changeableResource(space, name)
  const nested = withoutParentFields(resource.parents, copyOf(record))
  if (typeof nested === 'string')
    throw new RecordRefused('invalid_request', `${nested} is required: it is the id of the parent.`)
  const { scope } = nested
  const given: Record<string, unknown> = { ...nested.value }
  checkFields(space, resource, given, given)
  const { property, kind } = resource.id
  const id = given[property] ?? undefined
  if (id !== undefined && kind === 'integer') given[property] = wholeId(property, id)
  const isOfParent = (record: StoredRecord) => JSON.stringify(record.scope) === JSON.stringify(scope)
  if (id !== undefined && matching(space, resource, String(id)).some(isOfParent))
    throw new RecordRefused(
      'conflict',
      `${name} already has a record with the ${property} ${JSON.stringify(String(id))}.`,
    )
  return apply(space, resource, 'create', scope, given, wall)
}

/** Also from text, as an address has it. */
function wholeId(property: string, id: unknown): Int64 {
  const known = ['string', 'number', 'bigint'].includes(typeof id) ? parseInt64(String(id)) : undefined
  if (known !== undefined) return known
  const message = `${property} must be a whole number from ${INT64_MINIMUM} to ${INT64_MAXIMUM} (it is ${stringifyJson(id)}).`
  throw new RecordRefused('invalid_request', message)
}

/** By JSON merge patch. */
export function setRecord(space: Space, name: string, id: string, change: Values, wall: EpochMs): Values {
  const resource = changeableResource(space, name)
  const { scope, value } = knownRecord(space, resource, id)
  const given = copyOf(change)
  const { property } = resource.id
  if (given[property] !== undefined && String(given[property]) !== String(value[property]))
    throw new RecordRefused('invalid_request', `${property} is set by the path and cannot be changed.`)
  const after = Object.entries({ ...value, ...given }).filter(([, field]) => field !== null)
  checkFields(space, resource, given, Object.fromEntries(after))
  return apply(space, resource, 'merge', scope, { ...given, [property]: value[property] }, wall)
}

export function removeRecord(space: Space, name: string, id: string, wall: EpochMs): { readonly removed: unknown } {
  const resource = changeableResource(space, name)
  const known = lookUpRecord(space, resource, id)
  if (known === undefined) return { removed: null }
  apply(space, resource, 'remove', known.scope, known.value, wall)
  return { removed: known.value[resource.id.property] }
}

function apply(
  space: Space,
  resource: ResourceData,
  kind: 'create' | 'merge' | 'remove',
  parents: readonly unknown[],
  given: Values,
  wall: EpochMs,
): Values {
  const id = given[resource.id.property]
  const path = Object.fromEntries(
    resource.parents.map(({ parameter, isInteger }, index) => {
      const text = parents[index]
      return [parameter, (isInteger ? parseInt64(String(text)) : undefined) ?? text]
    }),
  )
  const result = runAction(
    {
      resource,
      action: { resource: resource.name, kind, status: 200, hasBody: true, hasConflict: true },
      path: { ...path, ...(kind === 'create' ? {} : { [PATH_ID]: id }) },
      query: {},
      body: given,
      now: space.now(wall),
      newestFirst: true,
      address: '',
      root: '',
      search: '',
    },
    space,
  )
  if (result.kind === 'conflict') throw new RecordRefused('conflict', `${result.property} is taken.`)
  if (result.kind !== 'done') throw new RecordRefused('not_found', `The parent of the record does not exist.`)
  let value: Values = {}
  for (const change of result.changes) {
    if (change.kind === 'remove') {
      space.commit({}, [change])
      continue
    }
    const assigned = Object.entries(given).filter(
      ([name, field]) =>
        field !== null &&
        (name === resource.id.property || resource.properties[name]?.readOnly === true || isCreatedAt(resource, name)),
    )
    value = { ...change.record.value, ...Object.fromEntries(assigned) }
    space.commit({}, [{ ...change, record: { ...change.record, value } }])
  }
  return value
}

/** Comes after the parents' parameters, whatever its name in the contract. */
const PATH_ID = '\u0000id'

function isCreatedAt({ properties }: ResourceData, name: string): boolean {
  const kind = properties[name]?.fill?.kind
  return kind === 'created-at' || kind === 'updated-at'
}

function copyOf(given: Values): Record<string, unknown> {
  const inexact = Object.keys(given).find((name) => Number.isInteger(given[name]) && !Number.isSafeInteger(given[name]))
  if (inexact !== undefined)
    throw new RecordRefused(
      'invalid_request',
      `${inexact} is not exact as a number: from 2^53 on, write it as a bigint, such as 9007199254740993n.`,
    )
  try {
    return parseShallowJson(stringifyJson(given)) as Record<string, unknown>
  } catch (error) {
    throw new RecordRefused('invalid_request', `The fields cannot be stored as JSON: ${messageOf(error)}.`)
  }
}

/**
 * Checks the given fields like the contract's create operation, or like its replace operation without one. Those
 * that responses have may have values that no client sends: the commit checks them.
 */
function checkFields({ shared: { contract } }: Space, resource: ResourceData, given: Values, record: Values): void {
  const reading = recordReader(contract, resource)?.read(record)
  const named = new Set([resource.id.property, ...Object.keys(resource.properties)])
  const unknown = Object.keys(given).filter(
    (name) => named.size > 1 && !named.has(name) && (reading === undefined || reading.unknown.includes(name)),
  )
  const isNew = record === given
  const problems = [
    ...(reading?.violations ?? [])
      .filter((item) => (isNew || Object.hasOwn(given, fieldOf(item))) && isOfRecord(item, given, resource, contract))
      .map(({ message }) => message),
    ...unknown.map((name) => `${resource.name} has no field ${JSON.stringify(name)}${didYouMean(name, [...named])}`),
  ]
  if (problems.length > 0) throw new RecordRefused('invalid_request', `${problems.join('; ')}.`)
}

/** Records with this id: one, unless they belong to different parents. */
function matching(space: Space, resource: ResourceData, id: string): readonly StoredRecord[] {
  const records = space.state.records.get(resource.name)
  if (resource.parents.length > 0)
    return [...(records?.all() ?? [])].filter(
      ({ scope, value }) => String(value[resource.id.property]) === id || pathOf(resource, { scope, value }) === id,
    )
  const known = records?.get([], idFromPath(resource.id.template, [id]))
  return known === undefined ? [] : [{ scope: [], value: known }]
}

/** `3/rex`: the ids of its parents, and its own. */
function pathOf({ id }: ResourceData, { scope, value }: StoredRecord): string {
  return [...scope, idInPath(id, value[id.property])].join('/')
}

/** @throws RecordRefused if there is none, or several parents have it */
function knownRecord(space: Space, resource: ResourceData, id: string): StoredRecord {
  const known = lookUpRecord(space, resource, id)
  if (known === undefined) throw new RecordRefused('not_found', `${resource.name} has no record ${JSON.stringify(id)}.`)
  return known
}

/** @throws RecordRefused if several parents have it */
function lookUpRecord(space: Space, resource: ResourceData, id: string): StoredRecord | undefined {
  const [first, ...others] = matching(space, resource, id)
  if (first === undefined || others.length === 0) return first
  const paths = [first, ...others].slice(0, 3).map((record) => pathOf(resource, record))
  throw new RecordRefused(
    'conflict',
    `Several parents have a record ${JSON.stringify(id)}. Name one with its parent: ${paths.join(', ')}.`,
  )
}
