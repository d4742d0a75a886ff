import type { RecordRules } from './contract.js'
import type { ContractData } from './contract-data.js'
import { jsonContent, type Place, rootPlace } from './document.js'
import { stringifyJson } from './json.js'
import { type JsonSchema, toJsonSchema } from './json-schema.js'
import { readFields } from './read-contract.js'
import { fillValue, placeInState, type ResourceAction } from './resource-data.js'
import { compileValidators, findViolations } from './validators.js'

interface PetSchema {
  readonly id: string
  readonly pet: Place
  readonly schema: JsonSchema
}

/** The documented responses of a contract given with --spec. @param mocked operations of Prism, which do not count */
export async function readPetRules(
  document: unknown,
  { operations, resources }: ContractData,
  patterns: 'linear' | 'native',
  mocked: readonly string[] = [],
): Promise<RecordRules> {
  const resource = resources.find((one) => placeInState(one) === 'pets')
  const root = rootPlace(document)
  const pets = operations.flatMap(({ id, action, method, path }) => {
    if (action === undefined || action.resource !== resource?.name || mocked.includes(id)) return []
    const operation = root.child('paths')?.child(path)?.child(method.toLowerCase())
    return operation === undefined ? [] : recordSchema(id, operation, action)
  })
  const fields = pets.map(({ pet }) => new Set(readFields(pet).map(({ name }) => name))).filter(({ size }) => size > 0)
  const validators = await compileValidators(Object.fromEntries(pets.map(({ id, schema }) => [id, schema])), patterns)
  return {
    fields: fields.length === 0 ? undefined : intersection(fields),
    complete(pet, now) {
      const missing = Object.entries(resource?.properties ?? {}).flatMap(([name, { required, fill }]) =>
        required && fill !== undefined && !(name in pet) ? [[name, fillValue(fill, now)] as const] : [],
      )
      return missing.length === 0 ? pet : { ...pet, ...Object.fromEntries(missing) }
    },
    findViolations(pet) {
      const violations = new Set<string>()
      for (const validator of Object.values(validators))
        for (const { message } of findViolations(validator, pet, 'body', new Map())) violations.add(message)
      for (const names of fields) {
        for (const name of Object.keys(pet))
          if (!names.has(name)) violations.add(`${stringifyJson(name)} is not documented`)
      }
      return [...violations]
    },
  }
}

function intersection([first = new Set(), ...others]: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set([...first].filter((name) => others.every((other) => other.has(name))))
}

/** The schema of a record in an operation's success; none where no body is documented. */
export function recordSchema(
  id: string,
  operation: Place,
  { kind, status, envelope }: ResourceAction,
): readonly PetSchema[] {
  if (kind === 'remove') return []
  const responses = operation.children('responses')
  const named = (wanted: RegExp) => responses.find(([name]) => wanted.test(name))?.[1]
  const response = named(new RegExp(`^${status}$`)) ?? named(/^2XX$/i) ?? named(/^default$/)
  const content = jsonContent(response)
  const body = content?.child('schema')
  if (content === undefined || body === undefined) return []
  if (envelope === undefined && kind !== 'list')
    return [{ id, pet: body, schema: toJsonSchema(content.written('schema')) }]
  const wrapped = envelope === undefined ? body : propertyOf(body, envelope)
  const pet = kind === 'list' ? wrapped?.child('items') : wrapped
  return pet === undefined ? [] : [{ id, pet, schema: toJsonSchema(pet) }]
}

function propertyOf(schema: Place, name: string): Place | undefined {
  const own = schema.child('properties')?.child(name)
  return (
    own ??
    schema
      .items('allOf')
      .map((part) => propertyOf(part, name))
      .find((part) => part !== undefined)
  )
}
