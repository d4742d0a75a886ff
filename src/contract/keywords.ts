export const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** The keywords of JSON Schema that hold schemas. */
export const ONE_SCHEMA = words(
  'additionalProperties contains else if items not propertyNames then unevaluatedItems unevaluatedProperties',
)
export const LIST_OF_SCHEMAS = words('allOf anyOf oneOf prefixItems')
export const NAMED_SCHEMAS = words('$defs definitions dependentSchemas patternProperties properties')
