import { isNode, type Node } from '../contract/json.js'

type Schemas = Readonly<Record<string, unknown>>

const REFERENCE = '#/components/schemas/'

/**
 * Gives a schema with a discriminator the properties of its subtypes, and their rules for the values that name them: its
 * values have them, but it does not say so itself.
 */
export function withSubtypes(schemas: Schemas): Schemas {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      isNode(schema) ? withOwnSubtypes(name, schema, schemas) : schema,
    ]),
  )
}

function withOwnSubtypes(base: string, schema: Node, schemas: Schemas): Node {
  const { discriminator, oneOf, anyOf, properties, allOf } = schema
  // Swagger 2.0 has the name only.
  const { propertyName, mapping }: Node = isNode(discriminator) ? discriminator : { propertyName: discriminator }
  if (typeof propertyName !== 'string' || oneOf !== undefined || anyOf !== undefined) return schema
  const named = isNode(mapping)
    ? Object.entries(mapping).map(([value, to]) => [value, nameOf(to) ?? value] as const)
    : []
  const others = Object.keys(schemas).filter((name) => name !== base && !named.some(([, known]) => known === name))
  const subtypes = [...named, ...others.map((name) => [name, name] as const)].flatMap(([value, name]) => {
    const parts = partsBeside(base, schemas[name], schemas)
    return parts === undefined ? [] : [{ value, parts }]
  })
  if (subtypes.length === 0) return schema
  const own = Object.assign({}, ...subtypes.flatMap(({ parts }) => parts.map((part) => Object(part.properties))))
  const rules = subtypes.map(({ value, parts }) => ({
    if: { required: [propertyName], properties: { [propertyName]: { const: value } } },
    // Without those of the base, in case a subtype restricts the discriminator.
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { allOf: parts },
  }))
  // Subtypes may have a property of the same name and another type, so that the rules decide.
  const any = Object.fromEntries(Object.entries(own).map(([name, one]) => [name, isShared(name, subtypes) ? {} : one]))
  return {
    ...schema,
    properties: { ...any, ...Object(properties) },
    allOf: [...(Array.isArray(allOf) ? allOf : []), ...rules],
  }
}

function isShared(name: string, subtypes: readonly { readonly parts: readonly Node[] }[]): boolean {
  const declared = subtypes.flatMap(({ parts }) => parts.flatMap(({ properties }) => Object(properties)[name] ?? []))
  return new Set(declared.map((value) => JSON.stringify(value))).size > 1
}

/** What a schema consists of beside a base; undefined if it is not composed of it. */
function partsBeside(
  base: string,
  schema: unknown,
  schemas: Schemas,
  known = new Map<unknown, readonly Node[] | undefined>(),
): readonly Node[] | undefined {
  if (!isNode(schema) || !Array.isArray(schema.allOf)) return undefined
  // Also those whose parts are being read: they consist of themselves.
  if (known.has(schema)) return known.get(schema)
  known.set(schema, undefined)
  const all: readonly unknown[] = schema.allOf
  const parts = new Set<Node>()
  let isComposed = false
  for (const part of all) {
    const name = isNode(part) ? nameOf(part.$ref) : undefined
    const inner = name === undefined ? undefined : partsBeside(base, schemas[name], schemas, known)
    if (name === base) isComposed = true
    else if (inner !== undefined) {
      isComposed = true
      for (const one of inner) parts.add(one)
    } else if (isNode(part)) parts.add(part)
  }
  const { allOf: _, discriminator: __, ...own } = schema
  const found = isComposed ? [...parts, own] : undefined
  known.set(schema, found)
  return found
}

function nameOf(reference: unknown): string | undefined {
  if (typeof reference !== 'string') return undefined
  return reference.startsWith(REFERENCE) ? reference.slice(REFERENCE.length) : reference
}
