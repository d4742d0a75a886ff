import {
  type Collections,
  operationsOf,
  PARAMETER,
  type PathShape,
  parameterSchema,
  parameterType,
  plainName,
} from './collections.js'
import type { Place } from './document.js'
import { exampleValue } from './example-value.js'
import { recordSchema, sentSchema } from './record-schema.js'
import type { Fill, IdData, ParentData, PropertyData, ResourceData } from './resource-data.js'
import { type Fields, type RecordField, readRecordFields, requiredNames } from './schema-fields.js'

export interface FoundResource {
  readonly resource: ResourceData
  readonly fields: Fields
  readonly record: Place
  /** Has a path for one record, or takes new ones: not only a list. */
  readonly isWritten: boolean
}

export function readResource(
  path: string,
  paths: readonly PathShape[],
  collections: Collections,
): FoundResource | { readonly reason: string } {
  if (paths.some(({ item }) => item.child('x-sandbox-resource')?.value === false))
    return { reason: 'x-sandbox-resource is false' }
  const operations = paths.flatMap(operationsOf)
  const record = recordSchema(operations, path) ?? sentSchema(operations, path)
  if (record === undefined) return { reason: 'no response describes a record' }
  const fields = readRecordFields(record)
  const parameter = paths.find((shape) => shape.parameter !== undefined)?.parameter
  const body = operations.find(({ method, isItem }) => method === 'post' && !isItem)
  const sent = sentSchema(operations, path)
  const sentFields = sent === undefined ? undefined : readRecordFields(sent)
  const isDocumented = recordSchema(operations, path) !== undefined
  const id = readId(fields, parameter ?? parameterElsewhere(record, collections), paths, sentFields, isDocumented)
  if (id === undefined) return { reason: 'no property of the record identifies it' }
  if (id.kind === 'from-client' && parameterSchema(paths)?.string('format') === 'uuid')
    return { reason: `the path takes a UUID, but "${id.property}" may be any text` }
  const undeclared = isDocumented ? requiredNames(record).find((name) => !fields.has(name)) : undefined
  if (undeclared !== undefined) return { reason: `nothing says how to fill the required property "${undeclared}"` }
  const properties: Record<string, PropertyData> = {}
  for (const [name, field] of fields) {
    const isRequired = isDocumented && field.required && name !== id.property
    const fill = isRequired || field.default !== undefined || isTimestamp(name, field) ? fillOf(name, field) : undefined
    if (isRequired && fill === undefined && sentFields?.get(name)?.required !== true)
      return { reason: `nothing says how to fill the required property "${name}"` }
    properties[name] = {
      readOnly: field.readOnly,
      required: field.required,
      ...(field.choices && { choices: field.choices }),
      ...(fill === undefined ? {} : { fill }),
    }
  }
  const resource = {
    name: path,
    path,
    parents: readParents(path, fields, id, collections),
    id,
    properties,
    unique: [...fields].filter(([, { isUnique }]) => isUnique).map(([name]) => name),
  }
  const isWritten = parameter !== undefined || body !== undefined
  return { resource, fields, record, isWritten }
}

/** The path parameter of the same record elsewhere: `key` for `/pets/recent` beside `/pets/{key}`. */
function parameterElsewhere({ value }: Place, collections: Collections): string | undefined {
  for (const [path, paths] of collections) {
    const parameter = paths.find((shape) => shape.parameter !== undefined)?.parameter
    if (parameter === undefined) continue
    if (recordSchema(paths.flatMap(operationsOf), path)?.value === value) return parameter
  }
  return undefined
}

function readId(
  fields: Fields,
  parameter: string | undefined,
  paths: readonly PathShape[],
  sent: Fields | undefined,
  isDocumented: boolean,
): IdData | undefined {
  const name =
    idProperty(fields, parameter, parameterType(paths)) ?? (fields.size === 0 || !isDocumented ? 'id' : undefined)
  if (name === undefined) return undefined
  const field = fields.get(name)
  const type = field?.type ?? parameterType(paths) ?? 'integer'
  if (type === 'integer' || type === 'number') return { property: name, kind: 'integer' }
  if (type !== 'string') return undefined
  const isSent = sent?.get(name) !== undefined && sent.get(name)?.readOnly !== true && field?.readOnly !== true
  const isChosen = isSent && field?.format !== 'uuid' && (sent?.get(name)?.required === true || name !== 'id')
  return { property: name, kind: isChosen ? 'from-client' : 'uuid' }
}

/**
 * The property with the name of the path parameter, in any case; else `id`; else the property at the end of its name,
 * such as `name` for `pool_name`. The property has the type of the parameter.
 */
function idProperty(fields: Fields, parameter: string | undefined, type: string | undefined): string | undefined {
  const words = parameter?.match(/[A-Z]?[a-z\d]+|[A-Z]+/g) ?? []
  const ends = words.map((_, index) => words.slice(index).join(''))
  const wanted = [parameter ?? '', 'id', ...ends, 'uuid', 'guid', 'gid'].map(plainName)
  const found = wanted.flatMap((one) => [...fields.keys()].find((name) => plainName(name) === one) ?? [])
  const isCounted = (one: string | undefined) => one === 'integer' || one === 'number'
  return found.find((name) => type === undefined || isCounted(type) === isCounted(fields.get(name)?.type)) ?? found[0]
}

function readParents(path: string, fields: Fields, id: IdData, collections: Collections): readonly ParentData[] {
  const segments = path.split('/')
  return segments.flatMap((segment, index) => {
    const [, parameter] = PARAMETER.exec(segment) ?? []
    if (parameter === undefined) return []
    const collection = segments.slice(0, index).join('/')
    return [
      {
        parameter,
        ...(collections.has(collection) ? { resource: collection } : {}),
        ...(fields.has(parameter) && parameter !== id.property ? { property: parameter } : {}),
      },
    ]
  })
}

const CREATED = /^(created|inserted|added|placed|started)(_?(at|on|time|date))?$/i

const UPDATED = /^(updated|modified|changed|last_?(updated|modified))(_?(at|on|time|date))?$/i

function isTimestamp(name: string, { type, format }: RecordField): boolean {
  return (
    type === 'string' && (format === 'date-time' || format === 'date') && (CREATED.test(name) || UPDATED.test(name))
  )
}

/** The default of an omitted property; undefined if the schema has no value. */
function fillOf(name: string, field: RecordField): Fill | undefined {
  if (isTimestamp(name, field))
    return {
      kind: UPDATED.test(name) ? 'updated-at' : 'created-at',
      format: field.format === 'date' ? 'date' : 'date-time',
    }
  if (field.default !== undefined) return { kind: 'value', value: field.default }
  const value = exampleValue(field.place)
  return value === undefined ? undefined : { kind: 'value', value }
}
