import type { RecordRules, Values } from '../contract/contract.js'
import type { ContractData } from '../contract/contract-data.js'
import { type Node, operationPlace, type Place, rootPlace } from '../contract/document.js'
import { stringifyJson } from '../contract/json.js'
import { toJsonSchema } from '../contract/json-schema.js'
import {
  type Fill,
  fillValue,
  placeInState,
  type ResourceAction,
  type ResourceData,
  type View,
  viewed,
} from '../contract/resource-data.js'
import { readRecordFields } from '../contract/schema-fields.js'
import type { Validator } from '../contract/validator.js'
import { validatorMaker } from '../contract/validator-maker.js'
import { findViolations } from '../contract/validators.js'
import { success } from './operations.js'

/**
 * What the documented responses of a contract given with --spec allow records to be, by resource.
 *
 * @param mocked operations of Prism, which do not count
 */
export async function readRecordRules(
  document: Node,
  { operations, resources }: ContractData,
  hasWide: boolean,
  mocked: readonly string[] = [],
): Promise<ReadonlyMap<string, RecordRules>> {
  const root = rootPlace(document)
  const compile = await validatorMaker('linear', { hasWide })
  const records = new Map<string, Map<Place['value'], ResponseRecord>>()
  for (const operation of operations) {
    const { id, action } = operation
    const place = action === undefined || mocked.includes(id) ? undefined : operationPlace(root, operation)
    const record = action && place && recordPlace(place, action)
    if (record === undefined) continue
    const known = records.get(action?.resource ?? '') ?? new Map()
    const { view } = action ?? {}
    const validator = compile(() => toJsonSchema(record, { of: 'response' }))
    if (view?.isId === undefined)
      records.set(action?.resource ?? '', known.set(record.value, { place: record, validator, view }))
  }
  const rulesOf = (name: string, resource?: ResourceData) => {
    const own = [...(records.get(name)?.values() ?? [])]
    const { place: record } = own.find(({ view }) => view === undefined) ?? own[0] ?? {}
    return [name, { record, ...recordRules(own, resource) }] as const
  }
  // Packaged pets are adapted to every contract.
  const pets = resources.find((one) => placeInState(one) === 'pets')
  return new Map([rulesOf('pets', pets), ...resources.flatMap((one) => (one === pets ? [] : [rulesOf(one.name, one)]))])
}

interface ResponseRecord {
  readonly place: Place
  readonly validator: Validator
  readonly view: View | undefined
}

function recordRules(
  validators: readonly ResponseRecord[],
  resource: ResourceData | undefined,
): Omit<RecordRules, 'record'> {
  const properties = Object.entries(resource?.properties ?? {})
  const isPets = resource !== undefined && placeInState(resource) === 'pets'
  const fields =
    isPets && validators.length > 0 && properties.length > 0
      ? new Set([resource.id.property, ...properties.map(([name]) => name)])
      : undefined
  // Of a record that no request has created.
  const ownId = (fill: Fill, record: object) => {
    const id = String((record as Values)[resource?.id.property ?? ''])
    return fill.kind === 'id' && fill.isCounted
      ? Number(id)
      : `00000000-0000-4000-8000-${id.slice(-12).padStart(12, '0')}`
  }
  return {
    fields,
    complete(record, now) {
      const missing = properties.flatMap(([name, { required, fill }]) =>
        required && fill !== undefined && !(name in record)
          ? [[name, fillValue(fill, now, ownId(fill, record))] as const]
          : [],
      )
      return missing.length === 0 ? record : { ...record, ...Object.fromEntries(missing) }
    },
    findViolations(record) {
      const violations = validators.flatMap(({ validator, view }) =>
        findViolations(validator, view === undefined ? record : viewed(record as Values, view), 'body', new Map()),
      )
      const others = Object.keys(record).filter((name) => fields?.has(name) === false)
      return [
        ...new Set(violations.map(({ message }) => message)),
        ...others.map((name) => `${stringifyJson(name)} is not documented`),
      ]
    },
  }
}

/** The schema of a record in an operation's success; undefined if no body is documented. */
export function recordPlace(operation: Place, action: ResourceAction): Place | undefined {
  const { kind, outer, envelope, isListed, isNotice } = action
  const body = kind === 'remove' || isNotice || 'literal' in action ? undefined : success(operation)?.schema
  const inside = (place: Place | undefined, name: string | undefined) =>
    place && name !== undefined ? readRecordFields(place).get(name)?.place : place
  const wrapped = inside(inside(body, outer), envelope)
  return kind === 'list' || isListed ? wrapped?.child('items') : wrapped
}
