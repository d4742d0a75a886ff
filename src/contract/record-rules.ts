import type { RecordRules } from './contract.js'
import type { ContractData } from './contract-data.js'
import { jsonContent, operationPlace, type Place, rootPlace } from './document.js'
import { stringifyJson } from './json.js'
import { toJsonSchema } from './json-schema.js'
import { fillValue, placeInState, type ResourceAction, type ResourceData } from './resource-data.js'
import { readAllFields } from './schema-fields.js'
import { findViolations, type Validator, validatorCompiler } from './validators.js'

interface RecordSchema {
  readonly id: string
  readonly record: Place
  readonly written: Place
}

/**
 * What the documented responses of a contract given with --spec allow records to be, by resource.
 *
 * @param mocked operations of Prism, which do not count
 */
export async function readRecordRules(
  document: unknown,
  { operations, resources }: ContractData,
  mocked: readonly string[] = [],
): Promise<ReadonlyMap<string, RecordRules>> {
  const root = rootPlace(document)
  const compile = await validatorCompiler('linear or none')
  const byResource = new Map<string, RecordSchema[]>()
  for (const operation of operations) {
    const { id, action } = operation
    const place = action === undefined || mocked.includes(id) ? undefined : operationPlace(root, operation)
    if (action === undefined || place === undefined) continue
    const known = byResource.get(action.resource) ?? []
    byResource.set(action.resource, [...known, ...recordSchema(id, place, action)])
  }
  const rulesOf = (name: string, resource?: ResourceData) => {
    const schemas = byResource.get(name) ?? []
    const validators = [...new Map(schemas.map((one) => [one.record.value, one])).values()].map(({ id, written }) =>
      compile(id, () => toJsonSchema(written)),
    )
    return [name, recordRules(schemas, validators, resource)] as const
  }
  // Packaged pets are adapted to every contract.
  const others = resources.filter((one) => placeInState(one) !== 'pets')
  const pets = resources.find((one) => placeInState(one) === 'pets')
  return new Map([rulesOf('pets', pets), ...others.map((one) => rulesOf(one.name, one))])
}

function recordRules(
  schemas: readonly RecordSchema[],
  validators: readonly Validator[],
  resource: ResourceData | undefined,
): RecordRules {
  const isPets = resource !== undefined && placeInState(resource) === 'pets'
  const fields = schemas
    .filter(() => isPets)
    .map(({ record }) => new Set(readAllFields(record).keys()))
    .filter(({ size }) => size > 0)
  return {
    fields: fields.length === 0 ? undefined : intersection(fields),
    complete(record, now) {
      const missing = Object.entries(resource?.properties ?? {}).flatMap(([name, { required, fill }]) =>
        required && fill !== undefined && !(name in record) ? [[name, fillValue(fill, now)] as const] : [],
      )
      return missing.length === 0 ? record : { ...record, ...Object.fromEntries(missing) }
    },
    findViolations(record) {
      const violations = new Set<string>()
      for (const validator of validators)
        for (const { message } of findViolations(validator, record, 'body', new Map())) violations.add(message)
      for (const names of fields) {
        for (const name of Object.keys(record))
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
): readonly RecordSchema[] {
  if (kind === 'remove') return []
  const responses = operation.children('responses')
  const named = (wanted: RegExp) => responses.find(([name]) => wanted.test(name))?.[1]
  const response = named(new RegExp(`^${status}$`)) ?? named(/^2XX$/i) ?? named(/^default$/)
  const content = jsonContent(response)
  const body = content?.child('schema')
  if (content === undefined || body === undefined) return []
  if (envelope === undefined && kind !== 'list') return [{ id, record: body, written: content.written('schema') }]
  const wrapped = envelope === undefined ? body : propertyOf(body, envelope)
  const record = kind === 'list' ? wrapped?.child('items') : wrapped
  return record === undefined ? [] : [{ id, record, written: record }]
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
