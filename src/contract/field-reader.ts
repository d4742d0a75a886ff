import { isNode, type Place } from './document.js'

interface AnyField {
  readonly required: boolean
  readonly readOnly?: boolean
}

/**
 * Makes a reader of the properties of a schema, with those of the schemas that it is composed of. It reads each schema
 * once, and a schema composed of itself adds nothing.
 *
 * @param partsOf the schemas that a schema is composed of
 */
export function fieldReader<Field extends AnyField>(
  partsOf: (schema: Place) => readonly Place[],
  readOne: (property: Place, name: string, schema: Place) => Omit<Field, 'required'>,
): (schema: Place) => ReadonlyMap<string, Field> {
  const before = new WeakMap<object, ReadonlyMap<string, Field>>()
  return function readFields(schema) {
    if (!isNode(schema.value)) return new Map()
    const known = before.get(schema.value)
    if (known !== undefined) return known
    before.set(schema.value, new Map())
    const fields = new Map<string, Field>()
    const add = (name: string, field: Field) => fields.set(name, merged(fields.get(name), field))
    for (const part of partsOf(schema)) for (const [name, field] of readFields(part)) add(name, field)
    const required = new Set(schema.items('required').map(({ value }) => value))
    for (const [name, property] of schema.entries('properties'))
      add(name, { ...readOne(property, name, schema), required: required.has(name) } as Field)
    for (const [name, field] of fields) if (required.has(name)) fields.set(name, { ...field, required: true })
    before.set(schema.value, fields)
    return fields
  }
}

function merged<Field extends AnyField>(known: Field | undefined, field: Field): Field {
  if (known === undefined) return field
  const readOnly = known.readOnly === true ? { readOnly: true } : {}
  return { ...known, ...field, ...readOnly, required: known.required || field.required }
}
