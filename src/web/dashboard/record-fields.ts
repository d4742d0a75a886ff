import { asList, asMap, type JsonMap, resolve } from '../contract-parts.js'

export interface RecordField {
  readonly name: string
  readonly isRequired: boolean
  /** Values of an enum; an optional field also has none. */
  readonly choices: readonly (string | readonly [value: string, label: string])[] | undefined
}

/**
 * As the request that creates a record declares them; empty if the contract does not.
 *
 * @param path of the collection
 * @param envelope the property of the body that holds the record; empty for none
 */
export function recordFields(contract: JsonMap, path: string, envelope = ''): readonly RecordField[] {
  const { post } = asMap(asMap(contract.paths)[path])
  const content = Object.entries(asMap(resolve(contract, asMap(post).requestBody).content))
  const [, media] = content.find(([type]) => /[/+]json\b/.test(type)) ?? content[0] ?? []
  const { schema } = asMap(media)
  return fieldsIn(contract, asMap(resolve(contract, schema).properties)[envelope] ?? schema, [])
}

/** @param seen references on the way, because `allOf` may be recursive */
function fieldsIn(contract: JsonMap, given: unknown, seen: readonly unknown[]): readonly RecordField[] {
  const { $ref } = asMap(given)
  if ($ref !== undefined && seen.includes($ref)) return []
  const { properties, required, allOf } = resolve(contract, given)
  const own = Object.entries(asMap(properties)).map(([name, property]) => {
    const { enum: listed, type } = resolve(contract, property)
    const values = listed ?? ([type].flat().includes('boolean') ? [true, false] : undefined)
    const isRequired = asList(required).includes(name)
    const none = isRequired ? [] : [['', 'none'] as const]
    const choices = values === undefined ? undefined : [...asList(values).map(String), ...none]
    return { name, isRequired, choices }
  })
  return [...own, ...asList(allOf).flatMap((part) => fieldsIn(contract, part, [...seen, $ref]))]
}
