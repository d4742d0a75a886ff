import * as v from 'valibot'
import type { Values } from '../../contract/contract.js'
import { EXAMPLE } from '../../contract/generated/examples.js'
import { INT64_MAXIMUM, INT64_MINIMUM, type Int64, parseInt64 } from '../../contract/int64.js'
import { parseShallowJson, stringifyJson } from '../../contract/json.js'
import { recordReader } from '../../contract/read-record.js'
import { idFromPath, idInPath, type ResourceData } from '../../contract/resource-data.js'
import { runAction } from '../../core/resource-actions.js'
import type { Space } from '../../core/space.js'
import { parentFields, withoutParentFields } from '../../domain/parents.js'
import type { StoredRecord } from '../../domain/records.js'
import { didYouMean } from '../../domain/suggest.js'
import type { EpochMs } from '../../domain/time.js'
import { toKebabCase } from '../../options/letter-case.js'
import { quoted } from '../../options/problem.js'
import { objectSchema } from '../../options/values/reading.js'
import { messageOf } from '../../system/message-of.js'
import { countSchema, described, fields, switchInQuery, text, VerbError, verb } from '../verb.js'
import type { ResourceView } from '../views.js'

/** Accepts text in a path, or a number. */
const idSchema = described(
  v.pipe(v.union([v.number(), v.bigint(), v.string()], 'must be the id of a record'), v.transform(String)),
  'its id',
)
const recordSchema = described(
  objectSchema('must be an object of fields') as v.GenericSchema<object, Values>,
  'its fields as JSON, @<file>, or each as --<field> <text>',
)
const resourceName = described(text, 'name of the resource, as in "records resources"')
const asText = v.optional(described(switchInQuery, 'convert texts by the schema'))

export const resourceVerbs = {
  'resources.list': verb('GET /resources', 'List the resources', {
    details: 'See [resources](#resources).',
    methodName: 'resources',
    command: 'records resources',
    run: ({ space }) => space.shared.contract.resources.map((resource) => resourceView(space, resource)),
  }),
  'records.list': verb('GET /resources/{resource}', 'List the records of a resource, newest first', {
    input: fields({
      resource: resourceName,
      limit: v.optional(described(countSchema('must be a number of records'), 'only the newest n')),
      search: v.optional(described(text, 'only those with this id, or this text in a field')),
    }),
    args: ['resource'],
    command: 'records list <resource> [--limit <n>] [--search <text>]',
    example: { resource: EXAMPLE.resource, limit: 2 },
    run({ space }, { resource: name, limit, search }) {
      const resource = findResource(space, name)
      const kept = space.state.records.get(name)
      if (search === undefined && resource.parents.length === 0 && !resource.isFixed)
        return kept?.newest(limit ?? kept.size) ?? []
      const stored = [...(kept?.all() ?? [])]
      const all = search === undefined ? stored : stored.filter(({ value }) => hasText(resource, value, search))
      const records = resource.isFixed ? all : all.reverse()
      return records.slice(0, limit).map((record) => withParents(resource, record))
    },
  }),
  'records.get': verb('GET /resources/{resource}/{id}', 'Show a record', {
    input: fields({ resource: resourceName, id: idSchema }),
    command: 'records get <resource> <id>',
    example: { resource: EXAMPLE.resource, id: 1 },
    run({ space }, { resource: name, id }) {
      const resource = findResource(space, name)
      return withParents(resource, knownRecord(space, resource, id))
    },
  }),
  'records.add': verb('POST /resources/{resource}', 'Add a record', {
    details: 'Missing fields are filled in as by its operation. The id and read-only fields are allowed.',
    input: fields({ resource: resourceName, record: recordSchema, asText }),
    args: ['resource', 'record'],
    body: 'record',
    command: 'records add <resource> [data...]',
    example: { resource: EXAMPLE.resource, record: EXAMPLE.record },
    run({ space, wall }, { resource, record, asText }) {
      return addRecord(space, resource, asText === true ? readTexts(space, resource, record, false) : record, wall)
    },
    text: (record, { resource }) => `Added to ${resource}: ${stringifyJson(record)}.`,
  }),
  'records.set': verb('PATCH /resources/{resource}/{id}', 'Change fields of a record; null removes one', {
    input: fields({ resource: resourceName, id: idSchema, change: recordSchema, asText }),
    args: ['resource', 'id', 'change'],
    body: 'change',
    command: 'records set <resource> <id> [data...]',
    example: { resource: EXAMPLE.resource, id: 1, change: { status: null } },
    run({ space, wall }, { resource, id, change, asText }) {
      return setRecord(space, resource, id, asText === true ? readTexts(space, resource, change, true) : change, wall)
    },
    text: (_, { resource, id, change }) => `Changed ${id} of ${resource}: ${stringifyJson(change)}.`,
  }),
  'records.remove': verb('DELETE /resources/{resource}/{id}', 'Remove a record and its nested records', {
    details: 'Its id is not used again.',
    input: fields({ resource: resourceName, id: idSchema }),
    command: 'records remove <resource> <id>',
    example: { resource: EXAMPLE.resource, id: 1 },
    run: ({ space, wall }, { resource, id }) => removeRecord(space, resource, id, wall),
    text: ({ removed }, { resource, id }) =>
      removed === null ? `${resource} has no record ${id}.` : `Record ${removed} of ${resource} removed.`,
  }),
}

