import { isNode, type Place } from './document.js'

interface AnyField {
  readonly required: boolean
  /** Its schemas: one for each part that declares it. */
  readonly places?: readonly Place[]
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
  interface Known {
    readonly fields: ReadonlyMap<string, Field>
    /** A part may require a property that another part declares. */
    readonly required: ReadonlySet<unknown>
  }
  const nothing: Known = { fields: new Map(), required: new Set() }
  const before = new WeakMap<object, Known>()
  return (schema) => read(schema).fields

  function read(schema: Place): Known {
    if (!isNode(schema.value)) return nothing
    const known = before.get(schema.value)
    if (known !== undefined) return known
    before.set(schema.value, nothing)
    const fields = new Map<string, Field>()
    const add = (name: string, field: Field) => fields.set(name, merged(fields.get(name), field))
    const parts = partsOf(schema).map(read)
    for (const part of parts) for (const [name, field] of part.fields) add(name, field)
    const own = schema.items('required').map(({ value }) => value)
    const required = new Set([...own, ...parts.flatMap((part) => [...part.required])])
    for (const [name, property] of schema.entries('properties'))
      add(name, { ...readOne(property, name, schema), required: required.has(name) } as Field)
    for (const [name, field] of fields) if (required.has(name)) fields.set(name, { ...field, required: true })
    before.set(schema.value, { fields, required })
    return { fields, required }
  }
}

function merged<Field extends AnyField>(known: Field | undefined, field: Field): Field {
  if (known === undefined) return field
  const readOnly = known.readOnly === true ? { readOnly: true } : {}
  const places = known.places && { places: [...new Set([...known.places, ...(field.places ?? [])])] }
  return { ...known, ...field, ...readOnly, ...places, required: known.required || field.required }
}
