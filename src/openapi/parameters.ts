import type { Parameter, Style } from '../contract/contract-data.js'
import { isNode, type Place } from '../contract/document.js'
import { exampleOf, exampleValue, fullExample } from '../contract/example-value.js'
import { formOf, readExpected } from '../contract/expected.js'
import { toObjectSchema } from '../contract/json-schema.js'
import { typeOf } from '../contract/schema-fields.js'
import type { Schemas } from '../contract/validators.js'
import { explodedFields } from './operations.js'

export const TEMPLATE_PARAMETER = /\{([^{}]*)\}/g

/** What holds the schema of a parameter: itself, or its content. */
export function schemaOf(parameter: Place): Place | undefined {
  return parameter.child('schema') === undefined ? parameter.entries('content')[0]?.[1] : parameter
}

export interface ReadParameter {
  readonly parameter: Parameter
  readonly schema: Place | undefined
}

export const LOCATIONS = ['path', 'query', 'header', 'cookie'] as const
/** @source OpenAPI specification: Parameter Object */
const NOT_PARAMETERS = /^(?:accept|content-type|authorization)$/i

export function readParameters(path: string, places: readonly Place[]): readonly ReadParameter[] {
  const read = new Map<string, ReadParameter>()
  for (const place of places) {
    const name = place.string('name')
    const location = LOCATIONS.find((value) => value === place.string('in'))
    if (name === undefined || place.string('in') === undefined) throw place.error('must have "name" and "in"')
    const holder = schemaOf(place)
    const schema = holder?.child('schema')
    if (location === undefined || (location === 'header' && NOT_PARAMETERS.test(name))) continue
    if (holder === undefined || schema === undefined) {
      // Any text will do.
      if (place.flag('required') && location !== 'path') read.set(`${location} ${name}`, textParameter(location, name))
      continue
    }
    const exploded = explodedFields(place)
    for (const [inner, field] of exploded) {
      const required = place.flag('required') && field.required
      const parameter = { ...parameterOf(inner, 'query', field.place, field.place), required }
      read.set(`query ${inner}`, { parameter, schema: field.place })
    }
    if (exploded.size > 0) continue
    const parameter = parameterOf(name, location, place, schema, holder === place ? undefined : 'json')
    read.set(`${location} ${name}`, { parameter, schema: holder.written('schema') })
  }
  const inPath = [...path.matchAll(TEMPLATE_PARAMETER)].flatMap(([, name = '']) => {
    return [read.get(`path ${name}`) ?? textParameter('path', name)]
  })
  return [...inPath, ...[...read.values()].filter(({ parameter }) => parameter.in !== 'path')]
}

/** A required parameter without a schema. */
function textParameter(location: Parameter['in'], name: string): ReadParameter {
  const style = location === 'path' || location === 'header' ? 'simple' : 'form'
  const form = { types: ['string'] }
  const example = location === 'path' ? {} : { example: 'a' }
  return {
    parameter: {
      in: location,
      name,
      type: 'string',
      required: true,
      style,
      explode: style === 'form',
      form,
      ...example,
    },
    schema: undefined,
  }
}

export function parameterOf(
  name: string,
  location: Parameter['in'],
  place: Place,
  schema: Place,
  given = place.string('style') as Style | undefined,
): Parameter {
  const style = given ?? (location === 'path' || location === 'header' ? 'simple' : 'form')
  const isRequired = location === 'path' || place.flag('required')
  return {
    ...readExpected(schema),
    ...defined({ description: place.string('description') }),
    in: location,
    name,
    required: isRequired,
    style,
    explode: place.child('explode')?.value === undefined ? style === 'form' : place.flag('explode'),
    form: formOf(schema),
    // Clients must send it, also without an example.
    ...defined({ example: exampleOf(place) ?? (isRequired ? textExample(schema) : undefined) }),
  }
}

/** A path segment cannot be empty. */
function textExample(schema: Place): unknown {
  const example = typeOf(schema) === 'array' ? fullExample(schema) : exampleValue(schema)
  return example === '' ? 'a' : isNode(example) ? undefined : example
}

export function parameterSchema(name: string, parameters: readonly ReadParameter[]): Schemas {
  if (parameters.length === 0) return {}
  return { [name]: () => toObjectSchema(parameters.map(({ parameter, schema }) => ({ ...parameter, schema }))) }
}

export function defined<Members extends object>(members: Members) {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
}