function resourceView(space: Space, resource: ResourceData): ResourceView {
  const { name, path, id, parents } = resource
  const records = space.state.records.get(name)?.size ?? 0
  return { name, path, id: id.property, parents: parents.map(({ field }) => field), records }
}

function findResource({ shared: { contract } }: Space, name: string): ResourceData {
  const resource = contract.resources.find((resourceData) => resourceData.name === name)
  if (resource !== undefined) return resource
  const names = contract.resources.map((resourceData) => resourceData.name)
  const meant = didYouMean(name, names) || '.'
  throw new VerbError(
    'not_found',
    `The contract has no resource ${quoted(name)}${meant} Its resources are: ${names.join(', ') || 'none'}.`,
  )
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
    throw new VerbError('conflict', `The records are in the real service, ${space.shared.upstream.baseUrl}.`)
  return resource
}

function withParents({ parents }: ResourceData, record: StoredRecord): Values {
  return parents.length === 0 ? record.value : { ...parentFields(parents, record), ...record.value }
}

/**
 * Adds a record. Unlike a client, it may set read-only fields and the id.
 *
 * @throws VerbError, StoreFull, InvalidRecord
 */
function addRecord(space: Space, name: string, record: Values, wall: EpochMs): Values {
  const resource = changeableResource(space, name)
  const nested = withoutParentFields(resource.parents, copyOf(record))
  if (typeof nested === 'string')
    throw new VerbError('invalid_request', `${nested} is required: it is the id of the parent.`)
  const { scope } = nested
  const given: Record<string, unknown> = { ...nested.value }
  checkFields(space, resource, given, given)
  const { property, kind } = resource.id
  const id = given[property] ?? undefined
  if (id !== undefined && kind === 'integer') given[property] = wholeId(property, id)
  if (id !== undefined && matching(space, resource, String(id)).length > 0)
    throw new VerbError('conflict', `${name} already has a record with the ${property} ${quoted(String(id))}.`)
  return apply(space, resource, 'create', scope, given, wall)
}

/** Also from text, as an address has it. */
function wholeId(property: string, id: unknown): Int64 {
  const known = ['string', 'number', 'bigint'].includes(typeof id) ? parseInt64(String(id)) : undefined
  if (known !== undefined) return known
  const message = `${property} must be a whole number from ${INT64_MINIMUM} to ${INT64_MAXIMUM} (it is ${stringifyJson(id)}).`
  throw new VerbError('invalid_request', message)
}

/**
 * Changes fields of a record, by JSON merge patch. Unlike a client, it may set read-only fields.
 *
 * @throws VerbError, StoreFull, InvalidRecord
 */
function setRecord(space: Space, name: string, id: string, change: Values, wall: EpochMs): Values {
  const resource = changeableResource(space, name)
  const { scope, value } = knownRecord(space, resource, id)
  const given = copyOf(change)
  const { property } = resource.id
  if (given[property] !== undefined && String(given[property]) !== String(value[property]))
    throw new VerbError('invalid_request', `${property} is set by the path and cannot be changed.`)
  const after = Object.entries({ ...value, ...given }).filter(([, field]) => field !== null)
  checkFields(space, resource, given, Object.fromEntries(after))
  return apply(space, resource, 'merge', scope, { ...given, [property]: value[property] }, wall)
}

