import * as v from 'valibot'
import type { Values } from '../../contract/contract.js'
import { EXAMPLE } from '../../contract/generated/examples.js'
import { parseShallowJson, stringifyJson } from '../../contract/json.js'
import { fieldOf, recordReader } from '../../contract/read-record.js'
import type { ResourceData } from '../../contract/resource-data.js'
import { addRecord, getRecord, listRecords, removeRecord, setRecord } from '../../core/owner-records.js'
import type { Space } from '../../core/space.js'
import { toKebabCase } from '../../options/letter-case.js'
import { objectSchema } from '../../options/values/reading.js'
import { countSchema, described, fields, switchInQuery, text, verb } from '../verb.js'
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
    run: ({ space }, { resource, ...query }) => listRecords(space, resource, query),
  }),
  'records.get': verb('GET /resources/{resource}/{id}', 'Show a record', {
    input: fields({ resource: resourceName, id: idSchema }),
    command: 'records get <resource> <id>',
    example: { resource: EXAMPLE.resource, id: 1 },
    run: ({ space }, { resource, id }) => getRecord(space, resource, id),
  }),
  'records.add': verb('POST /resources/{resource}', 'Add a record', {
    details: 'Missing fields are filled in as in a POST. The id and read-only fields are allowed.',
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
  const { operations } = space.shared.contract
  const create = operations.find(({ action }) => action?.kind === 'create' && action.resource === name)
  const envelope = create?.action?.bodyEnvelope ?? ''
  return { name, path, id: id.property, parents: parents.map(({ field }) => field), envelope, records }
}

/**
 * Names may be in kebab-case. Texts become the JSON value that they are written as, such as `1` or `null`, where the field
 * allows no text.
 * @param isChange null removes a field, as an empty text does if it is not allowed
 */
function readTexts({ shared: { contract } }: Space, name: string, texts: Values, isChange: boolean): Values {
  const resource = contract.resources.find((resourceData) => resourceData.name === name)
  const reader = resource && recordReader(contract, resource)
  const rules = contract.rules?.get(name)
  const countProblems = (field: string, value: unknown) => {
    if (isChange && value === null) return 0
    const record = { [field]: value }
    const problems = reader?.check(record).filter((violation) => fieldOf(violation) === field) ?? []
    return problems.length + (rules?.findViolations(record).length ?? 0)
  }
  const read = (field: string, text: unknown) => {
    const value = typeof text === 'string' ? parsedOr(isChange && text === '' ? 'null' : text) : text
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
