import ts from 'typescript'
import type { VerbTypes } from './verb-types.js'

export type Schema = Readonly<Record<string, unknown>>

export interface ResponseSchemas {
  /** By the verb's name. */
  readonly verbs: Readonly<Record<string, Schema>>
  /** Named types, for `components/schemas`. */
  readonly components: Readonly<Record<string, Schema>>
}

/** JSON schemas of what verbs return. */
export function responseSchemas({ checker, outputs }: VerbTypes): ResponseSchemas {
  const components: Record<string, Schema> = {}
  const types = new Map<string, ts.Type>()
  const verbs = Object.fromEntries([...outputs].map(([name, type]) => [name, schemaOf(type)]))
  return { verbs, components }

  function schemaOf(type: ts.Type): Schema {
    const name = nameOf(type)
    if (name === undefined) return inlineSchema(type)
    const known = types.get(name)
    if (known !== undefined && known !== type) throw new Error(`Two types of responses have the name ${name}.`)
    types.set(name, type)
    if (known === undefined) components[name] = { ...describe(type.aliasSymbol ?? type.symbol), ...inlineSchema(type) }
    return { $ref: `#/components/schemas/${name}` }
  }

  function nameOf(type: ts.Type): string | undefined {
    const symbol = type.aliasSymbol ?? (type.flags & ts.TypeFlags.Object ? type.symbol : undefined)
    const isGeneric =
      [...(type.aliasTypeArguments ?? []), ...checker.getTypeArguments(type as ts.TypeReference)].length > 0
    // Clients in other languages have their own int64.
    if (symbol?.name === 'Int64') return undefined
    const isOurs = symbol?.declarations?.some((node) => !node.getSourceFile().isDeclarationFile) === true
    return isOurs && !isGeneric && /^\w/.test(symbol.name) && !symbol.name.startsWith('__') ? symbol.name : undefined
  }

  function inlineSchema(type: ts.Type): Schema {
    if (type.isUnion()) return unionSchema(type.types)
    if (type.flags & ts.TypeFlags.BooleanLiteral) return { const: checker.typeToString(type) === 'true' }
    if (type.isLiteral()) return { const: type.value }
    // Only programs pass dates.
    if (type.symbol?.name === 'Date') return { type: 'string' }
    // Also template literals, and `string & {}`.
    if (checker.isTypeAssignableTo(type, checker.getStringType())) return { type: 'string' }
    if (type.flags & ts.TypeFlags.Number) return { type: 'number' }
    if (type.flags & ts.TypeFlags.BigInt) return { type: 'integer', format: 'int64' }
    if (type.flags & ts.TypeFlags.Null) return { type: 'null' }
    if (type.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) return {}
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as ts.TypeReference)
      return item?.flags === ts.TypeFlags.Never
        ? { type: 'array', items: {}, maxItems: 0 }
        : { type: 'array', items: schemaOf(item as ts.Type) }
    }
    if (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.NonPrimitive | ts.TypeFlags.Intersection))
      return objectSchema(type)
    throw new Error(`A verb returns ${checker.typeToString(type)}, which has no JSON schema.`)
  }

  function unionSchema(all: readonly ts.Type[]): Schema {
    const present = all.filter(({ flags }) => !(flags & ts.TypeFlags.Undefined))
    const isExact = present.some(({ flags }) => flags & ts.TypeFlags.BigInt)
    const booleans = present.filter(({ flags }) => flags & ts.TypeFlags.BooleanLiteral)
    const rest = present.filter((type) => !(isExact && type.flags & ts.TypeFlags.Number) && !booleans.includes(type))
    const schemas = unique(rest.map(schemaOf))
    const isAnyText = schemas.some((schema) => schema.type === 'string')
    const values = schemas
      .flatMap((schema) => ('const' in schema ? [schema.const] : []))
      .filter((value) => !(isAnyText && typeof value === 'string'))
    const others = [
      ...schemas.filter((schema) => !('const' in schema)),
      ...(booleans.length === 2 ? [{ type: 'boolean' }] : booleans.map(inlineSchema)),
    ]
    const listed = values.length === 0 ? [] : [values.length === 1 ? { const: values[0] } : { enum: values }]
    // Null last, as people write it.
    const options = [...listed, ...others.filter(isNotNull), ...others.filter((option) => !isNotNull(option))]
    const [only] = options
    if (options.length === 1) return only as Schema
    const names = options.map(({ type, ...more }) => (Object.keys(more).length === 0 ? type : undefined))
    return names.includes(undefined) ? { anyOf: options } : { type: names }
  }

  function objectSchema(type: ts.Type): Schema {
    // A property that is never set has the type never or undefined.
    const isEmpty = ts.TypeFlags.Never | ts.TypeFlags.Undefined
    const properties = type.getProperties().filter((property) => !(checker.getTypeOfSymbol(property).flags & isEmpty))
    const index = type.getStringIndexType()
    const isRequired = ({ flags }: ts.Symbol) => !(flags & ts.SymbolFlags.Optional)
    const required = properties.filter(isRequired).map(({ name }) => name)
    return {
      type: 'object',
      ...(properties.length > 0 && {
        properties: Object.fromEntries(
          properties.map((property) => {
            const schema = schemaOf(checker.getTypeOfSymbol(property))
            return [property.name, schema.format === 'int64' ? schema : { ...describe(property), ...schema }]
          }),
        ),
      }),
      ...(required.length > 0 && { required }),
      ...(index && { additionalProperties: schemaOf(index) }),
    }
  }

  function describe(symbol: ts.Symbol): Schema {
    const description = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll('\n', ' ')
    return description === '' ? {} : { description }
  }
}

function unique(schemas: readonly Schema[]): readonly Schema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
}

const isNotNull = ({ type }: Schema) => type !== 'null'