function removeRecord(space: Space, name: string, id: string, wall: EpochMs): { readonly removed: unknown } {
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
      search: '',
    },
    space,
  )
  if (result.kind === 'conflict') throw new VerbError('conflict', `${result.property} is taken.`)
  if (result.kind !== 'done') throw new VerbError('not_found', `The parent of the record does not exist.`)
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
    throw new VerbError(
      'invalid_request',
      `${inexact} is not exact as a number: from 2^53 on, write it as a bigint, such as 9007199254740993n.`,
    )
  try {
    return parseShallowJson(stringifyJson(given)) as Record<string, unknown>
  } catch (error) {
    throw new VerbError('invalid_request', `The fields cannot be stored as JSON: ${messageOf(error)}.`)
  }
}

/**
 * Checks the given fields like the contract's create operation, or like its replace operation without one. Those
 * that responses have may have values that no client sends: the commit checks them.
 */
function checkFields({ shared: { contract } }: Space, resource: ResourceData, given: Values, record: Values): void {
  const reading = recordReader(contract, resource)?.read(record)
  const isCheckedLater = contract.rules?.get(resource.name)?.record !== undefined
  const named = new Set([resource.id.property, ...Object.keys(resource.properties)])
  const unknown = Object.keys(given).filter(
    (name) => named.size > 1 && !named.has(name) && (reading === undefined || reading.unknown.includes(name)),
  )
  const isNew = record === given
  const problems = [
    ...(reading?.violations ?? [])
      .filter(({ name }) => {
        const field = /^[^.[]*/.exec(name)?.[0] ?? name
        const isGiven = Object.hasOwn(given, field)
        // A password is required of clients, and in no record.
        const isOfRecord = !isCheckedLater || Object.hasOwn(resource.properties, field)
        return isGiven ? !(isCheckedLater && isOfRecord) : isNew && isOfRecord
      })
      .map(({ message }) => message),
    ...unknown.map((name) => `${resource.name} has no field ${quoted(name)}${didYouMean(name, [...named])}`),
  ]
  if (problems.length > 0) throw new VerbError('invalid_request', `${problems.join('; ')}.`)
}

/**
 * Names may be in kebab-case. Texts become the JSON value that they are written as, such as `1` or `null`, where the field
 * allows no text.
 * @param isChange null removes a field
 */
function readTexts({ shared: { contract } }: Space, name: string, texts: Values, isChange: boolean): Values {
  const resource = contract.resources.find((resourceData) => resourceData.name === name)
  const reader = resource && recordReader(contract, resource)
  const rules = contract.rules?.get(name)
  const countProblems = (field: string, value: unknown) => {
    if (isChange && value === null) return 0
    const record = { [field]: value }
    const problems = reader?.check(record).filter((violation) => /^[^.[]*/.exec(violation.name)?.[0] === field) ?? []
    return problems.length + (rules?.findViolations(record).length ?? 0)
  }
  const read = (field: string, text: unknown) => {
    const value = typeof text === 'string' ? parsedOr(text) : text
    return value !== text && countProblems(field, value) < countProblems(field, text) ? value : text
  }
  const names = new Map(Object.keys(resource?.properties ?? {}).map((field) => [kebabOf(field), field]))
  return Object.fromEntries(
    Object.entries(texts).map(([written, text]) => {
      const field = names.get(kebabOf(written)) ?? written
      return [field, read(field, text)]
    }),
  )
}

/** `categoryId` and `category_id` may be written as `category-id`. */
function kebabOf(field: string): string {
  return toKebabCase(field).replaceAll('_', '-')
}

function parsedOr(text: string): unknown {
  try {
    return parseShallowJson(text)
  } catch {
    return text
  }
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

/** @throws VerbError if there is none, or several parents have it */
function knownRecord(space: Space, resource: ResourceData, id: string): StoredRecord {
  const known = lookUpRecord(space, resource, id)
  if (known === undefined) throw new VerbError('not_found', `${resource.name} has no record ${quoted(id)}.`)
  return known
}

/** @throws VerbError if several parents have it */
function lookUpRecord(space: Space, resource: ResourceData, id: string): StoredRecord | undefined {
  const [first, ...others] = matching(space, resource, id)
  if (first === undefined || others.length === 0) return first
  const paths = [first, ...others].slice(0, 3).map((record) => pathOf(resource, record))
  throw new VerbError(
    'conflict',
    `Several parents have a record ${quoted(id)}. Name one with its parent: ${paths.join(', ')}.`,
  )
}
